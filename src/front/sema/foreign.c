/* Words of CUDA in OpenCL C: a hint with the word that is meant. */
#include "front/parse/parser.h"

#include <string.h>

typedef enum foreign_kind {
    FOREIGN_SPECIFIER, /* stands where a declaration begins */
    FOREIGN_NAME       /* a variable, type or function */
} foreign_kind;

static const struct foreign_row {
    const char *word, *instead;
    foreign_kind kind;
} foreign_rows[] = {
    {"__global__", "kernel", FOREIGN_SPECIFIER},
    {"__device__", "nothing, for a function; __constant or __global, for a variable", FOREIGN_SPECIFIER},
    {"__host__", "nothing: the file holds the device's functions only", FOREIGN_SPECIFIER},
    {"__shared__", "local", FOREIGN_SPECIFIER},
    {"__constant__", "constant", FOREIGN_SPECIFIER},
    {"__managed__", "global", FOREIGN_SPECIFIER},
    {"__forceinline__", "inline", FOREIGN_SPECIFIER},
    {"__launch_bounds__", "__attribute__((reqd_work_group_size(x, y, z)))", FOREIGN_SPECIFIER},
    {"threadIdx", "get_local_id(0) for .x, 1 for .y, 2 for .z", FOREIGN_NAME},
    {"blockIdx", "get_group_id(0) for .x, 1 for .y, 2 for .z", FOREIGN_NAME},
    {"blockDim", "get_local_size(0) for .x, 1 for .y, 2 for .z", FOREIGN_NAME},
    {"gridDim", "get_num_groups(0) for .x, 1 for .y, 2 for .z", FOREIGN_NAME},
    {"warpSize", "get_max_sub_group_size()", FOREIGN_NAME},
    {"dim3", "uint3", FOREIGN_NAME},
    {"__half", "half", FOREIGN_NAME},
    {"__nv_bfloat16", "qn_bf16", FOREIGN_NAME},
    {"__nv_bfloat162", "qn_bf16x2", FOREIGN_NAME},
    {"__nv_fp8_e4m3", "qn_e4m3", FOREIGN_NAME},
    {"__nv_fp8_e5m2", "qn_e5m2", FOREIGN_NAME},
    {"__float2bfloat16", "convert_qn_bf16(x)", FOREIGN_NAME},
    {"__bfloat162float", "convert_float(x)", FOREIGN_NAME},
    {"__syncthreads", "barrier(CLK_LOCAL_MEM_FENCE)", FOREIGN_NAME},
    {"__syncwarp", "sub_group_barrier(CLK_LOCAL_MEM_FENCE)", FOREIGN_NAME},
    {"__threadfence", "mem_fence(CLK_GLOBAL_MEM_FENCE)", FOREIGN_NAME},
    {"__threadfence_block", "mem_fence(CLK_LOCAL_MEM_FENCE)", FOREIGN_NAME},
    {"__shfl_sync", "sub_group_shuffle(value, lane)", FOREIGN_NAME},
    {"__shfl_xor_sync", "sub_group_shuffle_xor(value, mask)", FOREIGN_NAME},
    {"__shfl_up_sync", "sub_group_shuffle_up(value, by)", FOREIGN_NAME},
    {"__shfl_down_sync", "sub_group_shuffle_down(value, by)", FOREIGN_NAME},
    {"__ballot_sync", "sub_group_ballot(condition)", FOREIGN_NAME},
    {"__any_sync", "sub_group_any(condition)", FOREIGN_NAME},
    {"__all_sync", "sub_group_all(condition)", FOREIGN_NAME},
    {"__popc", "popcount(x)", FOREIGN_NAME},
    {"__clz", "clz(x)", FOREIGN_NAME},
    {"__ldg", "*pointer, with the parameter declared const and restrict", FOREIGN_NAME},
    {"__fdividef", "native_divide(x, y)", FOREIGN_NAME},
    {"__expf", "native_exp(x)", FOREIGN_NAME},
    {"__float_as_int", "as_int(x)", FOREIGN_NAME},
    {"__int_as_float", "as_float(x)", FOREIGN_NAME},
    {"atomicAdd", "atomic_add(pointer, value)", FOREIGN_NAME},
    {"atomicSub", "atomic_sub(pointer, value)", FOREIGN_NAME},
    {"atomicMin", "atomic_min(pointer, value)", FOREIGN_NAME},
    {"atomicMax", "atomic_max(pointer, value)", FOREIGN_NAME},
    {"atomicExch", "atomic_xchg(pointer, value)", FOREIGN_NAME},
    {"atomicCAS", "atomic_cmpxchg(pointer, expected, value)", FOREIGN_NAME},
};

static const struct foreign_row *find_row(const front_name *name) {
    for (size_t i = 0; i < QN__COUNT(foreign_rows); i++)
        if (!strcmp(foreign_rows[i].word, name->data)) return &foreign_rows[i];
    return NULL;
}

bool qn__is_foreign_specifier(front_parser *p, const front_token *token) {
    if (token->kind != FRONT_T_IDENTIFIER || token->len < 3 || memcmp(token->name->data, "__", 2))
        return false;
    if (qn__lookup(p, token->name)) return false;
    const struct foreign_row *row = find_row(token->name);
    return row && row->kind == FOREIGN_SPECIFIER;
}

bool qn__foreign_word(front_parser *p, front_name *name, front_loc loc) {
    const struct foreign_row *row = find_row(name);
    if (!row) return false;
    if (name->is_reported) return true;
    name->is_reported = true;
    qn__diag_error(p->diag, loc, "'%s' is a word of CUDA, not of OpenCL C", name->data);
    qn__diag_range(p->diag, loc, name->len);
    qn__diag_hint(p->diag, "write %s", row->instead);
    return true;
}
