/* Tensors of arrays in host memory: what states ask of them. */
#ifndef QN__TENSOR_HOST_H
#define QN__TENSOR_HOST_H

#include <quern/files.h>

/* Whether tensors can be made of such elements. */
bool qn__can_load(qn_encoding encoding);

#endif
