/* What the files of this room share. It sees the public headers only. */
#ifndef QN__NN_H
#define QN__NN_H

#include <quern/nn.h>

/* Sets the sentence of the tensors' context and gives the status. */
qn_status qn__nn_fail(qn_tensors *tensors, qn_status status, const char *format, ...);
/* QN_OK for an object, tensors and a descriptor that are there. */
qn_status qn__nn_check(const void *object, qn_tensors *tensors, const void *desc, const char *function);
/* Begins the scope in which a module's parameters are made, where none of `sizes` is 0. A name NULL ends them. */
typedef struct qn__nn_size {
    const char *name;
    uint64_t size;
} qn__nn_size;
qn_status qn__nn_begin(qn_tensors *tensors, const qn__nn_size *sizes, const char *function);

/* Ends that scope; after a failure releases what it has. Gives the status. */
qn_status qn__nn_made(qn_module *module, qn_status status);
/* A tensor of [channels] as [channels, 1, ...], to go with one of `rank` dimensions whose channels are dimension 1. */
qn_tensor *qn__nn_by_channel(qn_tensor *x, uint32_t rank);
/* Uniform from -bound to bound. */
qn_tensor *qn__nn_uniform(qn_tensors *tensors, qn_element type, qn_shape shape, double bound);
/* x W^T + bias along the last dimension; `bias` may be NULL. */
qn_tensor *qn__nn_project(qn_tensor *x, qn_tensor *weight, qn_tensor *bias);
/* x, in which elements have become 0 with this probability, the others divided by what is left of 1. */
qn_tensor *qn__nn_drop(qn_tensors *tensors, qn_tensor *x, double probability);
/* The result with its sum or mean, as asked for. */
qn_tensor *qn__nn_reduced(qn_tensor *losses, qn_loss_result result);

/* qn_optimizer_step where the tensor, without dimensions, is true; NULL: without asking. `more`: other assigned tensors that are asked for with it. */
qn_status qn__optimizer_step_if(qn_optimizer *optimizer, qn_tensor *if_true, qn_tensor *const *more,
                                uint32_t count);
/* The direction of Muon for a gradient of two or more dimensions. */
qn_tensor *qn__nn_orthogonal(qn_tensor *x);

#endif
