/* What is known of emitted code beside its text: made by the emitter, kept in the disk cache, pointed to by the runtime
   and the backends. Its fields stand in code_info.def. */
#ifndef QN__CODE_INFO_H
#define QN__CODE_INFO_H

#include <stdbool.h>
#include <stddef.h>

#include "emit/gpu_abi.h"

enum { QN__MAX_ARGS_SIZE = 64 << 10 }; /* bytes of a kernel's argument block; targets may allow fewer */

typedef enum qn__param_kind {
    QN__PARAM_VALUE,  /* scalar or vector */
    QN__PARAM_STRUCT, /* aggregate by value */
    QN__PARAM_BUFFER, /* __global or __constant pointer */
    QN__PARAM_LOCAL   /* __local pointer: its size is given at launch */
} qn__param_kind;

#define QN__DECLARE_NUMBER(type, name) type name;
#define QN__DECLARE_TEXT(type, name)   const char *name;
#define QN__DECLARE_SIZES(type, name)  uint32_t name[3];
#define QN__DECLARE_BYTES(type, name)                                                                        \
    const uint8_t *name;                                                                                     \
    uint64_t name##_size;
#define QN__DECLARE_WORDS(type, name)                                                                        \
    const uint32_t *name;                                                                                    \
    uint32_t num_##name;
#define QN__DECLARE_TEXTS(type, name)                                                                        \
    const char *const *name;                                                                                 \
    uint32_t num_##name;
#define QN__DECLARE_LIST(type, name)                                                                         \
    const qn__##type *name;                                                                                  \
    uint32_t num_##name;

typedef struct qn__param_info {
#define PARAM_FACT(shape, type, name, doc) QN__DECLARE_##shape(type, name)
#include "emit/code_info.def"
} qn__param_info;

typedef struct qn__kernel_info {
#define KERNEL_FACT(shape, type, name, doc) QN__DECLARE_##shape(type, name)
#include "emit/code_info.def"
} qn__kernel_info;

/* The parameters of the source: what a program adds to a kernel's is behind them. */
static inline uint32_t qn__source_params(const qn__kernel_info *info) {
    uint32_t count = info->num_params;
    while (count && (info->params[count - 1].is_state || info->params[count - 1].is_faults ||
                     info->params[count - 1].extent_of))
        count--;
    return count;
}

typedef struct qn__refusal {
#define REFUSAL_FACT(shape, type, name, doc) QN__DECLARE_##shape(type, name)
#include "emit/code_info.def"
} qn__refusal;

typedef struct qn__code_info {
#define CODE_FACT(shape, type, name, doc) QN__DECLARE_##shape(type, name)
#include "emit/code_info.def"
} qn__code_info;

/* The kernels of the source, which come first. */
static inline uint32_t qn__source_kernels(const qn__code_info *info) {
    uint32_t count = info->num_kernels;
    while (count && info->kernels[count - 1].is_checked) count--;
    return count;
}

#endif
