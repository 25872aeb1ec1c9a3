# Headers, libraries, command, documents, and what pkg-config and find_package read. Everything is relative to the
# prefix, so an installed tree may be moved; but not under a system's prefix, where programs have no search path of
# their own.
include(CMakePackageConfigHelpers)

install(TARGETS armilla_shared EXPORT armilla
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS armilla_static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
set(commands ${programs})
list(REMOVE_ITEM commands armilla_converter) # convert/CMakeLists.txt installs it
install(TARGETS ${commands} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
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

install(FILES LICENSE README.md CHANGELOG.md CITATION.cff DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR})

# The loader finds libraries under /usr by itself. Under /usr/local it may: then ldconfig knows the library.
list(TRANSFORM programs REPLACE "(.+)" "$<TARGET_FILE_NAME:\\1>" OUTPUT_VARIABLE program_names)
install(CODE "
    set(remove OFF)
    if(CMAKE_INSTALL_PREFIX STREQUAL \"/usr\")
        set(remove ON)
    elseif(CMAKE_INSTALL_PREFIX STREQUAL \"/usr/local\" AND \"\$ENV{DESTDIR}\" STREQUAL \"\")
        execute_process(COMMAND /sbin/ldconfig OUTPUT_QUIET ERROR_QUIET)
        execute_process(COMMAND /sbin/ldconfig -p OUTPUT_VARIABLE known ERROR_QUIET)
        if(known MATCHES \"/usr/local/${CMAKE_INSTALL_LIBDIR}/libarmilla\\\\.so\\\\.1\")
            set(remove ON)
        endif()
    endif()
    if(remove)
        foreach(program ${program_names})
            file(RPATH_REMOVE FILE \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/\${program}\")
        endforeach()
    endif()")
