/* Neural networks of tensors: modules, losses and optimizers, in libquern_tensor.

       typedef struct model {
           qn_module module;
           qn_linear hidden, out;
       } model;

       qn_module_init(&m->module, t, NULL);
       qn_linear_init(&m->hidden, t, &(qn_linear_desc){.inputs = 64, .outputs = 32});
       qn_linear_init(&m->out, t, &(qn_linear_desc){.inputs = 32, .outputs = 10});
       qn_module_add(&m->module, "hidden", &m->hidden.module);
       qn_module_add(&m->module, "out", &m->out.module);

       qn_optimizer_init(&adam, &m->module, &(qn_optimizer_desc){.kind = QN_ADAM});
       qn_scope_begin(t);                                         // for each batch
       qn_tensor *scores = qn_linear_forward(&m->out, qn_relu(qn_linear_forward(&m->hidden, x)));
       qn_backward(qn_cross_entropy(scores, labels, NULL));
       qn_optimizer_step(&adam);
       qn_scope_end(t);

   Conventions
   - A module is a struct of the program whose first member is a qn_module; it stays where it is from its init to its release, and takes no memory
   beside its tensors. So is a model. Modules have parameters, which are trained, buffers, which are not (running means), and other modules.
   - Names of parameters are those that PyTorch gives, so that its state dictionaries are read as they are.
   - Forward functions make tensors, as all ops do: a wrong shape shows in the tensor, or where its value is asked for.
   - Threads: as tensors. */
#ifndef QUERN_NN_H
#define QUERN_NN_H

#include <quern/files.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- modules ---- */

typedef struct qn_module qn_module;

/* What modules of a kind have in common. `forward`: NULL where they take other than one tensor. */
typedef struct qn_module_type {
    const char *name;
    qn_tensor *(*forward)(qn_module *module, qn_tensor *x);
} qn_module_type;

enum { QN_NAME_ROOM = 32, QN_PARAMETER_STATES = 3 };

/* A tensor that a module keeps, and what the optimizer that trains it keeps with it. */
typedef struct qn_parameter {
    qn_tensor *tensor; /* NULL: there is none (a bias that was not asked for) */
    bool trained;      /* else it is a buffer */
    qn_tensor *states[QN_PARAMETER_STATES];
    char name[QN_NAME_ROOM];
    struct qn_parameter *next;
} qn_parameter;

/* Called behind a module's forward function: gets the tensor that went in, of several the first, and what came out, and gives what takes its
   place, or NULL. With qn_hook_gradient in it, it sees the gradients. A step calls it when it is recorded. The program's memory, as modules. */
typedef struct qn_module_hook {
    qn_tensor *(*function)(void *user, qn_module *module, qn_tensor *x, qn_tensor *y);
    void *user;
    struct qn_module_hook *next; /* the library's */
} qn_module_hook;

struct qn_module {
    qn_tensors *tensors;
    const qn_module_type *type;
    bool training; /* true at first; see qn_module_train */
    char name[QN_NAME_ROOM];
    qn_parameter *parameters, *last_parameter;
    qn_module *children, *last_child, *next;
    qn_module_hook *hooks;
};

/* For modules of one's own; those below have functions that call it. `type` may be NULL. */
QN_API void qn_module_init(qn_module *module, qn_tensors *tensors, const qn_module_type *type);
/* A parameter, or with `trained` false a buffer, of this first value, which the module retains. Errors: QN_ERROR_NULL, QN_ERROR_ARGUMENT (a name
   that is empty, too long, has a '.', or is there already), and the tensor's failure. */
QN_API qn_status qn_module_add_parameter(qn_module *module, const char *name, qn_parameter *parameter,
                                         qn_tensor *value, bool trained);
/* A module within. It may have one parent. Errors: as above. */
QN_API qn_status qn_module_add(qn_module *module, const char *name, qn_module *child);
/* Releases the tensors of the module and of all within. It may be initialised anew then. */
QN_API void qn_module_release(qn_module *module);
/* What its type makes of one tensor; a failed tensor where the type has no function for that. */
QN_API qn_tensor *qn_module_forward(qn_module *module, qn_tensor *x);
/* What forward functions begin and end with, those of one's own modules too: messages name the module in between, and its hooks get the result. */
QN_API void qn_module_begin(const qn_module *module);
QN_API qn_tensor *qn_module_end(qn_module *module, qn_tensor *x, qn_tensor *y);
/* Hooks are called in the order in which they were added. */
QN_API void qn_module_add_hook(qn_module *module, qn_module_hook *hook);
QN_API void qn_module_remove_hook(qn_module *module, qn_module_hook *hook);
/* Training, or evaluation: for it and all within. Dropout and batch normalisation ask for it. */
QN_API void qn_module_train(qn_module *module, bool training);
/* How many elements its trained parameters have. */
QN_API uint64_t qn_module_count(const qn_module *module);

/* Called for each parameter and buffer of a module and of those within, in the order in which they were added; `name` is "encoder.2.weight", valid during the
   call. What it returns but QN_OK ends the visit, and is returned. */
typedef qn_status qn_parameter_visitor(void *user, const char *name, qn_parameter *parameter);
QN_API qn_status qn_module_visit(qn_module *module, qn_parameter_visitor *visitor, void *user);
/* qn_realize of all parameters and buffers: of caches and running values before a step that assigns them is recorded. */
QN_API qn_status qn_module_realize(qn_module *module);
/* Forgets the gradients that qn_backward has added up. */
QN_API void qn_module_clear_gradients(qn_module *module);
/* A table of the modules, their parameters and sizes, line by line. */
QN_API qn_status qn_module_summary(qn_module *module, qn_text_callback *callback, void *user);

/* Values of all parameters and buffers to a file, as qn_save, and from one, as qn_load with the same descriptor (NULL: none). Errors: as there;
   after an error the module is as it was. */
QN_API qn_status qn_module_save(qn_module *module, const char *path);
QN_API qn_status qn_module_load(qn_module *module, qn_archive *archive, const qn_load_desc *desc);

/* ---- layers ---- */

/* In all: zero is the default; `type` is that of the parameters, QN_F32 by default. Errors of init functions: QN_ERROR_NULL, QN_ERROR_ARGUMENT
   (sizes that are 0, with a sentence), QN_ERROR_OUT_OF_MEMORY. Nothing has to be released after an error. */

/* x W^T + b, for x of [..., inputs]; weight of [outputs, inputs], uniform within 1 / sqrt(inputs), as is the bias. */
typedef struct qn_linear_desc {
    uint64_t inputs, outputs;
    qn_element type;
    bool no_bias;
} qn_linear_desc;
typedef struct qn_linear {
    qn_module module;
    qn_parameter weight, bias;
} qn_linear;
QN_API qn_status qn_linear_init(qn_linear *linear, qn_tensors *tensors, const qn_linear_desc *desc);
QN_API qn_tensor *qn_linear_forward(qn_linear *linear, qn_tensor *x);

/* qn_convolution with weights of [outputs, inputs / groups, window...], uniform within 1 / sqrt of the elements that a result is a sum of, as is the
   bias. `dimensions`: of an image, as many sizes of the window. `transposed`: qn_transposed_convolution, with weights of [inputs, outputs / groups, window...].
   Defaults: 2 dimensions; not transposed. */
typedef struct qn_convolution_layer_desc {
    uint64_t inputs, outputs;
    uint32_t dimensions, window[3];
    qn_convolution_desc convolution;
    qn_element type;
    bool no_bias;
    bool transposed;
} qn_convolution_layer_desc;
typedef struct qn_convolution_layer {
    qn_module module;
    qn_parameter weight, bias;
    qn_convolution_desc convolution;
    bool transposed;
} qn_convolution_layer;
QN_API qn_status qn_convolution_layer_init(qn_convolution_layer *layer, qn_tensors *tensors,
                                           const qn_convolution_layer_desc *desc);
QN_API qn_tensor *qn_convolution_layer_forward(qn_convolution_layer *layer, qn_tensor *x);

/* qn_max_pool, or with `average` qn_average_pool, as a module. */
typedef struct qn_pool_layer {
    qn_module module;
    qn_pool_desc pool;
    bool average;
} qn_pool_layer;
QN_API void qn_pool_layer_init(qn_pool_layer *layer, qn_tensors *tensors, const qn_pool_desc *desc,
                               bool average);

/* A function of one tensor as a module, for qn_sequential: qn_relu, qn_gelu, ... */
typedef struct qn_function_layer {
    qn_module module;
    qn_tensor *(*function)(qn_tensor *x);
} qn_function_layer;
QN_API void qn_function_layer_init(qn_function_layer *layer, qn_tensors *tensors,
                                   qn_tensor *(*function)(qn_tensor *x));

/* In training elements become 0 with this probability, the others are divided by what is left of 1. */
typedef struct qn_dropout {
    qn_module module;
    double probability;
} qn_dropout;
QN_API void qn_dropout_init(qn_dropout *dropout, qn_tensors *tensors, double probability);
QN_API qn_tensor *qn_dropout_forward(qn_dropout *dropout, qn_tensor *x);

/* Its children one after the other: all have a forward function. They are named "0", "1", ... Errors: as qn_module_add. */
QN_API void qn_sequential_init(qn_module *module, qn_tensors *tensors);
QN_API qn_status qn_sequential_add(qn_module *module, qn_module *child);

/* (x - mean) / sqrt(variance + epsilon) along the last dimension, of `size`, times weight plus bias; of `root_mean_square` x / sqrt(mean(x^2) + epsilon),
   without a bias. Default of epsilon: 1e-5, of root_mean_square 1e-6. */
typedef struct qn_norm_layer_desc {
    uint64_t size;
    double epsilon;
    qn_element type;
    bool root_mean_square;
    bool no_bias;
} qn_norm_layer_desc;
typedef struct qn_norm_layer {
    qn_module module;
    qn_parameter weight, bias;
    double epsilon;
    bool root_mean_square;
} qn_norm_layer;
QN_API qn_status qn_norm_layer_init(qn_norm_layer *norm, qn_tensors *tensors, const qn_norm_layer_desc *desc);
QN_API qn_tensor *qn_norm_layer_forward(qn_norm_layer *norm, qn_tensor *x);

/* Of x of [n, channels, ...]: each group of channels of each of the n as a norm layer; weight and bias of [channels]. groups has to divide
   channels. */
typedef struct qn_group_norm_desc {
    uint64_t channels, groups;
    double epsilon;
    qn_element type;
} qn_group_norm_desc;
typedef struct qn_group_norm {
    qn_module module;
    qn_parameter weight, bias;
    uint64_t groups;
    double epsilon;
} qn_group_norm;
QN_API qn_status qn_group_norm_init(qn_group_norm *norm, qn_tensors *tensors, const qn_group_norm_desc *desc);
QN_API qn_tensor *qn_group_norm_forward(qn_group_norm *norm, qn_tensor *x);

/* Of x of [n, channels, ...]: each channel over all else. In training by its own mean and variance, of which running_mean and running_var keep a mean that
   forgets `momentum` of what it was; in evaluation by those. Defaults: momentum 0.1, epsilon 1e-5. */
typedef struct qn_batch_norm_desc {
    uint64_t channels;
    double epsilon, momentum;
    qn_element type;
} qn_batch_norm_desc;
typedef struct qn_batch_norm {
    qn_module module;
    qn_parameter weight, bias, running_mean, running_var;
    double epsilon, momentum;
} qn_batch_norm;
QN_API qn_status qn_batch_norm_init(qn_batch_norm *norm, qn_tensors *tensors, const qn_batch_norm_desc *desc);
QN_API qn_tensor *qn_batch_norm_forward(qn_batch_norm *norm, qn_tensor *x);

/* ---- embeddings and places ---- */

/* The rows of `weight`, [count, size], that indices name: [...] becomes [..., size]. The row `padding`, where there is one, is zeros at first and gets no
   gradient. The other numbers are normal. */
typedef struct qn_embedding_desc {
    uint64_t count, size;
    bool has_padding;
    uint64_t padding;
    qn_element type;
} qn_embedding_desc;
typedef struct qn_embedding {
    qn_module module;
    qn_parameter weight;
    bool has_padding;
    uint64_t padding;
} qn_embedding;
QN_API qn_status qn_embedding_init(qn_embedding *embedding, qn_tensors *tensors,
                                   const qn_embedding_desc *desc);
QN_API qn_tensor *qn_embedding_forward(qn_embedding *embedding, qn_tensor *indices);

/* Places as vectors (Vaswani and others, 2017): element 2i of `size` is sin(p / 10000^(2i / size)), 2i + 1 the cosine. [...] becomes [..., size]. */
QN_API qn_tensor *qn_sinusoidal_positions(qn_tensor *positions, uint64_t size, qn_element type);
/* Turns pairs of elements of x of [..., length, size] by angles p / base^(2i / size) (Su and others, 2021): elements i and i + size / 2, or with
   `neighbours` 2i and 2i + 1. Positions are broadcast to [..., length]; NULL: 0, 1, ... A base of 0 is 10000. */
QN_API qn_tensor *qn_rotary(qn_tensor *x, qn_tensor *positions, double base, bool neighbours);

/* Adds to x of [..., length, size] the vectors of its places: sines, or rows of `weight`, [length, size], that are learnt, normal of deviation 0.02 at first.
   `places`, [length], NULL: 0, 1, ... */
typedef struct qn_positions_desc {
    uint64_t length, size; /* length: of those that are learnt */
    bool learned;
    qn_element type;
} qn_positions_desc;
typedef struct qn_positions {
    qn_module module;
    qn_parameter weight;
    uint64_t size;
} qn_positions;
QN_API qn_status qn_positions_init(qn_positions *positions, qn_tensors *tensors,
                                   const qn_positions_desc *desc);
QN_API qn_tensor *qn_positions_forward(qn_positions *positions, qn_tensor *x, qn_tensor *places);

/* ---- attention ---- */

/* Keys and values of [batches, heads, capacity, size] for generation: those of new elements are put behind those of the ones before, so that only the new
   elements are computed. `position`, an integer tensor of one element, says how many there are; as an input of a step it makes one recording do
   for all places. What is behind the capacity is lost. They are buffers of the module, and go into state dictionaries. */
typedef struct qn_kv_cache_desc {
    uint64_t batches, heads, capacity, size;
    qn_element type;
} qn_kv_cache_desc;
typedef struct qn_kv_cache {
    qn_module module;
    qn_parameter keys, values;
    uint64_t capacity;
} qn_kv_cache;
QN_API qn_status qn_kv_cache_init(qn_kv_cache *cache, qn_tensors *tensors, const qn_kv_cache_desc *desc);
/* k and v, [batches, heads, length, size], become those from `position` on, by qn_assign. Enqueues what makes the ones that were put before, which a step
   wants to be done before it (qn_module_realize). */
QN_API qn_status qn_kv_cache_put(qn_kv_cache *cache, qn_tensor *k, qn_tensor *v, qn_tensor *position);
/* For qn_attention of so many queries from `position` on: [queries, capacity], true where a query sees a key, up to its own. */
QN_API qn_tensor *qn_kv_cache_mask(qn_kv_cache *cache, uint64_t queries, qn_tensor *position);

/* PyTorch's MultiheadAttention with batch_first, of [batches, length, size]: queries, keys and values are projected, split into heads, and go through
   qn_attention; out_proj joins what comes out. in_proj_weight has the projections one behind the other; where keys are of key_size, or values of
   value_size, there are q_proj_weight, k_proj_weight and v_proj_weight. Neighbouring heads share `key_heads` heads of keys and values. `rotary`, a base: queries
   and keys are turned by qn_rotary. Defaults: key_heads as heads; sizes all `size`; no dropout of weights; not rotary. */
typedef struct qn_multi_head_desc {
    uint64_t size, heads, key_heads, key_size, value_size;
    double dropout, rotary;
    qn_element type;
    bool no_bias;
} qn_multi_head_desc;
typedef struct qn_multi_head {
    qn_module module;
    qn_parameter in_proj_weight, q_proj_weight, k_proj_weight, v_proj_weight, in_proj_bias;
    qn_linear out_proj;
    uint64_t heads, key_heads;
    double dropout, rotary;
} qn_multi_head;
QN_API qn_status qn_multi_head_init(qn_multi_head *heads, qn_tensors *tensors,
                                    const qn_multi_head_desc *desc);
/* How the elements of one call see each other: `causal` and `mask` as qn_attention has them (PyTorch's masks of bool are the other way
   round). With a cache, which wants the position, each sees all that were before, and itself. Defaults: all see all. */
typedef struct qn_attending {
    bool causal;
    qn_tensor *mask;
    qn_kv_cache *cache;
    qn_tensor *position;
} qn_attending;
/* `key` NULL: the query; `value` NULL: the key; `how` may be NULL. */
QN_API qn_tensor *qn_multi_head_forward(qn_multi_head *heads, qn_tensor *query, qn_tensor *key,
                                        qn_tensor *value, const qn_attending *how);

/* linear2(activation(linear1(x))); `gated`: linear2(activation(gate(x)) linear1(x)). Defaults: hidden of 4 size; qn_relu; no dropout, which is behind the activation. */
typedef struct qn_feed_forward_desc {
    uint64_t size, hidden;
    qn_tensor *(*activation)(qn_tensor *x);
    double dropout;
    qn_element type;
    bool gated, no_bias;
} qn_feed_forward_desc;
typedef struct qn_feed_forward {
    qn_module module;
    qn_linear linear1, linear2, gate;
    qn_tensor *(*activation)(qn_tensor *x);
    double dropout;
} qn_feed_forward;
QN_API qn_status qn_feed_forward_init(qn_feed_forward *feed, qn_tensors *tensors,
                                      const qn_feed_forward_desc *desc);
QN_API qn_tensor *qn_feed_forward_forward(qn_feed_forward *feed, qn_tensor *x);

/* PyTorch's TransformerEncoderLayer and TransformerDecoderLayer with batch_first: attention of its own, in a decoder that of the memory, and a feed-forward part,
   each added to what went in and normalised behind, or with `norm_first` before it. A model that continues text is encoder layers with
   `causal`, or a cache. Defaults: hidden 4 size; qn_relu; epsilon and root_mean_square as qn_norm_layer_desc; the others as qn_multi_head_desc. */
typedef struct qn_transformer_layer_desc {
    uint64_t size, heads, key_heads, hidden;
    double dropout, epsilon, rotary;
    qn_tensor *(*activation)(qn_tensor *x);
    qn_element type;
    bool norm_first, root_mean_square, no_bias;
} qn_transformer_layer_desc;
typedef struct qn_encoder_layer {
    qn_module module;
    qn_multi_head self_attn;
    qn_linear linear1, linear2;
    qn_norm_layer norms[2]; /* norm1, norm2 */
    qn_tensor *(*activation)(qn_tensor *x);
    double dropout;
    bool norm_first;
} qn_encoder_layer;
QN_API qn_status qn_encoder_layer_init(qn_encoder_layer *layer, qn_tensors *tensors,
                                       const qn_transformer_layer_desc *desc);
/* `how` may be NULL. */
QN_API qn_tensor *qn_encoder_layer_forward(qn_encoder_layer *layer, qn_tensor *x, const qn_attending *how);
typedef struct qn_decoder_layer {
    qn_module module;
    qn_multi_head self_attn, multihead_attn;
    qn_linear linear1, linear2;
    qn_norm_layer norms[3];
    qn_tensor *(*activation)(qn_tensor *x);
    double dropout;
    bool norm_first;
} qn_decoder_layer;
QN_API qn_status qn_decoder_layer_init(qn_decoder_layer *layer, qn_tensors *tensors,
                                       const qn_transformer_layer_desc *desc);
/* `memory`: what the encoder gave; memory_mask says what of it is seen. `how` and memory_mask may be NULL. */
QN_API qn_tensor *qn_decoder_layer_forward(qn_decoder_layer *layer, qn_tensor *x, qn_tensor *memory,
                                           const qn_attending *how, qn_tensor *memory_mask);

/* ---- recurrent networks ---- */

typedef enum qn_recurrent_kind { QN_RNN_TANH, QN_RNN_RELU, QN_GRU, QN_LSTM } qn_recurrent_kind;

enum { QN_RECURRENT_LAYERS = 8 };

/* As PyTorch's RNN, GRU and LSTM with batch_first, and their cells, whose names of parameters (weight_ih_l0_reverse, ...) and order of gates they have. Parameters are
   uniform within 1 / sqrt(hidden). `dropout`: of what is between layers. Defaults: one layer, in one direction; a cell has no more. */
typedef struct qn_recurrent_desc {
    qn_recurrent_kind kind;
    uint64_t inputs, hidden;
    uint32_t layers;
    bool both_directions, no_bias;
    double dropout;
    qn_element type;
} qn_recurrent_desc;
/* c: of QN_LSTM alone, else NULL. */
typedef struct qn_recurrent_state {
    qn_tensor *h, *c;
} qn_recurrent_state;

typedef struct qn_recurrent_cell {
    qn_module module;
    qn_parameter parameters[4];
    qn_recurrent_kind kind;
    uint64_t hidden;
} qn_recurrent_cell;
QN_API qn_status qn_recurrent_cell_init(qn_recurrent_cell *cell, qn_tensors *tensors,
                                        const qn_recurrent_desc *desc);
/* The state behind x of [batches, inputs]; `from`, the one before, of [batches, hidden], or NULL: zeros. */
QN_API qn_recurrent_state qn_recurrent_cell_forward(qn_recurrent_cell *cell, qn_tensor *x,
                                                    const qn_recurrent_state *from);

typedef struct qn_recurrent {
    qn_module module;
    qn_parameter parameters[QN_RECURRENT_LAYERS * 2 * 4];
    qn_recurrent_kind kind;
    uint64_t hidden;
    uint32_t layers, directions;
    double dropout;
} qn_recurrent;
QN_API qn_status qn_recurrent_init(qn_recurrent *recurrent, qn_tensors *tensors,
                                   const qn_recurrent_desc *desc);
/* x of [batches, length, inputs] becomes [batches, length, directions x hidden], that of the second direction behind. States are [layers x directions, batches,
   hidden]; `from` NULL: zeros; *last, where it is not NULL, becomes the state behind the last element. `lengths`, integers of [batches], where it is not
   NULL: elements behind a sequence's own length give zeros and do not change the state. */
QN_API qn_tensor *qn_recurrent_forward(qn_recurrent *recurrent, qn_tensor *x, const qn_recurrent_state *from,
                                       qn_tensor *lengths, qn_recurrent_state *last);

/* ---- losses ---- */

/* What becomes of the losses of the elements. */
typedef enum qn_loss_result { QN_LOSS_MEAN, QN_LOSS_SUM, QN_LOSS_EACH } qn_loss_result;

QN_API qn_tensor *qn_mse_loss(qn_tensor *x, qn_tensor *target, qn_loss_result result); /* (x - target)^2 */
QN_API qn_tensor *qn_l1_loss(qn_tensor *x, qn_tensor *target, qn_loss_result result);  /* |x - target| */
/* d^2 / 2 where |d| <= delta, else delta (|d| - delta / 2), for d = x - target. */
QN_API qn_tensor *qn_huber_loss(qn_tensor *x, qn_tensor *target, double delta, qn_loss_result result);
/* -(target log x + (1 - target) log(1 - x)), logarithms no less than -100; and for x before qn_sigmoid. */
QN_API qn_tensor *qn_bce_loss(qn_tensor *x, qn_tensor *target, qn_loss_result result);
QN_API qn_tensor *qn_bce_with_logits_loss(qn_tensor *x, qn_tensor *target, qn_loss_result result);
/* target (log target - x), for x logarithms of probabilities; 0 where the target is 0. */
QN_API qn_tensor *qn_kl_loss(qn_tensor *x, qn_tensor *target, qn_loss_result result);

/* Classes along dimension 1, or the only one. `target`: classes as integers, without that dimension; or probabilities of the shape of x. `smoothing` of each
   target is spread over all classes. Targets of class `ignored` do not count where `ignores` is set. `weights`, of [classes], or NULL; a mean is
   divided by their sum. Defaults: a mean, nothing smoothed or ignored. */
typedef struct qn_classes_desc {
    qn_loss_result result;
    double smoothing;
    bool ignores;
    int64_t ignored;
    qn_tensor *weights;
} qn_classes_desc;
/* -log(softmax(x)[target]). `desc` may be NULL. */
QN_API qn_tensor *qn_cross_entropy(qn_tensor *x, qn_tensor *target, const qn_classes_desc *desc);
/* -x[target], for x logarithms of probabilities. */
QN_API qn_tensor *qn_nll_loss(qn_tensor *x, qn_tensor *target, const qn_classes_desc *desc);

/* Minus the logarithm of the probability that a sequence reads as the target (connectionist temporal classification, Graves and others, 2006): x is logarithms of
   probabilities, [length, batches, classes], `targets` classes, [batches, room]. Equal neighbours are read as one, and `blank` as nothing. A mean is
   of losses divided by the lengths of their targets. What cannot be is infinite, or with `zero_impossible` 0. Defaults: blank is class 0; a mean; all
   sequences and targets are whole, else `lengths` and `target_lengths`, integers of [batches], say how much of them counts. `desc` may be NULL. */
typedef struct qn_ctc_desc {
    qn_loss_result result;
    int64_t blank;
    qn_tensor *lengths, *target_lengths;
    bool zero_impossible;
} qn_ctc_desc;
QN_API qn_tensor *qn_ctc_loss(qn_tensor *x, qn_tensor *targets, const qn_ctc_desc *desc);

/* ---- optimizers ---- */

typedef enum qn_optimizer_kind {
    QN_SGD,     /* states: the momentum */
    QN_ADAM,    /* Kingma and Ba, 2015; states: means of gradients and of their squares */
    QN_ADAMW,   /* Loshchilov and Hutter, 2019: decay apart from the gradient */
    QN_RMSPROP, /* Hinton; states: mean of squares, momentum */
    QN_ADAGRAD, /* Duchi, Hazan and Singer, 2011; states: sum of squares */
    QN_LION,    /* Chen and others, 2023; states: the momentum */
    /* Jordan and others, 2024: matrices, with further dimensions as part of the second, go by the momentum (Nesterov's) made orthogonal in five steps of Newton
       and Schulz, times 0.2 sqrt(the larger size), so that one rate suits all (Liu and others, 2025); other parameters as by QN_ADAMW. */
    QN_MUON,
    QN_OPTIMIZER_COUNT
} qn_optimizer_kind;

/* Defaults: `rate` 1e-3 (QN_SGD, QN_RMSPROP and QN_ADAGRAD 1e-2, QN_LION 1e-4); betas 0.9 and 0.999 (QN_LION 0.9 and 0.99; QN_RMSPROP's beta2, what it keeps of
   the mean: 0.99); epsilon 1e-8 (QN_ADAGRAD 1e-10); no decay (QN_ADAMW 1e-2, QN_MUON 0.1); no momentum (QN_MUON 0.95). A number that is to be 0 where the default is not: QN_NONE. */
#define QN_NONE (-1.0)
/* Parameters with numbers of their own: those whose names match (qn_pattern_matches), as "**.bias". Defaults: the optimizer's. */
typedef struct qn_optimizer_group {
    const char *name;
    double rate;  /* times the optimizer's; QN_NONE: they stay as they are */
    double decay; /* instead of the optimizer's */
} qn_optimizer_group;
typedef struct qn_optimizer_desc {
    qn_optimizer_kind kind;
    double rate, beta1, beta2, epsilon, decay, momentum;
    bool nesterov;                    /* QN_SGD with momentum */
    const qn_optimizer_group *groups; /* which have to stay; the first that matches counts */
    uint32_t num_groups;
} qn_optimizer_desc;

/* Trains the parameters of a module, and of those within, that require gradients when it is initialised. It keeps its states with them: one optimizer trains a
   parameter at a time. Of f16 and bf16 it keeps the values in f32 as a further state, and the parameters are those rounded: a value that is given to such a
   parameter (qn_module_load) has to be there before. */
typedef struct qn_optimizer {
    qn_module *module;
    qn_optimizer_desc desc; /* defaults filled in */
    qn_module
        own; /* what it keeps beside the parameters, as tensors without dimensions, so that recorded steps read it */
    qn_parameter rate, corrections[2];
} qn_optimizer;
/* Errors: QN_ERROR_NULL, QN_ERROR_ARGUMENT (a kind that is none, numbers out of range), QN_ERROR_OUT_OF_MEMORY. */
QN_API qn_status qn_optimizer_init(qn_optimizer *optimizer, qn_module *module, const qn_optimizer_desc *desc);
QN_API void qn_optimizer_release(qn_optimizer *optimizer);
/* The next step, of the gradients that qn_backward has added up, which are cleared. Enqueues the new values; in a
   qn_step it is part of the step. Parameters without a gradient stay as
   they are. */
QN_API qn_status qn_optimizer_step(qn_optimizer *optimizer);
/* Another rate from the next step on. */
QN_API qn_status qn_optimizer_set_rate(qn_optimizer *optimizer, double rate);
/* Scales all gradients so that the root of the sum of their squares is at most `most`; between qn_backward and qn_optimizer_step. Gives that root before. */
QN_API qn_tensor *qn_clip_gradients(qn_module *module, double most);
/* Each element of each gradient from -most to most. Errors: as qn_tensor_set_gradient. */
QN_API qn_status qn_clip_gradient_values(qn_module *module, double most);

/* ---- losses of narrow types ---- */

/* Gradients of f16 vanish below 6e-8 and overflow above 65504, so the loss is scaled: each `interval` steps by `growth` more, and by `backoff` where a gradient came out
   as no finite number; that step is left out. It is all decided on the device, so that it is part of a qn_step.
       qn_backward(qn_loss_scaler_scale(&scaler, loss));
       qn_loss_scaler_step(&scaler, &optimizer);
   Defaults: a scale of 65536, growth 2, backoff 0.5, interval 2000. */
typedef struct qn_loss_scaler_desc {
    double scale, growth, backoff;
    uint32_t interval;
} qn_loss_scaler_desc;
typedef struct qn_loss_scaler {
    qn_loss_scaler_desc desc;
    qn_module own;
    qn_parameter scale, good; /* and how many steps it was not left out since it grew */
    qn_tensor *finite; /* whether the gradients were that are divided by the scale already; NULL: none is */
} qn_loss_scaler;
/* `desc` may be NULL. Errors: QN_ERROR_NULL, QN_ERROR_ARGUMENT, QN_ERROR_OUT_OF_MEMORY. */
QN_API qn_status qn_loss_scaler_init(qn_loss_scaler *scaler, qn_tensors *tensors,
                                     const qn_loss_scaler_desc *desc);
QN_API void qn_loss_scaler_release(qn_loss_scaler *scaler);
QN_API qn_tensor *qn_loss_scaler_scale(qn_loss_scaler *scaler, qn_tensor *loss); /* in f32 at least */
/* Divides all gradients by the scale, before they are clipped; qn_loss_scaler_step does it otherwise. */
QN_API qn_status qn_loss_scaler_unscale(qn_loss_scaler *scaler, qn_module *module);
/* qn_optimizer_step, if all gradients are finite; they are cleared in any case. */
QN_API qn_status qn_loss_scaler_step(qn_loss_scaler *scaler, qn_optimizer *optimizer);

/* ---- means of parameters ---- */

/* A mean of what each trained parameter of a module was, which forgets 1 - decay of it with each update: often better than the parameters themselves. */
typedef struct qn_average {
    qn_module *module;
    double decay;
    qn_tensor **values; /* in the order of the parameters */
    uint64_t count;
} qn_average;
/* Begins with the parameters as they are. Errors: QN_ERROR_NULL, QN_ERROR_ARGUMENT (a decay that is not from 0 to 1), QN_ERROR_OUT_OF_MEMORY. */
QN_API qn_status qn_average_init(qn_average *average, qn_module *module, double decay);
QN_API void qn_average_release(qn_average *average);
/* Behind qn_optimizer_step, also in a qn_step. Errors: as qn_realize. */
QN_API qn_status qn_average_update(qn_average *average);
/* Gives the parameters the means, and the means the parameters: for an evaluation, and once more to go on. */
QN_API qn_status qn_average_exchange(qn_average *average);

/* ---- schedules: rates by the number of the step, from 0 ---- */

QN_API double qn_rate_step(double rate, uint64_t step, uint64_t every,
                           double factor); /* times factor every so many */
QN_API double qn_rate_exponential(double rate, uint64_t step, double factor);
/* From rate down to least in half a cosine over `steps`; least from then on (Loshchilov and Hutter, 2017). */
QN_API double qn_rate_cosine(double rate, uint64_t step, uint64_t steps, double least);
/* 0 to 1 over the first `steps`, then 1: a factor for the others. */
QN_API double qn_rate_warm_up(uint64_t step, uint64_t steps);
/* Times factor at each of `count` steps that are named, in order. */
QN_API double qn_rate_steps(double rate, uint64_t step, const uint64_t *at, size_t count, double factor);
/* Times (1 - step / steps)^power; 0 from then on. */
QN_API double qn_rate_polynomial(double rate, uint64_t step, uint64_t steps, double power);
/* Up from rate / 25 to rate in the first 0.3 of the steps, and down to rate / 250000, by cosines (Smith and Topin, 2018). */
QN_API double qn_rate_one_cycle(double rate, uint64_t step, uint64_t steps);

/* A rate that falls by `factor` when a loss has not become less than (1 - threshold) of its least for more than `patience` calls; then it waits for `cooldown` calls. Defaults:
   factor 0.1, patience 10, threshold 1e-4, no cooldown, least 0. QN_NONE for a threshold of 0; a patience of 0 is UINT32_MAX. */
typedef struct qn_plateau {
    double rate, factor, threshold, least;
    uint32_t patience, cooldown;
    /* What it knows; zeros at first. */
    double best;
    uint32_t calls, waited, cooling;
} qn_plateau;
/* The rate after this loss; NaN is no better than any. */
QN_API double qn_plateau_rate(qn_plateau *plateau, double loss);

/* ---- checkpoints ---- */

/* All that a run of training consists of: what is NULL is not part of it. */
typedef struct qn_checkpoint {
    qn_module *module; /* parameters and buffers */
    qn_optimizer *optimizer;
    qn_loss_scaler *scaler;
    qn_average *average;
    qn_plateau *plateau;
    uint64_t *numbers; /* the program's: how many steps it did, where in the data it is */
    uint32_t num_numbers;
} qn_checkpoint;
/* One safetensors file of all that, and of where the sequence of random numbers is. A run that is loaded goes on bit for bit as the one that was saved. Errors: as qn_save. */
QN_API qn_status qn_checkpoint_save(qn_tensors *tensors, const char *path, const qn_checkpoint *checkpoint);
/* Into objects made as those that were saved. Steps that are recorded already go on with the new values, but for the seed of random numbers. Errors: as qn_load; QN_ERROR_ARGUMENT (the file is no checkpoint, or
   one of other parts). After an error of what the file has all is as it was. */
QN_API qn_status qn_checkpoint_load(qn_tensors *tensors, const char *path, const qn_checkpoint *checkpoint);

#ifdef __cplusplus
}
#endif

#endif
