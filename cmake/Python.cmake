# The Python package, importable from build/python: the target python, where Python and cffi are found. With the tests it
# is built with everything else.
find_program(ARMILLA_PYTHON python3 HINTS /usr/bin)
mark_as_advanced(ARMILLA_PYTHON)
set(have_cffi 1)
if(ARMILLA_PYTHON)
    execute_process(COMMAND ${ARMILLA_PYTHON} -c "import cffi, setuptools, sysconfig, os
os.stat(sysconfig.get_paths()['include'] + '/Python.h')" RESULT_VARIABLE have_cffi OUTPUT_QUIET ERROR_QUIET)
endif()
if(NOT have_cffi EQUAL 0)
    return()
endif()

set(python_dir ${PROJECT_BINARY_DIR}/python)
file(GLOB python_sources CONFIGURE_DEPENDS python/armilla/*.py python/armilla/*.pyi python/armilla/py.typed)
file(GLOB public_headers CONFIGURE_DEPENDS include/armilla/*.h)
add_custom_command(OUTPUT ${python_dir}/armilla/_native.abi3.so
    COMMAND ${CMAKE_COMMAND} -E env CC=${CMAKE_C_COMPILER}
        ${ARMILLA_PYTHON} ${PROJECT_SOURCE_DIR}/python/binding.py --include ${PROJECT_SOURCE_DIR}/include
        --library ${PROJECT_BINARY_DIR} --rpath "\$ORIGIN/../.." --out ${python_dir}
    DEPENDS armilla_shared python/binding.py python/declarations.py ${public_headers} VERBATIM)
add_custom_command(OUTPUT ${python_dir}/copied
    COMMAND ${CMAKE_COMMAND} -E make_directory ${python_dir}/armilla
    COMMAND ${CMAKE_COMMAND} -E copy ${python_sources} ${python_dir}/armilla
    COMMAND ${CMAKE_COMMAND} -E touch ${python_dir}/copied
    DEPENDS ${python_sources} VERBATIM)
set(with_all "")
if(ARMILLA_TESTS)
    set(with_all ALL)
endif()
add_custom_target(python ${with_all} DEPENDS ${python_dir}/armilla/_native.abi3.so ${python_dir}/copied)
