/* Compares the numbers and layouts in src/backend/cuda/driver.h with a toolkit's cuda.h. */
#include <cuda.h>
#include <stdio.h>

#include "backend/cuda/driver.h"

typedef struct fact {
    const char *name;
    long long theirs, ours;
} fact;

#define RESULT(name, value) {"CUDA_" #name, CUDA_##name, value},
#define NUMBER(name, value) {"CU_" #name, CU_##name, value},
#define PLACE(theirs, ours)                                                                                  \
    {"CUmemPoolProps." #theirs, offsetof(CUmemPoolProps, theirs), offsetof(qn__cu_pool_props, ours)},

static const fact facts[] = {
    QN__CU_RESULTS(RESULT) QN__CU_NUMBERS(NUMBER) PLACE(allocType, allocation_type)
        PLACE(handleTypes, handle_types) PLACE(location.type, location.type) PLACE(location.id, location.id)
            PLACE(win32SecurityAttributes, security) PLACE(maxSize, max_size) PLACE(usage, usage)
                PLACE(reserved, reserved){"sizeof(CUmemPoolProps)", sizeof(CUmemPoolProps),
                                          sizeof(qn__cu_pool_props)},
    {"sizeof(CUmemAllocationProp)", sizeof(CUmemAllocationProp), sizeof(qn__cu_allocation_props)},
    {"CUmemAllocationProp.allocFlags", offsetof(CUmemAllocationProp, allocFlags),
     offsetof(qn__cu_allocation_props, flags)},
    {"CUmemAllocationProp.location", offsetof(CUmemAllocationProp, location),
     offsetof(qn__cu_allocation_props, location)},
    {"sizeof(CUDA_EXTERNAL_MEMORY_HANDLE_DESC)", sizeof(CUDA_EXTERNAL_MEMORY_HANDLE_DESC),
     sizeof(qn__cu_external_desc)},
    {"CUDA_EXTERNAL_MEMORY_HANDLE_DESC.handle", offsetof(CUDA_EXTERNAL_MEMORY_HANDLE_DESC, handle),
     offsetof(qn__cu_external_desc, handle)},
    {"CUDA_EXTERNAL_MEMORY_HANDLE_DESC.size", offsetof(CUDA_EXTERNAL_MEMORY_HANDLE_DESC, size),
     offsetof(qn__cu_external_desc, size)},
    {"sizeof(CUDA_EXTERNAL_MEMORY_BUFFER_DESC)", sizeof(CUDA_EXTERNAL_MEMORY_BUFFER_DESC),
     sizeof(qn__cu_external_range)},
    {"sizeof(CUmemGenericAllocationHandle)", sizeof(CUmemGenericAllocationHandle), sizeof(qn__cu_allocation)},
    {"sizeof(CUmemAccessDesc)", sizeof(CUmemAccessDesc), sizeof(qn__cu_access)},
    {"CUmemAccessDesc.flags", offsetof(CUmemAccessDesc, flags), offsetof(qn__cu_access, flags)},
    {"sizeof(CUdeviceptr)", sizeof(CUdeviceptr), sizeof(qn__cu_address)},
    {"sizeof(CUdevice)", sizeof(CUdevice), sizeof(qn__cu_device)},
    {"sizeof(CUresult)", sizeof(CUresult), sizeof(qn__cu_result)},
    {"sizeof(CUuuid)", sizeof(CUuuid), 16},
    {"sizeof(CUDA_KERNEL_NODE_PARAMS_v1)", sizeof(CUDA_KERNEL_NODE_PARAMS_v1), sizeof(qn__cu_kernel_node)},
    {"CUDA_KERNEL_NODE_PARAMS_v1.gridDimX", offsetof(CUDA_KERNEL_NODE_PARAMS_v1, gridDimX),
     offsetof(qn__cu_kernel_node, grid)},
    {"CUDA_KERNEL_NODE_PARAMS_v1.blockDimX", offsetof(CUDA_KERNEL_NODE_PARAMS_v1, blockDimX),
     offsetof(qn__cu_kernel_node, block)},
    {"CUDA_KERNEL_NODE_PARAMS_v1.sharedMemBytes", offsetof(CUDA_KERNEL_NODE_PARAMS_v1, sharedMemBytes),
     offsetof(qn__cu_kernel_node, shared)},
    {"sizeof(CUDA_MEMCPY3D)", sizeof(CUDA_MEMCPY3D), sizeof(qn__cu_copy_node)},
    {"CUDA_MEMCPY3D.srcDevice", offsetof(CUDA_MEMCPY3D, srcDevice), offsetof(qn__cu_copy_node, from.device)},
    {"CUDA_MEMCPY3D.dstDevice", offsetof(CUDA_MEMCPY3D, dstDevice), offsetof(qn__cu_copy_node, to.device)},
    {"CUDA_MEMCPY3D.WidthInBytes", offsetof(CUDA_MEMCPY3D, WidthInBytes), offsetof(qn__cu_copy_node, width)},
    {"CUDA_KERNEL_NODE_PARAMS_v1.kernelParams", offsetof(CUDA_KERNEL_NODE_PARAMS_v1, kernelParams),
     offsetof(qn__cu_kernel_node, params)},
};

int main(void) {
    int wrong = 0;
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++) {
        if (facts[i].theirs == facts[i].ours) continue;
        printf("%s is %lld, not %lld\n", facts[i].name, facts[i].theirs, facts[i].ours);
        wrong = 1;
    }
    return wrong;
}
