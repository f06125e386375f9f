# The same tests on the GPU kinds of device: on a machine without a GPU, Mesa's lavapipe and PoCL stand in for Vulkan and
# OpenCL. A kind that is missing is skipped (status 77) with its reason, which scripts/test repeats at the end.
# Drivers do not run under the sanitizers.
if(NOT TARGET quern OR CMAKE_C_FLAGS MATCHES "-fsanitize")
    return()
endif()

# What is about the processor's compiler, the interpreter or the null device stays away.
set(device_unit_tests api_buffer api_sides api_cache api_context api_external api_graph api_history api_launch api_lifetime api_maths api_memory api_native api_notify api_persistent api_pool api_random api_reopen api_required api_resources api_rounds api_safe api_small_floats api_state api_stream
                      api_threads api_trace)

function(quern_device_test device name)
    add_test(NAME ${name} COMMAND ${ARGN} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 900 LABELS "device;${device}" ENVIRONMENT
                                            "QUERN_DEVICE=${device}")
endfunction()

list(APPEND device_unit_tests api_pack kernels_copy kernels_ladder kernels_matmul)
# Kernels that ship, checked; all of them: scripts/test-long.
# kernels_recorded has each call of kernels.h.
foreach(name kernels_recorded kernels_reduce kernels_gather kernels_spmv kernels_histogram ring_basic ring_batch ring_queues ring_net ring_service)
    if(TARGET unit_${name})
        add_test(NAME check.${name} COMMAND tests/checked $<TARGET_FILE:unit_${name}> WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
        set_tests_properties(check.${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 600)
    endif()
endforeach()
if(TARGET random_kernels)
    add_test(NAME check.random COMMAND tests/checked $<TARGET_FILE:random_kernels> --device check --count 24
             WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(check.random PROPERTIES TIMEOUT 600)
endif()
list(APPEND device_unit_tests kernels_sort kernels_choose kernels_gather kernels_histogram kernels_spmv kernels_linear kernels_convolve kernels_pool)
list(APPEND device_unit_tests kernels_tuning kernels_map kernels_random kernels_reduce kernels_rows kernels_scan)
list(APPEND device_unit_tests kernels_attention kernels_recorded tensor_basic tensor_gradient tensor_random tensor_images nn_basic nn_training tensor_together)
list(APPEND device_unit_tests tensor_blocks tensor_dlpack tensor_maths tensor_state tensor_step tensor_traffic tensor_turn)
list(APPEND device_unit_tests ring_basic ring_queues ring_failure)

# PoCL takes half a second for the shortest kernel: on OpenCL devices a part of the files is run, others optimised than not, and not each
# unit program; `make test-all` has all.
set(opencl_long tensor_gradient)
set(shards 3)
math(EXPR last_shard "${shards} - 1")
set(cuda_full 0/3 1/3 2/3)
set(cuda_plain ${cuda_full})
set(vulkan_full ${cuda_full})
set(vulkan_plain ${cuda_full})
set(opencl_full 0/4 2/4)
set(opencl_plain 1/6)
function(quern_device_cl_tests device what configurations)
    set(number 0)
    foreach(shard ${ARGN})
        quern_device_test(${device} cl.${device}.${what}${number} cl_runner --device ${device} --only ${configurations} --shard ${shard}
                          -j 1 --cache ${PROJECT_BINARY_DIR}/cl-cache tests/cl)
        math(EXPR number "${number} + 1")
    endforeach()
endfunction()
foreach(device cuda vulkan opencl)
    quern_device_cl_tests(${device} "" full ${${device}_full})
    quern_device_cl_tests(${device} "plain." "not optimised" ${${device}_plain})
    # By way of programs to ship, a part of them; by hand all: cl_runner --device NAME --packed tests/cl.
    quern_device_test(${device} cl.${device}.packed cl_runner --device ${device} --packed --only full --shard 0/16 -j 1
                      tests/cl)
    foreach(name ${device_unit_tests})
        if(NOT name IN_LIST ${device}_long)
            quern_device_test(${device} unit.${device}.${name} unit_${name})
        endif()
    endforeach()
    quern_device_test(${device} random.${device} random_kernels --device ${device} --count 24)
    quern_device_test(${device} random.${device}.safe random_kernels --safe --device ${device} --count 8)
    quern_device_test(${device} cl.${device}.safe cl_runner --device ${device} --safe --loop-budget 1000000000 --only full --shard 3/24 -j 1 --cache
                      ${PROJECT_BINARY_DIR}/cl-cache tests/cl)
    quern_device_test(${device} cl.${device}.safe.corpus cl_runner --device ${device} --safe --loop-budget 1000000 --only full -j 1
                      tests/check/bounds_global.cl tests/check/bounds_local.cl tests/check/bounds_private.cl tests/check/runaway.cl)
    quern_device_test(${device} operations.${device} op_kernels --device ${device} --every 59)
    if(TARGET quern_saxpy)
        set(on_device ${PROJECT_SOURCE_DIR}/tests/on_device ${device} $<TARGET_FILE:quern>)
        quern_device_test(${device} example.${device}.saxpy ${on_device} $<TARGET_FILE:quern_saxpy>)
        set_tests_properties(example.${device}.saxpy PROPERTIES PASS_REGULAR_EXPRESSION "12 24 36 48 60 72 84 96")
        quern_device_test(${device} example.${device}.shared_header ${on_device} $<TARGET_FILE:quern_shared_header>)
        set_tests_properties(example.${device}.shared_header PROPERTIES PASS_REGULAR_EXPRESSION
                                                                        "particle +0: .* [1-9] bounces")
        quern_device_test(${device} example.${device}.tour ${on_device} $<TARGET_FILE:quern_tour> --quick --out
                          ${PROJECT_BINARY_DIR}/tour-${device})
        set_tests_properties(example.${device}.tour PROPERTIES FIXTURES_SETUP tour_pictures_${device})
        quern_device_test(${device} example.${device}.filters ${on_device} $<TARGET_FILE:quern_filters>
                          ${PROJECT_BINARY_DIR}/tour-${device}/mandelbrot.png 4)
        set_tests_properties(example.${device}.filters PROPERTIES FIXTURES_REQUIRED tour_pictures_${device}
                                                                  WORKING_DIRECTORY ${PROJECT_BINARY_DIR})
    endif()
endforeach()

# PoCL takes long for a kernel of several rings, or with blocks: scripts/test-long.
foreach(device cuda vulkan)
    quern_device_test(${device} unit.${device}.ring_net unit_ring_net)
    quern_device_test(${device} unit.${device}.ring_service unit_ring_service)
endforeach()
quern_device_test(cuda unit.cuda.ring_aside unit_ring_aside)
quern_device_test(cuda unit.cuda.ring_batch unit_ring_batch)

# WebGPU on lavapipe, by each implementation all files and a part of the API's tests; `make test-all` has all of these, too.
set(wgpu_native_shard 0/24)
set(webgpu_dawn_shard 12/24)
foreach(library wgpu_native webgpu_dawn)
    set(on_webgpu ${PROJECT_SOURCE_DIR}/tests/on_webgpu ${library} $<TARGET_FILE:quern>)
    foreach(shard 0 1 2)
        quern_device_test(webgpu cl.${library}.${shard} ${on_webgpu} $<TARGET_FILE:cl_runner> --device webgpu --only full --shard ${shard}/3
                          -j 1 tests/cl)
    endforeach()
    quern_device_test(webgpu cl.${library}.packed ${on_webgpu} $<TARGET_FILE:cl_runner> --device webgpu --packed --only full
                      --shard 0/24 -j 1 tests/cl)
    # Doubles made of integers: a few files, and a part of the operations; `make test-all` has all files.
    quern_device_test(webgpu cl.${library}.soft_f64 ${on_webgpu} $<TARGET_FILE:cl_runner> --device webgpu --soft-f64 --only full -j 1
                      tests/cl/type_double.cl tests/cl/convert_double_float.cl tests/cl/convert_long_float.cl tests/cl/struct_layout.cl
                      tests/cl/builtin_relational_order.cl tests/cl/builtin_math_floor.cl tests/cl/builtin_printf_floats.cl)
    quern_device_test(webgpu operations.${library}.soft_f64 ${on_webgpu} $<TARGET_FILE:op_kernels> --device webgpu --options -qn-soft-f64
                      --family arithmetic --every 59)
    # WGSL in and out again; and that of tests/wgsl is right, or wrong, by naga and Tint too, and gives what it is expected to.
    quern_device_test(webgpu wgsl.${library}.again ${on_webgpu} $<TARGET_FILE:cl_runner> --device webgpu --only full --shard ${${library}_shard}
                      -j 1 tests/wgsl)
    quern_device_test(webgpu wgsl.${library} ${on_webgpu} $<TARGET_FILE:wgsl_oracle> --run tests/wgsl)
    # The other api_* as well: scripts/test-long.
    foreach(name api_buffer api_graph api_history api_memory api_required api_rounds api_sides api_state api_threads backend_webgpu)
        quern_device_test(webgpu unit.${library}.${name} ${on_webgpu} $<TARGET_FILE:unit_${name}>)
    endforeach()
endforeach()

# Rings by launches with copies. Those with mail take lavapipe minutes to compile.
foreach(name ring_basic ring_queues ring_failure ring_load ring_service ring_stopping)
    foreach(library wgpu_native webgpu_dawn)
        quern_device_test(webgpu unit.${library}.${name} ${PROJECT_SOURCE_DIR}/tests/on_webgpu ${library} $<TARGET_FILE:quern>
                          $<TARGET_FILE:unit_${name}>)
    endforeach()
endforeach()
quern_device_test(opencl unit.opencl.mirrored_ring_basic unit_mirrored_ring_basic)
quern_device_test(vulkan unit.vulkan.mirrored_ring_queues unit_mirrored_ring_queues)

# WGSL in on other devices, a part of it.
quern_device_test(vulkan wgsl.vulkan cl_runner --device vulkan --only full --shard 1/4 -j 1 --cache ${PROJECT_BINARY_DIR}/cl-cache tests/wgsl)
quern_device_test(opencl wgsl.opencl cl_runner --device opencl --only full --shard 3/12 -j 1 --cache ${PROJECT_BINARY_DIR}/cl-cache tests/wgsl)
quern_device_test(cuda wgsl.cuda cl_runner --device cuda --only full -j 1 tests/wgsl)

# All devices that are there in one context: the processor, lavapipe, PoCL, GPUs.
set(all_devices cpu vulkan:0 opencl:0 cuda:0 cuda:1 null)
add_test(NAME unit.devices.api_across COMMAND unit_api_across ${all_devices} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
set_tests_properties(unit.devices.api_across PROPERTIES TIMEOUT 300 LABELS device)
add_test(NAME unit.devices.api_unified COMMAND unit_api_unified ${all_devices} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
set_tests_properties(unit.devices.api_unified PROPERTIES TIMEOUT 300 LABELS device)
add_test(NAME unit.peers.api_across COMMAND unit_api_across cuda:0 cuda:1 WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
set_tests_properties(unit.peers.api_across PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 300 LABELS "device;cuda")

# The validation layer has nothing to say to what the Vulkan device does.
function(quern_layers_test name program)
    add_test(NAME layers.${name} COMMAND ${PROJECT_SOURCE_DIR}/tests/vulkan_layers $<TARGET_FILE:quern>
                                         $<TARGET_FILE:${program}> ${ARGN}
             WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(layers.${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 1800 LABELS "device;vulkan;layers")
endfunction()
quern_layers_test(backend unit_backend_vulkan)
quern_layers_test(backend_faults unit_backend_vulkan_faults)
quern_layers_test(backend_reopen unit_backend_vulkan_reopen)
foreach(name api_stream api_threads api_launch api_native api_external api_graph)
    quern_layers_test(${name} unit_${name})
endforeach()
quern_layers_test(api_across unit_api_across cpu vulkan:0)
foreach(shard RANGE ${last_shard})
    quern_layers_test(cl.${shard} cl_runner --device vulkan --only full --shard ${shard}/${shards} -j 1 --cache
                      ${PROJECT_BINARY_DIR}/cl-cache-layers tests/cl)
endforeach()

# Devices that lack things, or tell things, played by a layer over the one that is there.
function(quern_masked_test name mask)
    add_test(NAME masked.${name} COMMAND ${PROJECT_SOURCE_DIR}/tests/vulkan_masked $<TARGET_FILE:quern>
                                         ${PROJECT_BINARY_DIR}/fake_vulkan ${mask} ${ARGN}
             WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(masked.${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 900 LABELS "device;vulkan")
endfunction()
quern_masked_test(cl "i64,i64_atomics,i8,i16,f16,sub_group_sizes,float_controls" $<TARGET_FILE:cl_runner> --device vulkan --only full -j 1
                  --cache ${PROJECT_BINARY_DIR}/cl-cache tests/cl)
quern_masked_test(soft_f64 "f64" $<TARGET_FILE:cl_runner> --device vulkan --soft-f64 --only full -j 1 tests/cl/convert_int_double.cl
                  tests/cl/type_double.cl tests/cl/convert_double_float.cl tests/cl/convert_long_float.cl tests/cl/builtin_math_floor.cl)
quern_masked_test(cl_words "i64,i64_atomics,i8,i16,f16,storage_8,storage_16" $<TARGET_FILE:cl_runner> --device vulkan
                  --only full --shard 0/2 -j 1 --cache ${PROJECT_BINARY_DIR}/cl-cache tests/cl)
quern_masked_test(cl_packed "i64,i64_atomics,i8,i16,f16,storage_8,storage_16" $<TARGET_FILE:cl_runner> --device vulkan
                  --packed --only full --shard 1/16 -j 1 tests/cl)
quern_masked_test(random "i64,i64_atomics,i8,i16,f16,storage_8" $<TARGET_FILE:random_kernels> --device vulkan --count 8)
quern_masked_test(sub_groups "sub_groups" $<TARGET_FILE:random_kernels> --device vulkan --count 16)
# Each call, with the sub-groups of a device that has none.
quern_masked_test(kernels_recorded "sub_groups" env QUERN_DEVICE=vulkan $<TARGET_FILE:unit_kernels_recorded>)
quern_masked_test(kernels_rows "sub_groups" env QUERN_DEVICE=vulkan $<TARGET_FILE:unit_kernels_rows>)
quern_masked_test(devices "sm_count=132,f64" $<TARGET_FILE:quern> devices)
set_tests_properties(masked.devices PROPERTIES PASS_REGULAR_EXPRESSION "132 compute units[^\n]*\n *f16 ")

# A kernel with larger private arrays than NVIDIA's driver compiles is refused before the driver has it.
quern_masked_test(private "nvidia" $<TARGET_FILE:quern> run tests/cl/private_array_large.cl --device vulkan --kernel alone
                  --global 5 buf:int:5 int:4200)
set_tests_properties(masked.private PROPERTIES PASS_REGULAR_EXPRESSION
                                               "kernel 'alone' take 16800 bytes; a work-item on this device has 15360 ")

# What a device does not have is not used there: the layer above knows only what the one below leaves.
quern_layers_test(masked cl_runner --device vulkan --only full --shard 0/4 -j 1 tests/cl)
set_tests_properties(
    layers.masked
    PROPERTIES ENVIRONMENT
               "VK_LAYER_PATH=${PROJECT_BINARY_DIR}/fake_vulkan:/usr/share/vulkan/explicit_layer.d;\
VK_INSTANCE_LAYERS=VK_LAYER_QUERN_mask;QN_VULKAN_MASK=i64,i64_atomics,i8,i16,f16,float_controls")

# What the Vulkan backend declares is what Vulkan's header declares.
find_program(PYTHON3 python3)
if(PYTHON3)
    add_test(NAME vulkan.layout COMMAND ${PYTHON3} ${PROJECT_SOURCE_DIR}/tests/vulkan_layout.py ${CMAKE_C_COMPILER})
    set_tests_properties(vulkan.layout PROPERTIES SKIP_RETURN_CODE 77)
endif()
