/* Tensors as the tile copies of compute capability 9.0 want them. */
#include <string.h>

#include "backend/cuda/cuda.h"

qn_status qn__cuda_tensor_map(qn__gpu *gpu, uint64_t address, const qn_tensor_desc *desc, qn_tensor_map *map,
                              char *why) {
    enum { SWIZZLED_ROW = 128, RANK = 3 };
    static const int types[] = {[1] = QN__CU_TENSOR_MAP_DATA_TYPE_UINT8,
                                [2] = QN__CU_TENSOR_MAP_DATA_TYPE_UINT16,
                                [4] = QN__CU_TENSOR_MAP_DATA_TYPE_UINT32,
                                [8] = QN__CU_TENSOR_MAP_DATA_TYPE_UINT64};
    static const unsigned steps[RANK] = {1, 1, 1};
    const bool swizzled = desc->tile[0] * desc->element_size == SWIZZLED_ROW;
    _Alignas(64) qn_tensor_map made;
    if (qn__is_lost(&gpu->loss)) return qn__lost(&gpu->loss, why);
    const bool entered = qn__cuda_enter(gpu);
    qn__cu_result result =
        gpu->cu->tensor_map(&made, types[desc->element_size], RANK, (void *)(uintptr_t)address, desc->sizes,
                            desc->strides, desc->tile, steps, QN__CU_TENSOR_MAP_INTERLEAVE_NONE,
                            swizzled ? QN__CU_TENSOR_MAP_SWIZZLE_128B : QN__CU_TENSOR_MAP_SWIZZLE_NONE,
                            QN__CU_TENSOR_MAP_L2_PROMOTION_L2_256B, QN__CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    qn__cuda_leave(gpu, entered);
    if (result) return qn__cuda_fail(gpu, result, "a tensor map", why);
    *map = made;
    return QN_OK;
}
