# Tests of libquern_tensor against Python packages: tests/tensor/check_*.py, each with a driver of its own. scripts/python runs them
# with the packages that `make test` has put into build/python.
add_executable(tensor_archive ${PROJECT_SOURCE_DIR}/tests/tensor/archive.c)
target_link_libraries(tensor_archive PRIVATE quern_flags quern_tensor_static m)
quern_script_test(tensor.archive scripts/python -B tests/tensor/check_archive.py $<TARGET_FILE:tensor_archive>)
