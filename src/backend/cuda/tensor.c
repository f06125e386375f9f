/* Tensors as the tile copies of compute capability 9.0 want them. */
#include <string.h>

#include "backend/cuda/cuda.h"

enum { RANK = 3, WINDOW_RANK = 4, SWIZZLED_ROW = 128 };

static const int types[] = {[1] = QN__CU_TENSOR_MAP_DATA_TYPE_UINT8,
                            [2] = QN__CU_TENSOR_MAP_DATA_TYPE_UINT16,
                            [4] = QN__CU_TENSOR_MAP_DATA_TYPE_UINT32,
                            [8] = QN__CU_TENSOR_MAP_DATA_TYPE_UINT64};

static int swizzle_of(uint32_t row_bytes) {
    return row_bytes == SWIZZLED_ROW ? QN__CU_TENSOR_MAP_SWIZZLE_128B : QN__CU_TENSOR_MAP_SWIZZLE_NONE;
}

qn_status qn__cuda_tensor_map(qn__gpu *gpu, uint64_t address, const qn_tensor_desc *desc, qn_tensor_map *map,
                              char *why) {
    static const unsigned steps[RANK] = {1, 1, 1};
    _Alignas(64) qn_tensor_map made;
    if (qn__is_lost(&gpu->loss)) return qn__lost(&gpu->loss, why);
    const bool entered = qn__cuda_enter(gpu);
    qn__cu_result result = gpu->cu->tensor_map(
        &made, types[desc->element_size], RANK, (void *)(uintptr_t)address, desc->sizes, desc->strides,
        desc->tile, steps, QN__CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle_of(desc->tile[0] * desc->element_size),
        QN__CU_TENSOR_MAP_L2_PROMOTION_L2_256B, QN__CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    qn__cuda_leave(gpu, entered);
    if (result) return qn__cuda_fail(gpu, result, "a tensor map", why);
    *map = made;
    return QN_OK;
}

/* The driver counts the window's last position from the image's last pixel. */
static void corners_of(const qn_window_desc *desc, int lower[2], int upper[2]) {
    for (int i = 0; i < 2; i++) {
        lower[i] = desc->first[i];
        upper[i] = (int)(desc->first[i] + (int64_t)(desc->positions[i] - 1) * desc->steps[i] -
                         ((int64_t)desc->sizes[i + 1] - 1));
    }
}

qn_status qn__cuda_window_map(qn__gpu *gpu, uint64_t address, const qn_window_desc *desc, qn_tensor_map *map,
                              char *why) {
    const unsigned steps[WINDOW_RANK] = {1, desc->steps[0], desc->steps[1], 1};
    int lower[2], upper[2];
    corners_of(desc, lower, upper);
    _Alignas(64) qn_tensor_map made;
    if (qn__is_lost(&gpu->loss)) return qn__lost(&gpu->loss, why);
    const bool entered = qn__cuda_enter(gpu);
    qn__cu_result result =
        gpu->cu->window_map(&made, types[desc->element_size], WINDOW_RANK, (void *)(uintptr_t)address,
                            desc->sizes, desc->strides, lower, upper, desc->tile[0], desc->tile[1], steps,
                            QN__CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle_of(desc->tile[0] * desc->element_size),
                            QN__CU_TENSOR_MAP_L2_PROMOTION_L2_256B, QN__CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    qn__cuda_leave(gpu, entered);
    if (result) return qn__cuda_fail(gpu, result, "a window map", why);
    *map = made;
    return QN_OK;
}
