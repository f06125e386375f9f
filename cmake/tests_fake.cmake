# Drivers made for the tests: each stands in for a vendor's library in a folder of its own, which the test that needs
# it finds first.
function(quern_fake kind library)
    add_library(fake_${kind} SHARED ${PROJECT_SOURCE_DIR}/tests/fake/${library}.c)
    target_link_libraries(fake_${kind} PRIVATE quern_flags Threads::Threads)
    set_target_properties(
        fake_${kind} PROPERTIES OUTPUT_NAME ${library} SUFFIX .so.1 PREFIX ""
                                LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fake/${kind})
endfunction()

# The test finds the fake drivers of these kinds.
function(quern_on_fakes test)
    if(NOT TARGET unit_${test})
        return()
    endif()
    set(folders "")
    foreach(kind ${ARGN})
        list(APPEND folders ${PROJECT_BINARY_DIR}/fake/${kind})
        add_dependencies(unit_${test} fake_${kind})
    endforeach()
    list(JOIN folders ":" folders)
    target_include_directories(unit_${test} PRIVATE ${PROJECT_SOURCE_DIR}/tests/fake)
    set_tests_properties(unit.${test} PROPERTIES ENVIRONMENT "LD_LIBRARY_PATH=${folders}")
endfunction()

quern_fake(cuda libcuda)
quern_fake(opencl libOpenCL)
quern_fake(nvml libnvidia-ml)
foreach(test backend_cuda backend_cuda_api backend_cuda_endless backend_cuda_faults backend_cuda_graph kernels_choice)
    quern_on_fakes(${test} cuda)
endforeach()
quern_on_fakes(ring_cuda cuda nvml)
quern_on_fakes(backend_opencl_api opencl)

# Tests of the API that need no more kernels than the fake driver knows.
foreach(test api_native api_external)
    add_test(NAME unit.fake_cuda.${test} COMMAND unit_${test} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(unit.fake_cuda.${test} PROPERTIES SKIP_RETURN_CODE 77 ENVIRONMENT
                         "QUERN_DEVICE=cuda;LD_LIBRARY_PATH=${PROJECT_BINARY_DIR}/fake/cuda")
endforeach()
add_test(NAME unit.fake_cuda.api_unified COMMAND unit_api_unified cpu cuda:0 cuda:1 null WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
set_tests_properties(unit.fake_cuda.api_unified PROPERTIES ENVIRONMENT "LD_LIBRARY_PATH=${PROJECT_BINARY_DIR}/fake/cuda")
add_test(NAME unit.fake_cuda.api_across COMMAND unit_api_across cpu cuda:0 cuda:1 null WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
set_tests_properties(unit.fake_cuda.api_across PROPERTIES ENVIRONMENT
                     "QN_FAKE_DEVICES=2;LD_LIBRARY_PATH=${PROJECT_BINARY_DIR}/fake/cuda")

# Where a toolkit is installed, what we declare of the driver is compared with its header.
find_path(CUDA_HEADER cuda.h PATHS /usr/local/cuda/include)
if(CUDA_HEADER)
    add_executable(cuda_facts ${PROJECT_SOURCE_DIR}/tests/cuda_facts.c)
    target_link_libraries(cuda_facts PRIVATE quern_flags)
    target_include_directories(cuda_facts SYSTEM PRIVATE ${CUDA_HEADER})
    add_test(NAME cuda_facts COMMAND cuda_facts)
endif()

# A layer that makes Vulkan devices lack things.
add_library(vulkan_mask SHARED ${PROJECT_SOURCE_DIR}/tests/fake/vulkan_mask.c)
target_link_libraries(vulkan_mask PRIVATE quern_flags)
target_include_directories(vulkan_mask PRIVATE ${PROJECT_SOURCE_DIR}/src)
set_target_properties(vulkan_mask PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fake_vulkan
                                             C_VISIBILITY_PRESET default)
file(
    WRITE ${PROJECT_BINARY_DIR}/fake_vulkan/mask.json
    "{\"file_format_version\": \"1.1.2\",
 \"layer\": {\"name\": \"VK_LAYER_QUERN_mask\", \"type\": \"GLOBAL\", \"api_version\": \"1.3.239\",
           \"implementation_version\": \"1\", \"description\": \"takes features away, for tests\",
           \"library_path\": \"./libvulkan_mask.so\"}}
")
