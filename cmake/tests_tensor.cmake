# Tests of libquern_tensor against Python packages, each with a driver of its own. scripts/python runs them with the packages that
# `make test` has put into build/python.
add_executable(tensor_archive ${PROJECT_SOURCE_DIR}/tests/tensor/archive.c)
target_link_libraries(tensor_archive PRIVATE quern_flags quern_tensor_static m)
quern_script_test(tensor.archive scripts/python -B tests/tensor/check_archive.py $<TARGET_FILE:tensor_archive>)

# Tensors beside NumPy: tests/tensor/test_*.py write programs of ops, tensor_run computes them.
add_executable(tensor_run ${PROJECT_SOURCE_DIR}/tests/tensor/run.c)
target_link_libraries(tensor_run PRIVATE quern_flags quern_tensor_static)
set(count_cuda 40)
set(count_vulkan 20)
set(count_opencl 10)
set(numpy_opencl --only random --count 3)
set(gradients_opencl --count 5)
set(fused_vulkan --count 6) # each op is a kernel there
file(GLOB tensor_tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/tensor/test_*.py)
foreach(source ${tensor_tests})
    get_filename_component(name ${source} NAME_WE)
    string(REPLACE "test_" "" name ${name})
    quern_script_test(tensor.${name} scripts/python -B ${source} $<TARGET_FILE:tensor_run>)
    # A driver compiles for each new kernel: fewer random programs there, and none of what is made of kernels that have tests of
    # their own on devices.
    set(devices cuda vulkan opencl)
    if(name MATCHES "^(linear|torch)$")
        set(devices cuda)
    elseif(name STREQUAL "fused")
        set(devices cuda vulkan)
    endif()
    foreach(device ${devices})
        quern_script_test(tensor.${device}.${name} scripts/python -B ${source} $<TARGET_FILE:tensor_run> --count ${count_${device}} ${${name}_${device}})
        set_tests_properties(tensor.${device}.${name} PROPERTIES LABELS "device;${device}" ENVIRONMENT
                                                                 "QUERN_DEVICE=${device}")
    endforeach()
endforeach()
# Each sentence of a failing call is named by a test.
quern_script_test(tensor.sentences scripts/python -B tests/tensor/check_sentences.py)
quern_script_test(tensor.dlpack scripts/python -B tests/tensor/check_dlpack.py $<TARGET_FILE:quern_shared>
                  $<TARGET_FILE:quern_kernels_shared> $<TARGET_FILE:quern_tensor_shared>)
# Modules and losses beside PyTorch, with parameters of another seed than the file that unit.nn_modules reads.
quern_script_test(tensor.modules scripts/python -B tests/tensor/modules.py $<TARGET_FILE:unit_nn_modules>)
