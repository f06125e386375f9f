/* What a device must have, and what it may have that kernels can use: the features and extensions that
   vkCreateDevice is asked for (Vulkan specification, "Features"), and what the compiler is told is missing. */
#include <stdio.h>
#include <string.h>

#include "backend/vulkan/vulkan.h"

/* ---- extensions ---- */

enum {
    ATOMIC_FLOAT = 1 << 0,
    WORKGROUP_LAYOUT = 1 << 1,
    MEMORY_BUDGET = 1 << 2,
    FEEDBACK = 1 << 3,
    SM_BUILTINS = 1 << 4,
    CORE_PROPERTIES = 1 << 5,
    CORE_PROPERTIES_2 = 1 << 6,
    CORE_BUILTINS = 1 << 7,
    HOST_MEMORY = 1 << 8,
    MEMORY_FD = 1 << 9,
    DMA_BUF = 1 << 10,
    EXECUTABLE_PROPERTIES = 1 << 11,
    MATRICES = 1 << 12,
    BF16 = 1 << 13,
    FLOAT8 = 1 << 14,
    /* properties; not enabled */
    TOLD_ONLY = SM_BUILTINS | CORE_PROPERTIES | CORE_PROPERTIES_2 | CORE_BUILTINS
};

static const struct {
    const char *name;
    uint32_t bit;
} wanted[] = {
    {"VK_EXT_shader_atomic_float", ATOMIC_FLOAT},
    {"VK_KHR_workgroup_memory_explicit_layout", WORKGROUP_LAYOUT},
    {"VK_EXT_memory_budget", MEMORY_BUDGET},
    {"VK_EXT_pipeline_creation_feedback", FEEDBACK},
    {"VK_NV_shader_sm_builtins", SM_BUILTINS},
    {"VK_AMD_shader_core_properties", CORE_PROPERTIES},
    {"VK_AMD_shader_core_properties2", CORE_PROPERTIES_2},
    {"VK_ARM_shader_core_builtins", CORE_BUILTINS},
    {"VK_EXT_external_memory_host", HOST_MEMORY},
    {"VK_KHR_external_memory_fd", MEMORY_FD},
    {"VK_EXT_external_memory_dma_buf", DMA_BUF},
    {"VK_KHR_pipeline_executable_properties", EXECUTABLE_PROPERTIES},
    {"VK_KHR_cooperative_matrix", MATRICES},
    {"VK_KHR_shader_bfloat16", BF16},
    {"VK_EXT_shader_float8", FLOAT8},
};

static qn_status find_extensions(const qn__driver *driver, const qn__vk_device *device,
                                 qn__vk_features *features, uint32_t *found) {
    const qn__allocator *allocator = driver->services->allocator;
    uint32_t count = 0;
    *found = 0;
    if (driver->vk.EnumerateDeviceExtensionProperties(device->handle, NULL, &count, NULL) < 0 || !count)
        return QN_OK;
    VkExtensionProperties *list = qn__allocate_zeroed(allocator, count * sizeof *list);
    if (!list) return QN_ERROR_OUT_OF_MEMORY;
    if (driver->vk.EnumerateDeviceExtensionProperties(device->handle, NULL, &count, list) < 0) count = 0;
    for (size_t w = 0; w < QN__COUNT(wanted); w++)
        for (uint32_t i = 0; i < count; i++)
            if (strcmp(list[i].extensionName, wanted[w].name) == 0 && !(*found & wanted[w].bit)) {
                *found |= wanted[w].bit;
                if (!(wanted[w].bit & TOLD_ONLY))
                    features->extensions[features->num_extensions++] = wanted[w].name;
            }
    qn__release(allocator, list);
    return QN_OK;
}

/* ---- features ---- */

static void chain(qn__vk_features *features, uint32_t api_version, uint32_t extensions) {
    features->base.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    features->v11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
    features->v12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
    features->v13.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES;
    features->atomic_float.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_FEATURES_EXT;
    features->workgroup_layout.sType =
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_WORKGROUP_MEMORY_EXPLICIT_LAYOUT_FEATURES_KHR;
    features->executables.sType =
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR;
    features->matrices.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR;
    features->bf16.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_BFLOAT16_FEATURES_KHR;
    features->f8.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT8_FEATURES_EXT;
    features->base.pNext = &features->v11;
    features->v11.pNext = &features->v12;
    void **tail = &features->v12.pNext;
    if (api_version >= VK_API_VERSION_1_3) {
        *tail = &features->v13;
        tail = &features->v13.pNext;
    }
    if (extensions & ATOMIC_FLOAT) {
        *tail = &features->atomic_float;
        tail = &features->atomic_float.pNext;
    }
    if (extensions & WORKGROUP_LAYOUT) {
        *tail = &features->workgroup_layout;
        tail = &features->workgroup_layout.pNext;
    }
    if (extensions & EXECUTABLE_PROPERTIES) {
        *tail = &features->executables;
        tail = &features->executables.pNext;
    }
    if (extensions & MATRICES) {
        *tail = &features->matrices;
        tail = &features->matrices.pNext;
    }
    if (extensions & BF16) {
        *tail = &features->bf16;
        tail = &features->bf16.pNext;
    }
    if (extensions & FLOAT8) *tail = &features->f8;
}

/* Leaves of `features` only what the backend or kernels use. */
static void keep_wanted(qn__vk_features *f) {
    const VkPhysicalDeviceFeatures base = f->base.features;
    const VkPhysicalDeviceVulkan11Features v11 = f->v11;
    const VkPhysicalDeviceVulkan12Features v12 = f->v12;
    const VkPhysicalDeviceVulkan13Features v13 = f->v13;
    const VkPhysicalDeviceShaderAtomicFloatFeaturesEXT atomic = f->atomic_float;
    f->base.features = (VkPhysicalDeviceFeatures){.shaderFloat64 = base.shaderFloat64,
                                                  .shaderInt64 = base.shaderInt64,
                                                  .shaderInt16 = base.shaderInt16};
    f->v11 =
        (VkPhysicalDeviceVulkan11Features){.sType = v11.sType,
                                           .pNext = v11.pNext,
                                           .storageBuffer16BitAccess = v11.storageBuffer16BitAccess,
                                           .storagePushConstant16 = v11.storagePushConstant16,
                                           .variablePointersStorageBuffer = v11.variablePointersStorageBuffer,
                                           .variablePointers = v11.variablePointers};
    f->v12 = (VkPhysicalDeviceVulkan12Features){
        .sType = v12.sType,
        .pNext = v12.pNext,
        .storageBuffer8BitAccess = v12.storageBuffer8BitAccess,
        .storagePushConstant8 = v12.storagePushConstant8,
        .shaderBufferInt64Atomics = v12.shaderBufferInt64Atomics,
        .shaderSharedInt64Atomics = v12.shaderSharedInt64Atomics,
        .shaderFloat16 = v12.shaderFloat16,
        .shaderInt8 = v12.shaderInt8,
        .scalarBlockLayout = v12.scalarBlockLayout,
        .shaderSubgroupExtendedTypes = v12.shaderSubgroupExtendedTypes,
        .timelineSemaphore = v12.timelineSemaphore,
        .bufferDeviceAddress = v12.bufferDeviceAddress,
        .vulkanMemoryModel = v12.vulkanMemoryModel,
        .vulkanMemoryModelDeviceScope = v12.vulkanMemoryModelDeviceScope,
        .subgroupBroadcastDynamicId = v12.subgroupBroadcastDynamicId,
    };
    f->v13 = (VkPhysicalDeviceVulkan13Features){.sType = v13.sType,
                                                .pNext = v13.pNext,
                                                .subgroupSizeControl = v13.subgroupSizeControl,
                                                .computeFullSubgroups = v13.computeFullSubgroups,
                                                .shaderIntegerDotProduct = v13.shaderIntegerDotProduct,
                                                .maintenance4 = v13.maintenance4};
    f->atomic_float = (VkPhysicalDeviceShaderAtomicFloatFeaturesEXT){
        .sType = atomic.sType,
        .pNext = atomic.pNext,
        .shaderBufferFloat32AtomicAdd = atomic.shaderBufferFloat32AtomicAdd,
        .shaderBufferFloat64AtomicAdd = atomic.shaderBufferFloat64AtomicAdd,
        .shaderSharedFloat32AtomicAdd = atomic.shaderSharedFloat32AtomicAdd,
        .shaderSharedFloat64AtomicAdd = atomic.shaderSharedFloat64AtomicAdd,
    };
    f->matrices.cooperativeMatrixRobustBufferAccess = 0;
    f->bf16.shaderBFloat16DotProduct = 0;
}

static uint32_t api_of(const qn__driver *driver, const VkPhysicalDeviceProperties *properties) {
    return properties->apiVersion < driver->api_version ? properties->apiVersion : driver->api_version;
}

/* What a driver tells of its floats, and what it is known for by its name. Promises are made for all widths alike, which
   every independence of modes allows. llvmpipe tells nowhere that its Fma is a product and a sum, nor that it keeps
   denormal numbers: it compiles to the processor's instructions and leaves their mode alone in compute shaders. */
static void find_driver_abilities(const qn__driver *driver, const qn__vk_device *device,
                                  qn__vk_abilities *can) {
    enum {
        LLVMPIPE_LOOPS =
            65535, /* Mesa's LP_MAX_TGSI_LOOP_ITERATIONS, counted over all loops of a work-item */
        /* 580.159.04 on an H200 compiles private arrays of 15,616 bytes, and fails (VK_ERROR_UNKNOWN) with 15,872: of one
           array or of several together. */
        NVIDIA_PRIVATE = 15 * 1024
    };
    VkPhysicalDeviceDriverProperties of = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
    VkPhysicalDeviceFloatControlsProperties floats = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FLOAT_CONTROLS_PROPERTIES, .pNext = &of};
    VkPhysicalDeviceProperties2 properties = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                              .pNext = &floats};
    driver->vk.GetPhysicalDeviceProperties2(device->handle, &properties);
    can->driver_id = of.driverID;
    can->fma = can->loop_results = can->zeros = can->long_signs = of.driverID != VK_DRIVER_ID_MESA_LLVMPIPE;
    can->byte_swaps = can->cut_signs = can->long_differences = of.driverID != VK_DRIVER_ID_NVIDIA_PROPRIETARY;
    can->loop_limit = of.driverID == VK_DRIVER_ID_MESA_LLVMPIPE ? LLVMPIPE_LOOPS : 0;
    can->private_bytes = of.driverID == VK_DRIVER_ID_NVIDIA_PROPRIETARY ? NVIDIA_PRIVATE : 0;
    can->flushes_compared =
        of.driverID == VK_DRIVER_ID_NVIDIA_PROPRIETARY && floats.shaderDenormPreserveFloat32;
    can->closes_failed = of.driverID == VK_DRIVER_ID_MESA_LLVMPIPE;
    can->coherent =
        of.driverID == VK_DRIVER_ID_MESA_LLVMPIPE || of.driverID == VK_DRIVER_ID_NVIDIA_PROPRIETARY;
    can->f32_denormals = floats.shaderDenormPreserveFloat32 || of.driverID == VK_DRIVER_ID_MESA_LLVMPIPE;
    can->denormals = floats.shaderDenormPreserveFloat32 &&
                     (!can->f16 || floats.shaderDenormPreserveFloat16) &&
                     (!can->f64 || floats.shaderDenormPreserveFloat64);
    can->nearest = floats.shaderRoundingModeRTEFloat32 &&
                   (!can->f16 || floats.shaderRoundingModeRTEFloat16) &&
                   (!can->f64 || floats.shaderRoundingModeRTEFloat64);
    can->float_controls = floats.shaderSignedZeroInfNanPreserveFloat32 &&
                          (!can->f16 || floats.shaderSignedZeroInfNanPreserveFloat16) &&
                          (!can->f64 || floats.shaderSignedZeroInfNanPreserveFloat64);
}

/* Vulkan itself does not tell how many multiprocessors there are: each vendor's own extension does. 0: none. */
static uint32_t find_compute_units(const qn__driver *driver, const qn__vk_device *device,
                                   uint32_t extensions) {
    VkPhysicalDeviceShaderSMBuiltinsPropertiesNV nv = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SM_BUILTINS_PROPERTIES_NV};
    VkPhysicalDeviceShaderCorePropertiesAMD amd = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_PROPERTIES_AMD};
    VkPhysicalDeviceShaderCoreProperties2AMD active = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_PROPERTIES_2_AMD};
    VkPhysicalDeviceShaderCoreBuiltinsPropertiesARM arm = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_BUILTINS_PROPERTIES_ARM};
    const struct {
        uint32_t bit;
        void *properties, **next;
    } rows[] = {{SM_BUILTINS, &nv, &nv.pNext},
                {CORE_PROPERTIES, &amd, &amd.pNext},
                {CORE_PROPERTIES_2, &active, &active.pNext},
                {CORE_BUILTINS, &arm, &arm.pNext}};
    VkPhysicalDeviceProperties2 properties = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
    for (size_t i = 0; i < QN__COUNT(rows); i++) {
        if (!(extensions & rows[i].bit)) continue;
        *rows[i].next = properties.pNext;
        properties.pNext = rows[i].properties;
    }
    if (!properties.pNext) return 0;
    driver->vk.GetPhysicalDeviceProperties2(device->handle, &properties);
    if (nv.shaderSMCount) return nv.shaderSMCount;
    if (active.activeComputeUnitCount) return active.activeComputeUnitCount;
    if (arm.shaderCoreCount) return arm.shaderCoreCount;
    return amd.shaderEngineCount * amd.shaderArraysPerEngineCount * amd.computeUnitsPerShaderArray;
}

/* VK_EXTERNAL_MEMORY_FEATURE_*: what can be done with buffers in such memory. */
static uint32_t ask_external(const qn__driver *driver, const qn__vk_device *device, uint32_t type) {
    const VkPhysicalDeviceExternalBufferInfo asked = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_BUFFER_INFO,
        .usage = qn__vk_buffer_info(0).usage,
        .handleType = type};
    VkExternalBufferProperties buffers = {.sType = VK_STRUCTURE_TYPE_EXTERNAL_BUFFER_PROPERTIES};
    driver->vk.GetPhysicalDeviceExternalBufferProperties(device->handle, &asked, &buffers);
    return buffers.externalMemoryProperties.externalMemoryFeatures;
}

/* Descriptors that memory is made of, and that are made of it. */
static void find_descriptors(const qn__driver *driver, const qn__vk_device *device, uint32_t extensions,
                             qn__vk_abilities *can) {
    static const struct {
        uint32_t extensions, type;
        qn_handle_kind kind;
    } rows[] = {
        {MEMORY_FD, VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT, QN_HANDLE_OPAQUE_FD},
        {MEMORY_FD | DMA_BUF, VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT, QN_HANDLE_DMA_BUF},
    };
    for (size_t i = 0; i < QN__COUNT(rows); i++) {
        if ((extensions & rows[i].extensions) != rows[i].extensions) continue;
        const uint32_t features = ask_external(driver, device, rows[i].type);
        if (features & VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT) can->import_handles |= rows[i].kind;
        if (features & VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT) can->export_handles |= rows[i].kind;
    }
}

/* Of host memory that buffers can be made of; 0: of none. */
static uint64_t find_import_alignment(const qn__driver *driver, const qn__vk_device *device,
                                      uint32_t extensions) {
    if (!(extensions & HOST_MEMORY)) return 0;
    if (!(ask_external(driver, device, VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT) &
          VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT))
        return 0;
    VkPhysicalDeviceExternalMemoryHostPropertiesEXT host = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT};
    VkPhysicalDeviceProperties2 properties = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                              .pNext = &host};
    driver->vk.GetPhysicalDeviceProperties2(device->handle, &properties);
    return host.minImportedHostPointerAlignment;
}

static void find_abilities(const qn__driver *driver, const qn__vk_device *device, const qn__vk_features *f,
                           uint32_t extensions, qn__vk_abilities *can) {
    enum {
        SHUFFLES = VK_SUBGROUP_FEATURE_SHUFFLE_BIT | VK_SUBGROUP_FEATURE_BALLOT_BIT,
        SUB_GROUPS = VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_VOTE_BIT |
                     VK_SUBGROUP_FEATURE_ARITHMETIC_BIT | VK_SUBGROUP_FEATURE_BALLOT_BIT
    };
    const VkPhysicalDeviceVulkan11Properties *limits = &device->properties_11;
    uint32_t operations = limits->subgroupSupportedStages & VK_SHADER_STAGE_COMPUTE_BIT
                              ? limits->subgroupSupportedOperations
                              : 0;
    uint32_t api = api_of(driver, &device->properties);
    *can = (qn__vk_abilities){
        .api_version = api,
        .f16 = f->v12.shaderFloat16,
        .f64 = f->base.features.shaderFloat64,
        .i8 = f->v12.shaderInt8,
        .i16 = f->base.features.shaderInt16,
        .i64 = f->base.features.shaderInt64,
        .storage_8 = f->v12.storageBuffer8BitAccess,
        .storage_16 = f->v11.storageBuffer16BitAccess,
        .i64_atomics = f->base.features.shaderInt64 && f->v12.shaderBufferInt64Atomics &&
                       f->v12.shaderSharedInt64Atomics,
        .float_atomic_add = (extensions & ATOMIC_FLOAT) && f->atomic_float.shaderBufferFloat32AtomicAdd &&
                            f->atomic_float.shaderSharedFloat32AtomicAdd,
        .sub_groups = (operations & SUB_GROUPS) == SUB_GROUPS,
        .shuffles = (operations & (SUB_GROUPS | SHUFFLES)) == (SUB_GROUPS | SHUFFLES),
        .dot4 = f->v13.shaderIntegerDotProduct,
        .feedback = api >= VK_API_VERSION_1_3 || (extensions & FEEDBACK),
        .budget = extensions & MEMORY_BUDGET,
        .statistics = (extensions & EXECUTABLE_PROPERTIES) && f->executables.pipelineExecutableInfo,
        .matrices = (extensions & MATRICES) && f->matrices.cooperativeMatrix,
        .bf16_matrices =
            (extensions & BF16) && f->bf16.shaderBFloat16Type && f->bf16.shaderBFloat16CooperativeMatrix,
        .f8_matrices = (extensions & FLOAT8) && f->f8.shaderFloat8 && f->f8.shaderFloat8CooperativeMatrix,
    };
    find_driver_abilities(driver, device, can);
    can->compute_units = find_compute_units(driver, device, extensions);
    can->import_alignment = find_import_alignment(driver, device, extensions);
    find_descriptors(driver, device, extensions, can);
    if (api < VK_API_VERSION_1_3 || !f->v13.subgroupSizeControl) return;
    VkPhysicalDeviceSubgroupSizeControlProperties sizes = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES};
    VkPhysicalDeviceProperties2 properties = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                              .pNext = &sizes};
    driver->vk.GetPhysicalDeviceProperties2(device->handle, &properties);
    can->sub_group_sizes = sizes.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT;
    can->min_sub_group = sizes.minSubgroupSize;
    can->max_sub_group = sizes.maxSubgroupSize;
}

qn_status qn__vk_features_choose(const qn__driver *driver, const qn__vk_device *device,
                                 qn__vk_features *features, qn__vk_abilities *can, char *why) {
    *features = (qn__vk_features){0};
    uint32_t extensions;
    qn_status status = find_extensions(driver, device, features, &extensions);
    if (status) {
        snprintf(why, QN__WHY, "no memory for the list of the driver's extensions");
        return status;
    }
    chain(features, api_of(driver, &device->properties), extensions);
    driver->vk.GetPhysicalDeviceFeatures2(device->handle, &features->base);
    keep_wanted(features);
    find_abilities(driver, device, features, extensions, can);
    return QN_OK;
}

const char *qn__vk_missing(const qn__driver *driver, VkPhysicalDevice device) {
    qn__vk_features f = {0};
    chain(&f, VK_API_VERSION_1_2, 0);
    driver->vk.GetPhysicalDeviceFeatures2(device, &f.base);
    if (!f.v12.bufferDeviceAddress) return "buffer device addresses (bufferDeviceAddress)";
    if (!f.v12.timelineSemaphore) return "timeline semaphores (timelineSemaphore)";
    if (!f.v12.vulkanMemoryModel || !f.v12.vulkanMemoryModelDeviceScope)
        return "Vulkan memory model with device scope (vulkanMemoryModel)";
    return NULL;
}

/* ---- for the compiler ---- */

/* Without sub-groups they are made of local memory, by pass/lower_sub_groups.c. */
uint32_t qn__vk_sub_group_size(const qn__gpu *gpu) {
    return gpu->can.sub_groups ? gpu->physical->properties_11.subgroupSize : 32;
}

void qn__vk_target(const qn__gpu *gpu, qn__target *target) {
    const qn__vk_abilities *can = &gpu->can;
    const VkPhysicalDeviceProperties *properties = &gpu->physical->properties;
    *target = (qn__target){.kind = QN__TARGET_SPIRV,
                           .sub_group_size = qn__vk_sub_group_size(gpu),
                           .private_bytes = can->private_bytes,
                           .loop_limit = can->loop_limit,
                           .lacks_f16 = !can->f16,
                           .lacks_f64 = !can->f64,
                           .lacks_i8 = !can->i8,
                           .lacks_i16 = !can->i16,
                           .lacks_i64 = !can->i64,
                           .lacks_storage_8 = !can->storage_8,
                           .lacks_storage_16 = !can->storage_16,
                           .lacks_i64_atomics = !can->i64_atomics,
                           .lacks_float_atomic_add = !can->float_atomic_add,
                           .lacks_sub_groups = !can->sub_groups,
                           .lacks_sub_group_shuffle = !can->shuffles,
                           .lacks_exact_fma = !can->fma,
                           .lacks_f32_denormals = !can->f32_denormals,
                           .lacks_fast_fma32 = !can->fma,
                           .lacks_fast_fma64 = !can->fma || !can->f64,
                           .lacks_loop_results = !can->loop_results,
                           .lacks_exact_zeros = !can->zeros,
                           .lacks_byte_swaps = !can->byte_swaps,
                           .lacks_cut_signs = !can->cut_signs,
                           .lacks_long_differences = !can->long_differences,
                           .lacks_long_signs = !can->long_signs,
                           .lacks_float_controls = !can->float_controls,
                           .lacks_denormal_compares = can->flushes_compared,
                           .has_denormals = can->denormals,
                           .has_nearest = can->nearest,
                           .has_dot4 = can->dot4,
                           .wants_wide_addresses = can->i64,
                           .wants_unrolled = properties->deviceType != VK_PHYSICAL_DEVICE_TYPE_CPU};
    qn__vk_list_matrices(gpu, target);
}
