/* The files of kernels/ inside the library, made by cmake/kernels.cmake. */
#ifndef QN__KERNELS_TEXTS_H
#define QN__KERNELS_TEXTS_H

#include <quern/quern.h>

typedef struct qn__text {
    const char *name; /* its path under kernels/ */
    const char *text;
    const qn_header *headers; /* as a program of its folder includes them */
    size_t num_headers;
} qn__text;

/* NULL when there is no such file. */
const qn__text *qn__text_find(const char *name);

#endif
