# Headers, libraries, command, and what pkg-config and find_package read. Everything is relative to the prefix, so an
# installed tree may be moved.
include(CMakePackageConfigHelpers)

install(TARGETS armilla_shared EXPORT armilla
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS armilla_static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS ${programs} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY include/armilla DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/armilla)
install(EXPORT armilla NAMESPACE armilla:: FILE armillaTargets.cmake DESTINATION ${package_dir})
configure_package_config_file(cmake/armillaConfig.cmake.in armillaConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(armillaConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/armillaConfig.cmake ${PROJECT_BINARY_DIR}/armillaConfigVersion.cmake
    DESTINATION ${package_dir})

file(RELATIVE_PATH pc_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" pc_to_prefix "${pc_to_prefix}")
configure_file(cmake/armilla.pc.in armilla.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/armilla.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
