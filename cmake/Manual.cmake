# Manual pages and shell completion, printed by the command that was just built: they cannot differ from it. Left out
# where the command cannot run on this machine.
if(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
    return()
endif()
set(share ${PROJECT_BINARY_DIR}/share)
set(manual_files "")

function(print_by_command file)
    add_custom_command(OUTPUT ${file}
        COMMAND armilla_command help ${ARGN} > ${file}.part
        COMMAND ${CMAKE_COMMAND} -E rename ${file}.part ${file}
        DEPENDS armilla_command VERBATIM)
    set(manual_files ${manual_files} ${file} PARENT_SCOPE)
endfunction()

file(MAKE_DIRECTORY ${share}/man/man1 ${share}/bash-completion/completions ${share}/zsh/site-functions
    ${share}/fish/vendor_completions.d)
print_by_command(${share}/man/man1/armilla.1 --man)
file(GLOB pages CONFIGURE_DEPENDS cli/cmd_*.c)
foreach(page ${pages})
    string(REGEX REPLACE ".*/cmd_([a-z]+)\\.c$" "\\1" page ${page})
    print_by_command(${share}/man/man1/armilla-${page}.1 --man ${page})
endforeach()
# The program of that name has the page of the command `armilla convert` as its last section.
find_program(ARMILLA_AWK awk)
mark_as_advanced(ARMILLA_AWK)
if(ARMILLA_HAS_CONVERTER AND ARMILLA_AWK)
    configure_file(convert/armilla-convert.1.in ${PROJECT_BINARY_DIR}/armilla-convert.1 @ONLY)
    set(converter_page ${PROJECT_BINARY_DIR}/armilla-convert.1.stamp)
    add_custom_command(OUTPUT ${converter_page}
        COMMAND ${CMAKE_COMMAND} -E copy ${PROJECT_BINARY_DIR}/armilla-convert.1 ${share}/armilla-convert.1.part
        COMMAND ${CMAKE_COMMAND} -E echo ".SH THE COMMAND ARMILLA CONVERT" >> ${share}/armilla-convert.1.part
        COMMAND armilla_command help --man convert > ${share}/convert.part
        COMMAND ${ARMILLA_AWK} -f ${PROJECT_SOURCE_DIR}/cmake/subsections.awk ${share}/convert.part
            >> ${share}/armilla-convert.1.part
        COMMAND ${CMAKE_COMMAND} -E rename ${share}/armilla-convert.1.part ${share}/man/man1/armilla-convert.1
        COMMAND ${CMAKE_COMMAND} -E rm -f ${share}/convert.part
        COMMAND ${CMAKE_COMMAND} -E touch ${converter_page}
        DEPENDS armilla_command ${share}/man/man1/armilla-convert.1 ${PROJECT_BINARY_DIR}/armilla-convert.1
            cmake/subsections.awk VERBATIM)
    list(APPEND manual_files ${converter_page})
endif()
if(TARGET armilla_mpi_command)
    configure_file(mpi/armilla-mpi.1.in ${share}/man/man1/armilla-mpi.1 @ONLY)
endif()
print_by_command(${share}/bash-completion/completions/armilla --completion bash)
print_by_command(${share}/zsh/site-functions/_armilla --completion zsh)
print_by_command(${share}/fish/vendor_completions.d/armilla.fish --completion fish)

# Manual pages of section 3, from the comments of the public headers.
if(ARMILLA_AWK)
    file(GLOB public_headers CONFIGURE_DEPENDS include/armilla/*.h)
    set(pages3 ${share}/man/man3)
    add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/man3.stamp
        COMMAND ${CMAKE_COMMAND} -E rm -rf ${pages3}
        COMMAND ${CMAKE_COMMAND} -E make_directory ${pages3}
        COMMAND ${ARMILLA_AWK} -v version=${PROJECT_VERSION} -v folder=${pages3}
            -f ${PROJECT_SOURCE_DIR}/cmake/functions.awk ${public_headers}
        COMMAND ${CMAKE_COMMAND} -E touch ${PROJECT_BINARY_DIR}/man3.stamp
        DEPENDS ${public_headers} cmake/functions.awk VERBATIM)
    list(APPEND manual_files ${PROJECT_BINARY_DIR}/man3.stamp)
endif()
add_custom_target(armilla_manual ALL DEPENDS ${manual_files})

install(DIRECTORY ${share}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR} PATTERN "*.part" EXCLUDE)
install(DIRECTORY ${share}/bash-completion ${share}/zsh ${share}/fish DESTINATION ${CMAKE_INSTALL_DATADIR}
    PATTERN "*.part" EXCLUDE)
