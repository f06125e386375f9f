/* The part of Vulkan 1.2 that the backend calls: values, structures and function signatures as the Vulkan
   specification's API registry gives them, under its names. Numbers that only pad a structure are arrays of
   words; handles that are not dispatchable are 64-bit numbers. tests/vulkan_layout.py holds the layouts
   against a Vulkan header. */
#ifndef QN__VK_H
#define QN__VK_H

#include <stddef.h>
#include <stdint.h>

typedef uint32_t VkBool32;
typedef uint64_t VkDeviceSize;
typedef int32_t VkResult;
typedef struct VkInstance_ *VkInstance;
typedef struct VkPhysicalDevice_ *VkPhysicalDevice;
typedef struct VkDevice_ *VkDevice;
typedef struct VkQueue_ *VkQueue;
typedef struct VkCommandBuffer_ *VkCommandBuffer;
typedef uint64_t VkBuffer, VkDeviceMemory, VkSemaphore, VkFence, VkCommandPool, VkQueryPool, VkShaderModule,
    VkPipeline, VkPipelineCache, VkPipelineLayout;

enum { /* VkResult */
       VK_SUCCESS = 0,
       VK_NOT_READY = 1,
       VK_TIMEOUT = 2,
       VK_INCOMPLETE = 5,
       VK_ERROR_OUT_OF_HOST_MEMORY = -1,
       VK_ERROR_OUT_OF_DEVICE_MEMORY = -2,
       VK_ERROR_INITIALIZATION_FAILED = -3,
       VK_ERROR_DEVICE_LOST = -4,
       VK_ERROR_EXTENSION_NOT_PRESENT = -7,
       VK_ERROR_FEATURE_NOT_PRESENT = -8,
       VK_ERROR_INCOMPATIBLE_DRIVER = -9,
       VK_ERROR_TOO_MANY_OBJECTS = -10,
       VK_ERROR_INVALID_EXTERNAL_HANDLE = -1000072003
};

enum { /* VkStructureType */
       VK_STRUCTURE_TYPE_APPLICATION_INFO = 0,
       VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO = 1,
       VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO = 2,
       VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO = 3,
       VK_STRUCTURE_TYPE_SUBMIT_INFO = 4,
       VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO = 5,
       VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO = 9,
       VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO = 11,
       VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO = 12,
       VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO = 16,
       VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO = 17,
       VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO = 18,
       VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO = 29,
       VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO = 30,
       VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO = 39,
       VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO = 40,
       VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO = 42,
       VK_STRUCTURE_TYPE_MEMORY_BARRIER = 46,
       VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES = 49,
       VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES = 50,
       VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES = 51,
       VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES = 53,
       VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2 = 1000059000,
       VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2 = 1000059001,
       VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2 = 1000059006,
       VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO = 1000060000,
       VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_BUFFER_INFO = 1000071002,
       VK_STRUCTURE_TYPE_EXTERNAL_BUFFER_PROPERTIES = 1000071003,
       VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO = 1000072000,
       VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO = 1000072002,
       VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR = 1000074000,
       VK_STRUCTURE_TYPE_MEMORY_FD_PROPERTIES_KHR = 1000074001,
       VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR = 1000074002,
       VK_STRUCTURE_TYPE_MEMORY_DEDICATED_REQUIREMENTS = 1000127000,
       VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO = 1000127001,
       VK_STRUCTURE_TYPE_BUFFER_MEMORY_REQUIREMENTS_INFO_2 = 1000146000,
       VK_STRUCTURE_TYPE_MEMORY_REQUIREMENTS_2 = 1000146003,
       VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SM_BUILTINS_PROPERTIES_NV = 1000154001,
       VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_BFLOAT16_FEATURES_KHR = 1000141000,
       VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT = 1000178000,
       VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT = 1000178001,
       VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT = 1000178002,
       VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_PROPERTIES_AMD = 1000185000,
       VK_STRUCTURE_TYPE_PIPELINE_CREATION_FEEDBACK_CREATE_INFO = 1000192000,
       VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES = 1000196000,
       VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FLOAT_CONTROLS_PROPERTIES = 1000197000,
       VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO = 1000207002,
       VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO = 1000207003,
       VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO = 1000207004,
       VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO = 1000207005,
       VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES = 1000225000,
       VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO = 1000225001,
       VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_PROPERTIES_2_AMD = 1000227000,
       VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT = 1000237000,
       VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO = 1000244001,
       VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_FEATURES_EXT = 1000260000,
       VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR = 1000269000,
       VK_STRUCTURE_TYPE_PIPELINE_INFO_KHR = 1000269001,
       VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_PROPERTIES_KHR = 1000269002,
       VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR = 1000269003,
       VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR = 1000269004,
       VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_WORKGROUP_MEMORY_EXPLICIT_LAYOUT_FEATURES_KHR = 1000336000,
       VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_PROPERTIES = 1000413001,
       VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_BUILTINS_PROPERTIES_ARM = 1000497001,
       VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR = 1000506000,
       VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_KHR = 1000506001,
       VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_PROPERTIES_KHR = 1000506002,
       VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT8_FEATURES_EXT = 1000567000
};

enum {
    VK_API_VERSION_1_2 = 1 << 22 | 2 << 12,
    VK_API_VERSION_1_3 = 1 << 22 | 3 << 12,
    VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU = 1,
    VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU = 2,
    VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU = 3,
    VK_PHYSICAL_DEVICE_TYPE_CPU = 4,
    VK_QUEUE_GRAPHICS_BIT = 1,
    VK_QUEUE_COMPUTE_BIT = 2,
    VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT = 1,
    VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT = 2,
    VK_MEMORY_PROPERTY_HOST_COHERENT_BIT = 4,
    VK_MEMORY_PROPERTY_HOST_CACHED_BIT = 8,
    VK_MEMORY_HEAP_DEVICE_LOCAL_BIT = 1,
    VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT = 2,
    VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT = 1,
    VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT = 0x80,
    VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT = 0x200,
    VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT = 2,
    VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT = 4,
    VK_BUFFER_USAGE_TRANSFER_SRC_BIT = 0x1,
    VK_BUFFER_USAGE_TRANSFER_DST_BIT = 0x2,
    VK_BUFFER_USAGE_STORAGE_BUFFER_BIT = 0x20,
    VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT = 0x20000,
    VK_SHADER_STAGE_COMPUTE_BIT = 0x20,
    VK_PIPELINE_BIND_POINT_COMPUTE = 1,
    VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT = 0x800,
    VK_PIPELINE_STAGE_TRANSFER_BIT = 0x1000,
    VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT = 0x2000,
    VK_PIPELINE_STAGE_HOST_BIT = 0x4000,
    VK_PIPELINE_STAGE_ALL_COMMANDS_BIT = 0x10000,
    VK_ACCESS_SHADER_READ_BIT = 0x20,
    VK_ACCESS_SHADER_WRITE_BIT = 0x40,
    VK_ACCESS_TRANSFER_READ_BIT = 0x800,
    VK_ACCESS_TRANSFER_WRITE_BIT = 0x1000,
    VK_ACCESS_HOST_READ_BIT = 0x2000,
    VK_ACCESS_HOST_WRITE_BIT = 0x4000,
    VK_COMMAND_POOL_CREATE_TRANSIENT_BIT = 1,
    VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT = 1,
    VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT = 4,
    VK_QUERY_TYPE_TIMESTAMP = 2,
    VK_QUERY_RESULT_64_BIT = 1,
    VK_SEMAPHORE_TYPE_TIMELINE = 1,
    VK_SEMAPHORE_WAIT_ANY_BIT = 1,
    VK_SUBGROUP_FEATURE_BASIC_BIT = 1,
    VK_SUBGROUP_FEATURE_VOTE_BIT = 2,
    VK_SUBGROUP_FEATURE_ARITHMETIC_BIT = 4,
    VK_SUBGROUP_FEATURE_BALLOT_BIT = 8,
    VK_SUBGROUP_FEATURE_SHUFFLE_BIT = 0x10,
    VK_PIPELINE_CREATION_FEEDBACK_VALID_BIT = 1,
    VK_PIPELINE_CREATION_FEEDBACK_APPLICATION_PIPELINE_CACHE_HIT_BIT = 2,
    VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT = 2,
    VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR = 0x40,
    VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_BOOL32_KHR = 0,
    VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_INT64_KHR = 1,
    VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_UINT64_KHR = 2,
    VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_FLOAT64_KHR = 3,
    VK_DRIVER_ID_AMD_PROPRIETARY = 1,
    VK_DRIVER_ID_AMD_OPEN_SOURCE = 2,
    VK_DRIVER_ID_MESA_RADV = 3,
    VK_DRIVER_ID_NVIDIA_PROPRIETARY = 4,
    VK_DRIVER_ID_INTEL_OPEN_SOURCE_MESA = 6,
    VK_DRIVER_ID_MESA_LLVMPIPE = 13,
    VK_DRIVER_ID_MESA_PANVK = 20
};

#define VK_WHOLE_SIZE ((VkDeviceSize)-1)

/* Every structure that can be chained starts like this. */
typedef struct VkBaseStructure {
    uint32_t sType;
    void *pNext;
} VkBaseStructure;

typedef struct VkApplicationInfo {
    uint32_t sType;
    const void *pNext;
    const char *pApplicationName;
    uint32_t applicationVersion;
    const char *pEngineName;
    uint32_t engineVersion, apiVersion;
} VkApplicationInfo;

typedef struct VkInstanceCreateInfo {
    uint32_t sType;
    const void *pNext;
    uint32_t flags;
    const VkApplicationInfo *pApplicationInfo;
    uint32_t enabledLayerCount;
    const char *const *ppEnabledLayerNames;
    uint32_t enabledExtensionCount;
    const char *const *ppEnabledExtensionNames;
} VkInstanceCreateInfo;

typedef struct VkExtensionProperties {
    char extensionName[256];
    uint32_t specVersion;
} VkExtensionProperties;

typedef struct VkPhysicalDeviceLimits {
    uint32_t images_and_texels[8], maxPushConstantsSize, maxMemoryAllocationCount, samplers;
    VkDeviceSize granularity, sparse;
    uint32_t descriptors_to_fragments[38];
    uint32_t maxComputeSharedMemorySize, maxComputeWorkGroupCount[3], maxComputeWorkGroupInvocations,
        maxComputeWorkGroupSize[3];
    uint32_t raster[13];
    size_t minMemoryMapAlignment;
    VkDeviceSize texel_uniform_storage_alignment[3];
    uint32_t textures_and_targets[21];
    VkBool32 timestampComputeAndGraphics;
    float timestampPeriod;
    uint32_t clip_points_and_lines[10];
    VkBool32 strictLines, standardSampleLocations;
    VkDeviceSize optimal_copy_alignment[2], nonCoherentAtomSize;
} VkPhysicalDeviceLimits;

typedef struct VkPhysicalDeviceProperties {
    uint32_t apiVersion, driverVersion, vendorID, deviceID, deviceType;
    char deviceName[256];
    uint8_t pipelineCacheUUID[16];
    VkPhysicalDeviceLimits limits;
    VkBool32 sparse[5];
} VkPhysicalDeviceProperties;

typedef struct VkPhysicalDeviceProperties2 {
    uint32_t sType;
    void *pNext;
    VkPhysicalDeviceProperties properties;
} VkPhysicalDeviceProperties2;

typedef struct VkPhysicalDeviceVulkan11Properties {
    uint32_t sType;
    void *pNext;
    uint8_t deviceUUID[16], driverUUID[16], deviceLUID[8];
    uint32_t deviceNodeMask;
    VkBool32 deviceLUIDValid;
    uint32_t subgroupSize, subgroupSupportedStages, subgroupSupportedOperations;
    VkBool32 subgroupQuadOperationsInAllStages;
    uint32_t clipping_and_views[3];
    VkBool32 protectedNoFault;
    uint32_t maxPerSetDescriptors;
    VkDeviceSize maxMemoryAllocationSize;
} VkPhysicalDeviceVulkan11Properties;

typedef struct VkPhysicalDeviceDriverProperties {
    uint32_t sType;
    void *pNext;
    uint32_t driverID;
    char driverName[256], driverInfo[256];
    uint8_t conformanceVersion[4];
} VkPhysicalDeviceDriverProperties;

typedef struct VkPhysicalDeviceFloatControlsProperties {
    uint32_t sType;
    void *pNext;
    uint32_t denormBehaviorIndependence, roundingModeIndependence;
    VkBool32 shaderSignedZeroInfNanPreserveFloat16, shaderSignedZeroInfNanPreserveFloat32,
        shaderSignedZeroInfNanPreserveFloat64;
    VkBool32 shaderDenormPreserveFloat16, shaderDenormPreserveFloat32, shaderDenormPreserveFloat64;
    VkBool32 flush_to_zero[3];
    VkBool32 shaderRoundingModeRTEFloat16, shaderRoundingModeRTEFloat32, shaderRoundingModeRTEFloat64;
    VkBool32 round_to_zero[3];
} VkPhysicalDeviceFloatControlsProperties;

typedef struct VkPhysicalDeviceSubgroupSizeControlProperties {
    uint32_t sType;
    void *pNext;
    uint32_t minSubgroupSize, maxSubgroupSize, maxComputeWorkgroupSubgroups, requiredSubgroupSizeStages;
} VkPhysicalDeviceSubgroupSizeControlProperties;

typedef struct VkPhysicalDeviceShaderSMBuiltinsPropertiesNV {
    uint32_t sType;
    void *pNext;
    uint32_t shaderSMCount, shaderWarpsPerSM;
} VkPhysicalDeviceShaderSMBuiltinsPropertiesNV;

typedef struct VkPhysicalDeviceShaderCorePropertiesAMD {
    uint32_t sType;
    void *pNext;
    uint32_t shaderEngineCount, shaderArraysPerEngineCount, computeUnitsPerShaderArray, others[11];
} VkPhysicalDeviceShaderCorePropertiesAMD;

typedef struct VkPhysicalDeviceShaderCoreProperties2AMD {
    uint32_t sType;
    void *pNext;
    uint32_t shaderCoreFeatures, activeComputeUnitCount;
} VkPhysicalDeviceShaderCoreProperties2AMD;

typedef struct VkPhysicalDeviceShaderCoreBuiltinsPropertiesARM {
    uint32_t sType;
    void *pNext;
    uint64_t shaderCoreMask;
    uint32_t shaderCoreCount, shaderWarpsPerCore;
} VkPhysicalDeviceShaderCoreBuiltinsPropertiesARM;

typedef struct VkPhysicalDeviceMaintenance4Properties {
    uint32_t sType;
    void *pNext;
    VkDeviceSize maxBufferSize;
} VkPhysicalDeviceMaintenance4Properties;

typedef struct VkPhysicalDeviceFeatures {
    VkBool32 drawing[39], shaderFloat64, shaderInt64, shaderInt16, rest[13];
} VkPhysicalDeviceFeatures;

typedef struct VkPhysicalDeviceFeatures2 {
    uint32_t sType;
    void *pNext;
    VkPhysicalDeviceFeatures features;
} VkPhysicalDeviceFeatures2;

typedef struct VkPhysicalDeviceVulkan11Features {
    uint32_t sType;
    void *pNext;
    VkBool32 storageBuffer16BitAccess, uniformAndStorageBuffer16BitAccess, storagePushConstant16,
        storageInputOutput16, multiview[3], variablePointersStorageBuffer, variablePointers, rest[3];
} VkPhysicalDeviceVulkan11Features;

typedef struct VkPhysicalDeviceVulkan12Features {
    uint32_t sType;
    void *pNext;
    VkBool32 samplerMirrorClampToEdge, drawIndirectCount, storageBuffer8BitAccess,
        uniformAndStorageBuffer8BitAccess, storagePushConstant8, shaderBufferInt64Atomics,
        shaderSharedInt64Atomics, shaderFloat16, shaderInt8, descriptors_and_samplers[22], scalarBlockLayout,
        imagelessFramebuffer, uniformBufferStandardLayout, shaderSubgroupExtendedTypes,
        separateDepthStencilLayouts, hostQueryReset, timelineSemaphore, bufferDeviceAddress,
        bufferDeviceAddressCaptureReplay, bufferDeviceAddressMultiDevice, vulkanMemoryModel,
        vulkanMemoryModelDeviceScope, vulkanMemoryModelAvailabilityVisibilityChains, shader_output[2],
        subgroupBroadcastDynamicId;
} VkPhysicalDeviceVulkan12Features;

typedef struct VkPhysicalDeviceVulkan13Features {
    uint32_t sType;
    void *pNext;
    VkBool32 robust_and_private[7], subgroupSizeControl, computeFullSubgroups, synchronization2,
        textureCompressionASTC_HDR, shaderZeroInitializeWorkgroupMemory, dynamicRendering,
        shaderIntegerDotProduct, maintenance4;
} VkPhysicalDeviceVulkan13Features;

typedef struct VkPhysicalDeviceShaderAtomicFloatFeaturesEXT {
    uint32_t sType;
    void *pNext;
    VkBool32 shaderBufferFloat32Atomics, shaderBufferFloat32AtomicAdd, shaderBufferFloat64Atomics,
        shaderBufferFloat64AtomicAdd, shaderSharedFloat32Atomics, shaderSharedFloat32AtomicAdd,
        shaderSharedFloat64Atomics, shaderSharedFloat64AtomicAdd, images[4];
} VkPhysicalDeviceShaderAtomicFloatFeaturesEXT;

typedef struct VkPhysicalDeviceWorkgroupMemoryExplicitLayoutFeaturesKHR {
    uint32_t sType;
    void *pNext;
    VkBool32 workgroupMemoryExplicitLayout, workgroupMemoryExplicitLayoutScalarBlockLayout,
        workgroupMemoryExplicitLayout8BitAccess, workgroupMemoryExplicitLayout16BitAccess;
} VkPhysicalDeviceWorkgroupMemoryExplicitLayoutFeaturesKHR;

typedef enum VkComponentTypeKHR {
    VK_COMPONENT_TYPE_FLOAT16_KHR = 0,
    VK_COMPONENT_TYPE_FLOAT32_KHR = 1,
    VK_COMPONENT_TYPE_SINT8_KHR = 3,
    VK_COMPONENT_TYPE_SINT32_KHR = 5,
    VK_COMPONENT_TYPE_UINT8_KHR = 7,
    VK_COMPONENT_TYPE_UINT32_KHR = 9,
    VK_COMPONENT_TYPE_BFLOAT16_KHR = 1000141000,
    VK_COMPONENT_TYPE_FLOAT8_E4M3_EXT = 1000491002,
    VK_COMPONENT_TYPE_FLOAT8_E5M2_EXT = 1000491003
} VkComponentTypeKHR;

enum { VK_SCOPE_SUBGROUP_KHR = 3 };

typedef struct VkPhysicalDeviceCooperativeMatrixFeaturesKHR {
    uint32_t sType;
    void *pNext;
    VkBool32 cooperativeMatrix;
    VkBool32 cooperativeMatrixRobustBufferAccess;
} VkPhysicalDeviceCooperativeMatrixFeaturesKHR;

typedef struct VkPhysicalDeviceCooperativeMatrixPropertiesKHR {
    uint32_t sType;
    void *pNext;
    uint32_t cooperativeMatrixSupportedStages;
} VkPhysicalDeviceCooperativeMatrixPropertiesKHR;

typedef struct VkCooperativeMatrixPropertiesKHR {
    uint32_t sType;
    void *pNext;
    uint32_t MSize, NSize, KSize;
    uint32_t AType, BType, CType, ResultType;
    VkBool32 saturatingAccumulation;
    uint32_t scope;
} VkCooperativeMatrixPropertiesKHR;

typedef struct VkPhysicalDeviceShaderBfloat16FeaturesKHR {
    uint32_t sType;
    void *pNext;
    VkBool32 shaderBFloat16Type;
    VkBool32 shaderBFloat16DotProduct;
    VkBool32 shaderBFloat16CooperativeMatrix;
} VkPhysicalDeviceShaderBfloat16FeaturesKHR;

typedef struct VkPhysicalDeviceShaderFloat8FeaturesEXT {
    uint32_t sType;
    void *pNext;
    VkBool32 shaderFloat8;
    VkBool32 shaderFloat8CooperativeMatrix;
} VkPhysicalDeviceShaderFloat8FeaturesEXT;

typedef struct VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR {
    uint32_t sType;
    void *pNext;
    VkBool32 pipelineExecutableInfo;
} VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR;

typedef struct VkQueueFamilyProperties {
    uint32_t queueFlags, queueCount, timestampValidBits, granularity[3];
} VkQueueFamilyProperties;

typedef struct VkPhysicalDeviceMemoryProperties {
    uint32_t memoryTypeCount;
    struct {
        uint32_t propertyFlags, heapIndex;
    } memoryTypes[32];
    uint32_t memoryHeapCount;
    struct {
        VkDeviceSize size;
        uint32_t flags;
    } memoryHeaps[16];
} VkPhysicalDeviceMemoryProperties;

typedef struct VkPhysicalDeviceMemoryProperties2 {
    uint32_t sType;
    void *pNext;
    VkPhysicalDeviceMemoryProperties memoryProperties;
} VkPhysicalDeviceMemoryProperties2;

typedef struct VkPhysicalDeviceMemoryBudgetPropertiesEXT {
    uint32_t sType;
    void *pNext;
    VkDeviceSize heapBudget[16], heapUsage[16];
} VkPhysicalDeviceMemoryBudgetPropertiesEXT;

typedef struct VkDeviceQueueCreateInfo {
    uint32_t sType;
    const void *pNext;
    uint32_t flags, queueFamilyIndex, queueCount;
    const float *pQueuePriorities;
} VkDeviceQueueCreateInfo;

typedef struct VkDeviceCreateInfo {
    uint32_t sType;
    const void *pNext;
    uint32_t flags, queueCreateInfoCount;
    const VkDeviceQueueCreateInfo *pQueueCreateInfos;
    uint32_t enabledLayerCount;
    const char *const *ppEnabledLayerNames;
    uint32_t enabledExtensionCount;
    const char *const *ppEnabledExtensionNames;
    const VkPhysicalDeviceFeatures *pEnabledFeatures;
} VkDeviceCreateInfo;

typedef struct VkMemoryAllocateFlagsInfo {
    uint32_t sType;
    const void *pNext;
    uint32_t flags, deviceMask;
} VkMemoryAllocateFlagsInfo;

typedef struct VkMemoryAllocateInfo {
    uint32_t sType;
    const void *pNext;
    VkDeviceSize allocationSize;
    uint32_t memoryTypeIndex;
} VkMemoryAllocateInfo;

typedef struct VkImportMemoryHostPointerInfoEXT {
    uint32_t sType;
    const void *pNext;
    uint32_t handleType;
    void *pHostPointer;
} VkImportMemoryHostPointerInfoEXT;

typedef struct VkMemoryHostPointerPropertiesEXT {
    uint32_t sType;
    void *pNext;
    uint32_t memoryTypeBits;
} VkMemoryHostPointerPropertiesEXT;

typedef struct VkPhysicalDeviceExternalMemoryHostPropertiesEXT {
    uint32_t sType;
    void *pNext;
    VkDeviceSize minImportedHostPointerAlignment;
} VkPhysicalDeviceExternalMemoryHostPropertiesEXT;

typedef struct VkExportMemoryAllocateInfo {
    uint32_t sType;
    const void *pNext;
    uint32_t handleTypes;
} VkExportMemoryAllocateInfo;

typedef struct VkImportMemoryFdInfoKHR {
    uint32_t sType;
    const void *pNext;
    uint32_t handleType;
    int fd;
} VkImportMemoryFdInfoKHR;

typedef struct VkMemoryFdPropertiesKHR {
    uint32_t sType;
    void *pNext;
    uint32_t memoryTypeBits;
} VkMemoryFdPropertiesKHR;

typedef struct VkMemoryGetFdInfoKHR {
    uint32_t sType;
    const void *pNext;
    VkDeviceMemory memory;
    uint32_t handleType;
} VkMemoryGetFdInfoKHR;

typedef struct VkExternalMemoryBufferCreateInfo {
    uint32_t sType;
    const void *pNext;
    uint32_t handleTypes;
} VkExternalMemoryBufferCreateInfo;

typedef struct VkPhysicalDeviceExternalBufferInfo {
    uint32_t sType;
    const void *pNext;
    uint32_t flags, usage, handleType;
} VkPhysicalDeviceExternalBufferInfo;

typedef struct VkExternalMemoryProperties {
    uint32_t externalMemoryFeatures, exportFromImportedHandleTypes, compatibleHandleTypes;
} VkExternalMemoryProperties;

typedef struct VkExternalBufferProperties {
    uint32_t sType;
    void *pNext;
    VkExternalMemoryProperties externalMemoryProperties;
} VkExternalBufferProperties;

typedef struct VkMemoryRequirements {
    VkDeviceSize size, alignment;
    uint32_t memoryTypeBits;
} VkMemoryRequirements;

typedef struct VkBufferMemoryRequirementsInfo2 {
    uint32_t sType;
    const void *pNext;
    VkBuffer buffer;
} VkBufferMemoryRequirementsInfo2;

typedef struct VkMemoryDedicatedRequirements {
    uint32_t sType;
    void *pNext;
    uint32_t prefersDedicatedAllocation, requiresDedicatedAllocation;
} VkMemoryDedicatedRequirements;

typedef struct VkMemoryRequirements2 {
    uint32_t sType;
    void *pNext;
    VkMemoryRequirements memoryRequirements;
} VkMemoryRequirements2;

typedef struct VkMemoryDedicatedAllocateInfo {
    uint32_t sType;
    const void *pNext;
    uint64_t image;
    VkBuffer buffer;
} VkMemoryDedicatedAllocateInfo;

typedef struct VkBufferCreateInfo {
    uint32_t sType;
    const void *pNext;
    uint32_t flags;
    VkDeviceSize size;
    uint32_t usage, sharingMode, queueFamilyIndexCount;
    const uint32_t *pQueueFamilyIndices;
} VkBufferCreateInfo;

typedef struct VkBufferDeviceAddressInfo {
    uint32_t sType;
    const void *pNext;
    VkBuffer buffer;
} VkBufferDeviceAddressInfo;

typedef struct VkSemaphoreTypeCreateInfo {
    uint32_t sType;
    const void *pNext;
    uint32_t semaphoreType;
    uint64_t initialValue;
} VkSemaphoreTypeCreateInfo;

/* Of a semaphore, and of all that is created with flags alone. */
typedef struct VkFlagsCreateInfo {
    uint32_t sType;
    const void *pNext;
    uint32_t flags;
} VkFlagsCreateInfo;

typedef struct VkSemaphoreWaitInfo {
    uint32_t sType;
    const void *pNext;
    uint32_t flags, semaphoreCount;
    const VkSemaphore *pSemaphores;
    const uint64_t *pValues;
} VkSemaphoreWaitInfo;

typedef struct VkSemaphoreSignalInfo {
    uint32_t sType;
    const void *pNext;
    VkSemaphore semaphore;
    uint64_t value;
} VkSemaphoreSignalInfo;

typedef struct VkTimelineSemaphoreSubmitInfo {
    uint32_t sType;
    const void *pNext;
    uint32_t waitSemaphoreValueCount;
    const uint64_t *pWaitSemaphoreValues;
    uint32_t signalSemaphoreValueCount;
    const uint64_t *pSignalSemaphoreValues;
} VkTimelineSemaphoreSubmitInfo;

typedef struct VkSubmitInfo {
    uint32_t sType;
    const void *pNext;
    uint32_t waitSemaphoreCount;
    const VkSemaphore *pWaitSemaphores;
    const uint32_t *pWaitDstStageMask;
    uint32_t commandBufferCount;
    const VkCommandBuffer *pCommandBuffers;
    uint32_t signalSemaphoreCount;
    const VkSemaphore *pSignalSemaphores;
} VkSubmitInfo;

typedef struct VkCommandPoolCreateInfo {
    uint32_t sType;
    const void *pNext;
    uint32_t flags, queueFamilyIndex;
} VkCommandPoolCreateInfo;

typedef struct VkCommandBufferAllocateInfo {
    uint32_t sType;
    const void *pNext;
    VkCommandPool commandPool;
    uint32_t level, commandBufferCount;
} VkCommandBufferAllocateInfo;

typedef struct VkCommandBufferBeginInfo {
    uint32_t sType;
    const void *pNext;
    uint32_t flags;
    const void *pInheritanceInfo;
} VkCommandBufferBeginInfo;

typedef struct VkMemoryBarrier {
    uint32_t sType;
    const void *pNext;
    uint32_t srcAccessMask, dstAccessMask;
} VkMemoryBarrier;

typedef struct VkBufferCopy {
    VkDeviceSize srcOffset, dstOffset, size;
} VkBufferCopy;

typedef struct VkQueryPoolCreateInfo {
    uint32_t sType;
    const void *pNext;
    uint32_t flags, queryType, queryCount, pipelineStatistics;
} VkQueryPoolCreateInfo;

typedef struct VkShaderModuleCreateInfo {
    uint32_t sType;
    const void *pNext;
    uint32_t flags;
    size_t codeSize;
    const uint32_t *pCode;
} VkShaderModuleCreateInfo;

typedef struct VkPipelineCacheCreateInfo {
    uint32_t sType;
    const void *pNext;
    uint32_t flags;
    size_t initialDataSize;
    const void *pInitialData;
} VkPipelineCacheCreateInfo;

typedef struct VkPushConstantRange {
    uint32_t stageFlags, offset, size;
} VkPushConstantRange;

typedef struct VkPipelineLayoutCreateInfo {
    uint32_t sType;
    const void *pNext;
    uint32_t flags, setLayoutCount;
    const uint64_t *pSetLayouts;
    uint32_t pushConstantRangeCount;
    const VkPushConstantRange *pPushConstantRanges;
} VkPipelineLayoutCreateInfo;

typedef struct VkSpecializationMapEntry {
    uint32_t constantID, offset;
    size_t size;
} VkSpecializationMapEntry;

typedef struct VkSpecializationInfo {
    uint32_t mapEntryCount;
    const VkSpecializationMapEntry *pMapEntries;
    size_t dataSize;
    const void *pData;
} VkSpecializationInfo;

typedef struct VkPipelineShaderStageCreateInfo {
    uint32_t sType;
    const void *pNext;
    uint32_t flags, stage;
    VkShaderModule module;
    const char *pName;
    const VkSpecializationInfo *pSpecializationInfo;
} VkPipelineShaderStageCreateInfo;

typedef struct VkPipelineShaderStageRequiredSubgroupSizeCreateInfo {
    uint32_t sType;
    void *pNext;
    uint32_t requiredSubgroupSize;
} VkPipelineShaderStageRequiredSubgroupSizeCreateInfo;

typedef struct VkComputePipelineCreateInfo {
    uint32_t sType;
    const void *pNext;
    uint32_t flags;
    VkPipelineShaderStageCreateInfo stage;
    VkPipelineLayout layout;
    VkPipeline basePipelineHandle;
    int32_t basePipelineIndex;
} VkComputePipelineCreateInfo;

typedef struct VkPipelineCreationFeedback {
    uint32_t flags;
    uint64_t duration;
} VkPipelineCreationFeedback;

typedef struct VkPipelineCreationFeedbackCreateInfo {
    uint32_t sType;
    const void *pNext;
    VkPipelineCreationFeedback *pPipelineCreationFeedback;
    uint32_t pipelineStageCreationFeedbackCount;
    VkPipelineCreationFeedback *pPipelineStageCreationFeedbacks;
} VkPipelineCreationFeedbackCreateInfo;

typedef struct VkPipelineInfoKHR {
    uint32_t sType;
    const void *pNext;
    VkPipeline pipeline;
} VkPipelineInfoKHR;

typedef struct VkPipelineExecutablePropertiesKHR {
    uint32_t sType;
    void *pNext;
    uint32_t stages;
    char name[256], description[256];
    uint32_t subgroupSize;
} VkPipelineExecutablePropertiesKHR;

typedef struct VkPipelineExecutableInfoKHR {
    uint32_t sType;
    const void *pNext;
    VkPipeline pipeline;
    uint32_t executableIndex;
} VkPipelineExecutableInfoKHR;

typedef struct VkPipelineExecutableStatisticKHR {
    uint32_t sType;
    void *pNext;
    char name[256], description[256];
    uint32_t format;
    union {
        VkBool32 b32;
        int64_t i64;
        uint64_t u64;
        double f64;
    } value;
} VkPipelineExecutableStatisticKHR;

/* ---- functions: X(result, name without vk, parameters). `no_hooks` are host memory callbacks: NULL ---- */

typedef const void *VkNoHooks;
typedef void (*VkFunction)(void);

#define VK_GLOBAL_FUNCTIONS(X)                                                                               \
    X(VkResult, EnumerateInstanceVersion, (uint32_t * version))                                              \
    X(VkResult, CreateInstance, (const VkInstanceCreateInfo *info, VkNoHooks hooks, VkInstance *instance))

#define VK_INSTANCE_FUNCTIONS(X)                                                                             \
    X(void, DestroyInstance, (VkInstance instance, VkNoHooks hooks))                                         \
    X(VkResult, EnumeratePhysicalDevices,                                                                    \
      (VkInstance instance, uint32_t * count, VkPhysicalDevice * devices))                                   \
    X(void, GetPhysicalDeviceProperties, (VkPhysicalDevice device, VkPhysicalDeviceProperties * properties)) \
    X(void, GetPhysicalDeviceProperties2,                                                                    \
      (VkPhysicalDevice device, VkPhysicalDeviceProperties2 * properties))                                   \
    X(void, GetPhysicalDeviceFeatures2, (VkPhysicalDevice device, VkPhysicalDeviceFeatures2 * features))     \
    X(void, GetPhysicalDeviceMemoryProperties2,                                                              \
      (VkPhysicalDevice device, VkPhysicalDeviceMemoryProperties2 * properties))                             \
    X(void, GetPhysicalDeviceQueueFamilyProperties,                                                          \
      (VkPhysicalDevice device, uint32_t * count, VkQueueFamilyProperties * properties))                     \
    X(void, GetPhysicalDeviceExternalBufferProperties,                                                       \
      (VkPhysicalDevice device, const VkPhysicalDeviceExternalBufferInfo *info,                              \
       VkExternalBufferProperties *properties))                                                              \
    X(VkResult, EnumerateDeviceExtensionProperties,                                                          \
      (VkPhysicalDevice device, const char *layer, uint32_t *count, VkExtensionProperties *properties))      \
    X(VkResult, CreateDevice,                                                                                \
      (VkPhysicalDevice physical, const VkDeviceCreateInfo *info, VkNoHooks hooks, VkDevice *device))        \
    X(VkFunction, GetDeviceProcAddr, (VkDevice device, const char *name))

/* Of VK_KHR_cooperative_matrix. */
typedef VkResult
VkGetPhysicalDeviceCooperativeMatrixPropertiesKHR(VkPhysicalDevice device, uint32_t *count,
                                                  VkCooperativeMatrixPropertiesKHR *properties);

/* Of VK_KHR_external_memory_fd. */
typedef VkResult VkGetMemoryFdKHR(VkDevice device, const VkMemoryGetFdInfoKHR *info, int *fd);
typedef VkResult VkGetMemoryFdPropertiesKHR(VkDevice device, uint32_t type, int fd,
                                            VkMemoryFdPropertiesKHR *properties);

/* Of VK_EXT_external_memory_host. */
typedef VkResult VkGetMemoryHostPointerPropertiesEXT(VkDevice device, uint32_t type, const void *host,
                                                     VkMemoryHostPointerPropertiesEXT *properties);

/* Of VK_KHR_pipeline_executable_properties. */
typedef VkResult VkGetPipelineExecutablePropertiesKHR(VkDevice device, const VkPipelineInfoKHR *info,
                                                      uint32_t *count,
                                                      VkPipelineExecutablePropertiesKHR *properties);
typedef VkResult VkGetPipelineExecutableStatisticsKHR(VkDevice device,
                                                      const VkPipelineExecutableInfoKHR *info,
                                                      uint32_t *count,
                                                      VkPipelineExecutableStatisticKHR *statistics);

#define VK_DEVICE_FUNCTIONS(X)                                                                               \
    X(void, DestroyDevice, (VkDevice device, VkNoHooks hooks))                                               \
    X(void, GetDeviceQueue, (VkDevice device, uint32_t family, uint32_t index, VkQueue * queue))             \
    X(VkResult, QueueSubmit, (VkQueue queue, uint32_t count, const VkSubmitInfo *submits, VkFence fence))    \
    X(VkResult, DeviceWaitIdle, (VkDevice device))                                                           \
    X(VkResult, AllocateMemory,                                                                              \
      (VkDevice device, const VkMemoryAllocateInfo *info, VkNoHooks hooks, VkDeviceMemory *memory))          \
    X(void, FreeMemory, (VkDevice device, VkDeviceMemory memory, VkNoHooks hooks))                           \
    X(VkResult, MapMemory,                                                                                   \
      (VkDevice device, VkDeviceMemory memory, VkDeviceSize offset, VkDeviceSize size, uint32_t flags,       \
       void **data))                                                                                         \
    X(VkResult, CreateBuffer,                                                                                \
      (VkDevice device, const VkBufferCreateInfo *info, VkNoHooks hooks, VkBuffer *buffer))                  \
    X(void, DestroyBuffer, (VkDevice device, VkBuffer buffer, VkNoHooks hooks))                              \
    X(void, GetBufferMemoryRequirements2,                                                                    \
      (VkDevice device, const VkBufferMemoryRequirementsInfo2 *info, VkMemoryRequirements2 *requirements))   \
    X(VkResult, BindBufferMemory,                                                                            \
      (VkDevice device, VkBuffer buffer, VkDeviceMemory memory, VkDeviceSize offset))                        \
    X(uint64_t, GetBufferDeviceAddress, (VkDevice device, const VkBufferDeviceAddressInfo *info))            \
    X(VkResult, CreateSemaphore,                                                                             \
      (VkDevice device, const VkFlagsCreateInfo *info, VkNoHooks hooks, VkSemaphore *semaphore))             \
    X(void, DestroySemaphore, (VkDevice device, VkSemaphore semaphore, VkNoHooks hooks))                     \
    X(VkResult, GetSemaphoreCounterValue, (VkDevice device, VkSemaphore semaphore, uint64_t * value))        \
    X(VkResult, WaitSemaphores, (VkDevice device, const VkSemaphoreWaitInfo *info, uint64_t timeout))        \
    X(VkResult, SignalSemaphore, (VkDevice device, const VkSemaphoreSignalInfo *info))                       \
    X(VkResult, CreateQueryPool,                                                                             \
      (VkDevice device, const VkQueryPoolCreateInfo *info, VkNoHooks hooks, VkQueryPool *pool))              \
    X(void, DestroyQueryPool, (VkDevice device, VkQueryPool pool, VkNoHooks hooks))                          \
    X(VkResult, GetQueryPoolResults,                                                                         \
      (VkDevice device, VkQueryPool pool, uint32_t first, uint32_t count, size_t size, void *data,           \
       VkDeviceSize stride, uint32_t flags))                                                                 \
    X(VkResult, CreateShaderModule,                                                                          \
      (VkDevice device, const VkShaderModuleCreateInfo *info, VkNoHooks hooks, VkShaderModule *module))      \
    X(void, DestroyShaderModule, (VkDevice device, VkShaderModule module, VkNoHooks hooks))                  \
    X(VkResult, CreatePipelineCache,                                                                         \
      (VkDevice device, const VkPipelineCacheCreateInfo *info, VkNoHooks hooks, VkPipelineCache *cache))     \
    X(void, DestroyPipelineCache, (VkDevice device, VkPipelineCache cache, VkNoHooks hooks))                 \
    X(VkResult, GetPipelineCacheData, (VkDevice device, VkPipelineCache cache, size_t * size, void *data))   \
    X(VkResult, CreatePipelineLayout,                                                                        \
      (VkDevice device, const VkPipelineLayoutCreateInfo *info, VkNoHooks hooks, VkPipelineLayout *layout))  \
    X(void, DestroyPipelineLayout, (VkDevice device, VkPipelineLayout layout, VkNoHooks hooks))              \
    X(VkResult, CreateComputePipelines,                                                                      \
      (VkDevice device, VkPipelineCache cache, uint32_t count, const VkComputePipelineCreateInfo *infos,     \
       VkNoHooks hooks, VkPipeline *pipelines))                                                              \
    X(void, DestroyPipeline, (VkDevice device, VkPipeline pipeline, VkNoHooks hooks))                        \
    X(VkResult, CreateCommandPool,                                                                           \
      (VkDevice device, const VkCommandPoolCreateInfo *info, VkNoHooks hooks, VkCommandPool *pool))          \
    X(void, DestroyCommandPool, (VkDevice device, VkCommandPool pool, VkNoHooks hooks))                      \
    X(VkResult, ResetCommandPool, (VkDevice device, VkCommandPool pool, uint32_t flags))                     \
    X(VkResult, AllocateCommandBuffers,                                                                      \
      (VkDevice device, const VkCommandBufferAllocateInfo *info, VkCommandBuffer *buffers))                  \
    X(VkResult, BeginCommandBuffer, (VkCommandBuffer commands, const VkCommandBufferBeginInfo *info))        \
    X(VkResult, EndCommandBuffer, (VkCommandBuffer commands))                                                \
    X(void, CmdBindPipeline, (VkCommandBuffer commands, uint32_t bind_point, VkPipeline pipeline))           \
    X(void, CmdPushConstants,                                                                                \
      (VkCommandBuffer commands, VkPipelineLayout layout, uint32_t stages, uint32_t offset, uint32_t size,   \
       const void *values))                                                                                  \
    X(void, CmdDispatch, (VkCommandBuffer commands, uint32_t x, uint32_t y, uint32_t z))                     \
    X(void, CmdCopyBuffer,                                                                                   \
      (VkCommandBuffer commands, VkBuffer from, VkBuffer to, uint32_t count, const VkBufferCopy *regions))   \
    X(void, CmdFillBuffer,                                                                                   \
      (VkCommandBuffer commands, VkBuffer to, VkDeviceSize offset, VkDeviceSize size, uint32_t word))        \
    X(void, CmdUpdateBuffer,                                                                                 \
      (VkCommandBuffer commands, VkBuffer to, VkDeviceSize offset, VkDeviceSize size, const void *data))     \
    X(void, CmdPipelineBarrier,                                                                              \
      (VkCommandBuffer commands, uint32_t from_stages, uint32_t to_stages, uint32_t flags,                   \
       uint32_t num_memory, const VkMemoryBarrier *memory, uint32_t num_buffer, const void *buffer,          \
       uint32_t num_image, const void *image))                                                               \
    X(void, CmdResetQueryPool, (VkCommandBuffer commands, VkQueryPool pool, uint32_t first, uint32_t count)) \
    X(void, CmdWriteTimestamp, (VkCommandBuffer commands, uint32_t stage, VkQueryPool pool, uint32_t query))

#define VK_FUNCTION_MEMBER(result, name, parameters) result(*name) parameters;

typedef VkFunction VkGetInstanceProcAddr(VkInstance instance, const char *name);

typedef struct qn__vk_instance_functions {
    VK_GLOBAL_FUNCTIONS(VK_FUNCTION_MEMBER)
    VK_INSTANCE_FUNCTIONS(VK_FUNCTION_MEMBER)
} qn__vk_instance_functions;

typedef struct qn__vk_device_functions {
    VK_DEVICE_FUNCTIONS(VK_FUNCTION_MEMBER)
} qn__vk_device_functions;

#endif
