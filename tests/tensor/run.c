/* Runs programs of tensor ops for the Python files beside it: one process, thousands of small programs.
     run INPUT OUTPUT [--eager] < PROGRAM
   INPUT holds the bytes of arrays, OUTPUT gets those of results. A program is lines of words:
     begin                           a scope
     x = data f32 2x3 OFFSET         an array of INPUT; "scalar" is the shape without dimensions
     y = add x #2.5                  an op, of variables, numbers (#), axes (1,-1 or all), shapes and plain integers
     read y                          prints "ok f32 2x3 OFFSET", of OUTPUT, or "failed QN_ERROR_... sentence"
     launches                        prints how many there were since the last time
     end                             ends the scope and forgets the variables
   The device is $QUERN_DEVICE's, or the processor without its C compiler, which would take its time over each kernel. */
#include <inttypes.h>
#include <quern/tensor.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VARIABLES = 256, WORDS = 24 };

typedef struct variable {
    char name[24];
    qn_tensor *x;
} variable;

typedef struct runner {
    qn_context *context;
    qn_tensors *t;
    char *input;
    FILE *output;
    uint64_t written, launches;
    variable variables[VARIABLES];
    uint32_t count;
    char *words[WORDS]; /* of the line: result, "=", op, operands */
    uint32_t num_words;
} runner;

static void stop(const char *what, const char *detail) {
    fprintf(stderr, "run: %s: %s\n", what, detail);
    exit(2);
}

static qn_tensor *variable_of(runner *r, const char *name) {
    for (uint32_t i = r->count; i-- > 0;)
        if (strcmp(r->variables[i].name, name) == 0) return r->variables[i].x;
    stop("no such variable", name);
    return NULL;
}

static const char *word(const runner *r, uint32_t i) {
    if (i >= r->num_words) stop("a word is missing behind", r->words[r->num_words - 1]);
    return r->words[i];
}

static qn_tensor *tensor(runner *r, uint32_t i) { return variable_of(r, word(r, i)); }
static int64_t integer(runner *r, uint32_t i) {
    return strcmp(word(r, i), "end") == 0 ? QN_END : (int64_t)strtoll(word(r, i), NULL, 10);
}
static bool truth(runner *r, uint32_t i) { return integer(r, i) != 0; }

static qn_operand operand(runner *r, uint32_t i) {
    const char *w = word(r, i);
    if (w[0] != '#') return qn_operand_tensor(variable_of(r, w));
    if (strpbrk(w, ".en")) return qn_operand_float(strtod(w + 1, NULL));
    return w[1] == '-' ? qn_operand_signed(strtoll(w + 1, NULL, 10))
                       : qn_operand_unsigned(strtoull(w + 1, NULL, 10));
}

static qn_shape shape(runner *r, uint32_t i) {
    qn_shape s = {.rank = 0};
    const char *at = word(r, i);
    if (strcmp(at, "scalar") == 0) return s;
    for (char *next; *at; at = *next ? next + 1 : next) s.sizes[s.rank++] = strtoull(at, &next, 10);
    return s;
}

static qn_axes axes(runner *r, uint32_t i) {
    qn_axes a = {.count = 0};
    const char *at = word(r, i);
    if (strcmp(at, "all") == 0) return a;
    for (char *next; *at; at = *next ? next + 1 : next) a.axes[a.count++] = (int32_t)strtol(at, &next, 10);
    return a;
}

static qn_element type(runner *r, uint32_t i) {
    for (int e = 0; e < QN_ELEMENT_COUNT; e++)
        if (strcmp(qn_element_name((qn_element)e), word(r, i)) == 0) return (qn_element)e;
    stop("no such type", word(r, i));
    return QN_F32;
}

/* Variables from word i on. */
static qn_tensor *join(runner *r, uint32_t i, qn_tensor *(*function)(qn_tensor *const *, size_t, int32_t)) {
    qn_tensor *parts[WORDS];
    size_t count = 0;
    for (uint32_t k = i + 1; k < r->num_words; k++) parts[count++] = tensor(r, k);
    return function(parts, count, (int32_t)integer(r, i));
}

#define ONE(word)                                                                                            \
    { .name = #word, .one = qn_##word }
#define TWO(word)                                                                                            \
    { .name = #word, .two = (qn_##word) }
#define THREE(word)                                                                                          \
    { .name = #word, .three = (qn_##word) }
#define ALONG(word)                                                                                          \
    { .name = #word, .along = qn_##word }
#define REDUCE(word)                                                                                         \
    { .name = #word, .reduce = qn_##word }

static const struct {
    const char *name;
    qn_tensor *(*one)(qn_tensor *);
    qn_tensor *(*two)(qn_operand, qn_operand);
    qn_tensor *(*three)(qn_operand, qn_operand, qn_operand);
    qn_tensor *(*pair)(qn_tensor *, qn_tensor *);
    qn_tensor *(*along)(qn_tensor *, int32_t);
    qn_tensor *(*reduce)(qn_tensor *, qn_axes, bool);
} functions[] = {
    ONE(negate),
    ONE(abs),
    ONE(sign),
    ONE(square),
    ONE(relu),
    ONE(reciprocal),
    ONE(sqrt),
    ONE(rsqrt),
    ONE(cbrt),
    ONE(exp),
    ONE(exp2),
    ONE(expm1),
    ONE(log),
    ONE(log2),
    ONE(log10),
    ONE(log1p),
    ONE(sin),
    ONE(cos),
    ONE(tan),
    ONE(asin),
    ONE(acos),
    ONE(atan),
    ONE(sinh),
    ONE(cosh),
    ONE(tanh),
    ONE(asinh),
    ONE(acosh),
    ONE(atanh),
    ONE(erf),
    ONE(erfc),
    ONE(floor),
    ONE(ceil),
    ONE(round),
    ONE(trunc),
    ONE(sigmoid),
    ONE(silu),
    ONE(softplus),
    ONE(mish),
    ONE(gelu),
    ONE(gelu_tanh),
    ONE(is_nan),
    ONE(is_inf),
    ONE(is_finite),
    ONE(sign_bit),
    ONE(logical_not),
    ONE(bit_not),
    TWO(add),
    TWO(subtract),
    TWO(multiply),
    TWO(divide),
    TWO(floor_divide),
    TWO(remainder),
    TWO(fmod),
    TWO(power),
    TWO(maximum),
    TWO(minimum),
    TWO(atan2),
    TWO(hypot),
    TWO(copy_sign),
    TWO(log_add_exp),
    TWO(next_after),
    TWO(equal),
    TWO(not_equal),
    TWO(less),
    TWO(less_equal),
    TWO(greater),
    TWO(greater_equal),
    TWO(logical_and),
    TWO(logical_or),
    TWO(logical_xor),
    TWO(bit_and),
    TWO(bit_or),
    TWO(bit_xor),
    TWO(shift_left),
    TWO(shift_right),
    THREE(where),
    THREE(clip),
    THREE(lerp),
    THREE(multiply_add),
    REDUCE(sum),
    REDUCE(product),
    REDUCE(mean),
    REDUCE(max),
    REDUCE(min),
    REDUCE(any),
    REDUCE(all),
    REDUCE(norm),
    REDUCE(count_nonzero),
    REDUCE(log_sum_exp),
    ALONG(cumulative_sum),
    ALONG(cumulative_product),
    ALONG(cumulative_max),
    ALONG(cumulative_min),
    ALONG(cumulative_log_sum_exp),
    ONE(nonzero),
    ONE(unique),
    {.name = "masked_select", .pair = qn_masked_select},
    ONE(cholesky),
    ONE(inverse),
    ONE(determinant),
    {.name = "solve", .pair = qn_solve},
    {.name = "is_in", .pair = qn_is_in},
    {.name = "outer", .pair = qn_outer},
    {.name = "kron", .pair = qn_kron},
    ONE(zeros_like),
    ONE(ones_like),
};

static bool is(const runner *r, const char *name) { return strcmp(r->words[2], name) == 0; }

/* Part `integer(4)` of a tensor that is split into the sizes that follow, and grid `integer(3)` of tensors. */
static qn_tensor *part_of_split(runner *r) {
    uint64_t sizes[WORDS];
    qn_tensor *parts[WORDS];
    uint32_t count = 0;
    for (uint32_t i = 6; i < r->num_words; i++) sizes[count++] = (uint64_t)integer(r, i);
    qn_split(tensor(r, 3), sizes, count, (int32_t)integer(r, 4), parts);
    return parts[integer(r, 5)];
}
static qn_tensor *part_of_unstack(runner *r) {
    qn_tensor *parts[WORDS];
    qn_unstack(tensor(r, 3), (int32_t)integer(r, 4), parts, (size_t)integer(r, 5));
    return parts[integer(r, 6)];
}
static qn_tensor *grid(runner *r) {
    qn_tensor *tensors[WORDS], *grids[WORDS];
    uint32_t count = 0;
    for (uint32_t i = 4; i < r->num_words; i++) tensors[count++] = tensor(r, i);
    qn_meshgrid(tensors, count, grids);
    return grids[integer(r, 3)];
}
static qn_tensor *einsum(runner *r) {
    qn_tensor *operands[WORDS];
    uint32_t count = 0;
    for (uint32_t i = 4; i < r->num_words; i++) operands[count++] = tensor(r, i);
    return qn_einsum(word(r, 3), operands, count);
}

/* Factors: result `integer(4)` of a matrix, the first being 0. */
static qn_tensor *apply_factors(runner *r) {
    qn_tensor *results[3] = {NULL};
    if (is(r, "matrix_power")) return qn_matrix_power(tensor(r, 3), integer(r, 4));
    if (is(r, "matrix_rank")) return qn_matrix_rank(tensor(r, 3), strtod(word(r, 4), NULL));
    if (is(r, "matrix_norm")) return qn_matrix_norm(tensor(r, 3), (qn_matrix_norm_kind)integer(r, 4));
    if (is(r, "pseudo_inverse")) return qn_pseudo_inverse(tensor(r, 3), strtod(word(r, 4), NULL));
    if (is(r, "search_sorted")) return qn_search_sorted(tensor(r, 3), tensor(r, 4), truth(r, 5));
    if (is(r, "solve_triangular"))
        return qn_solve_triangular(tensor(r, 3), tensor(r, 4), truth(r, 5), truth(r, 6));
    if (is(r, "log_determinant"))
        results[0] = qn_log_determinant(tensor(r, 3), &results[1]);
    else if (is(r, "unique_all")) {
        qn_tensor *all[4];
        all[0] = qn_unique_all(tensor(r, 3), &all[1], &all[2], &all[3]);
        return all[integer(r, 4)];
    } else if (is(r, "qr"))
        results[0] = qn_qr(tensor(r, 3), truth(r, 5), &results[1]);
    else if (is(r, "eigen"))
        results[0] = qn_eigen(tensor(r, 3), &results[1]);
    else if (is(r, "svd"))
        results[0] = qn_svd(tensor(r, 3), &results[1], &results[2]);
    else
        stop("no such op", r->words[2]);
    return results[integer(r, 4)];
}

/* Rearranging elements, and products over named dimensions. */
static qn_tensor *apply_arrangement(runner *r) {
    if (is(r, "roll")) return qn_roll(tensor(r, 3), integer(r, 4), (int32_t)integer(r, 5));
    if (is(r, "move_axis")) return qn_move_axis(tensor(r, 3), (int32_t)integer(r, 4), (int32_t)integer(r, 5));
    if (is(r, "repeat")) return qn_repeat(tensor(r, 3), (uint64_t)integer(r, 4), (int32_t)integer(r, 5));
    if (is(r, "tile")) return qn_tile(tensor(r, 3), shape(r, 4));
    if (is(r, "diagonal"))
        return qn_diagonal(tensor(r, 3), integer(r, 4), (int32_t)integer(r, 5), (int32_t)integer(r, 6));
    if (is(r, "trace")) return qn_trace(tensor(r, 3), integer(r, 4));
    if (is(r, "tril")) return qn_tril(tensor(r, 3), integer(r, 4));
    if (is(r, "triu")) return qn_triu(tensor(r, 3), integer(r, 4));
    if (is(r, "split")) return part_of_split(r);
    if (is(r, "meshgrid")) return grid(r);
    if (is(r, "einsum")) return einsum(r);
    if (is(r, "unstack")) return part_of_unstack(r);
    if (is(r, "quantile"))
        return qn_quantile(tensor(r, 3), strtod(word(r, 4), NULL), (int32_t)integer(r, 5), truth(r, 6));
    if (is(r, "difference"))
        return qn_difference(tensor(r, 3), (uint32_t)integer(r, 4), (int32_t)integer(r, 5));
    if (is(r, "vector_dot")) return qn_vector_dot(tensor(r, 3), tensor(r, 4), (int32_t)integer(r, 5));
    if (is(r, "cross")) return qn_cross(tensor(r, 3), tensor(r, 4), (int32_t)integer(r, 5));
    if (is(r, "vector_norm"))
        return qn_vector_norm(tensor(r, 3), strtod(word(r, 4), NULL), axes(r, 5), truth(r, 6));
    if (is(r, "bincount")) return qn_bincount(tensor(r, 3), (uint64_t)integer(r, 4));
    if (is(r, "histogram"))
        return qn_histogram(tensor(r, 3), (uint64_t)integer(r, 4), strtod(word(r, 5), NULL),
                            strtod(word(r, 6), NULL));
    if (is(r, "tensordot")) return qn_tensordot(tensor(r, 3), tensor(r, 4), axes(r, 5), axes(r, 6));
    return apply_factors(r);
}

/* Numbers of a word such as 3x4, in the fields of a descriptor. */
static void numbers(runner *r, uint32_t i, uint32_t *list, uint32_t most) {
    const qn_shape s = shape(r, i);
    for (uint32_t d = 0; d < s.rank && d < most; d++) list[d] = (uint32_t)s.sizes[d];
}

/* Images; gradients of a sum by a variable that was said to require them. */
static qn_tensor *apply_images(runner *r) {
    if (is(r, "interpolate")) {
        const qn_shape s = shape(r, 4);
        const qn_interpolate_desc desc = {
            {s.sizes[0], s.sizes[1], s.sizes[2]}, (qn_interpolation)integer(r, 5), truth(r, 6)};
        return qn_interpolate(tensor(r, 3), &desc);
    }
    if (is(r, "unfold") || is(r, "fold")) { /* x, window, stride, padding, dilation, and rows and columns */
        qn_unfold_desc desc = {{0}, {0}, {0}, {0}};
        numbers(r, 4, desc.window, 2), numbers(r, 5, desc.stride, 2);
        numbers(r, 6, desc.padding, 2), numbers(r, 7, desc.dilation, 2);
        return is(r, "unfold")
                   ? qn_unfold(tensor(r, 3), &desc)
                   : qn_fold(tensor(r, 3), (uint64_t)integer(r, 8), (uint64_t)integer(r, 9), &desc);
    }
    if (is(r, "pixel_shuffle")) return qn_pixel_shuffle(tensor(r, 3), (uint64_t)integer(r, 4));
    if (is(r, "pixel_unshuffle")) return qn_pixel_unshuffle(tensor(r, 3), (uint64_t)integer(r, 4));
    if (is(r, "convolution") ||
        is(r, "transposed_convolution")) { /* x, weights, stride, padding, dilation, groups, further */
        qn_convolution_desc desc = {.groups = (uint32_t)integer(r, 8)};
        numbers(r, 5, desc.stride, 3), numbers(r, 6, desc.padding, 3);
        numbers(r, 7, desc.dilation, 3), numbers(r, 9, desc.further, 3);
        return (is(r, "convolution") ? qn_convolution : qn_transposed_convolution)(tensor(r, 3), tensor(r, 4),
                                                                                   NULL, &desc);
    }
    if (is(r, "max_pool") || is(r, "average_pool")) {
        qn_pool_desc desc = {.window = {0}};
        numbers(r, 4, desc.window, 3), numbers(r, 5, desc.stride, 3), numbers(r, 6, desc.padding, 3);
        return (is(r, "max_pool") ? qn_max_pool : qn_average_pool)(tensor(r, 3), &desc);
    }
    if (is(r, "require")) return qn_tensor_require_gradient(tensor(r, 3), true);
    if (is(r, "gradient")) {
        qn_tensor *x = tensor(r, 4), *gradient;
        qn_gradients(tensor(r, 3), &x, 1, &gradient);
        return gradient;
    }
    return apply_arrangement(r);
}

/* Choosing and ordering elements. */
static qn_tensor *apply_choice(runner *r) {
    if (is(r, "take")) return qn_take(tensor(r, 3), tensor(r, 4), (int32_t)integer(r, 5));
    if (is(r, "take_along_axis"))
        return qn_take_along_axis(tensor(r, 3), tensor(r, 4), (int32_t)integer(r, 5));
    if (is(r, "scatter")) return qn_scatter(tensor(r, 3), tensor(r, 4), tensor(r, 5), (int32_t)integer(r, 6));
    if (is(r, "scatter_add"))
        return qn_scatter_add(tensor(r, 3), tensor(r, 4), tensor(r, 5), (int32_t)integer(r, 6));
    if (is(r, "scatter_add_along_axis"))
        return qn_scatter_add_along_axis(tensor(r, 3), tensor(r, 4), tensor(r, 5), (int32_t)integer(r, 6));
    if (is(r, "index")) { /* x, indices */
        qn_tensor *indices[WORDS];
        for (uint32_t i = 4; i < r->num_words; i++) indices[i - 4] = tensor(r, i);
        return qn_index(tensor(r, 3), indices, r->num_words - 4);
    }
    if (is(r, "one_hot")) return qn_one_hot(tensor(r, 3), (uint64_t)integer(r, 4), type(r, 5));
    if (is(r, "sort")) return qn_sort(tensor(r, 3), (int32_t)integer(r, 4), truth(r, 5));
    if (is(r, "argsort")) return qn_argsort(tensor(r, 3), (int32_t)integer(r, 4), truth(r, 5));
    if (is(r, "top_k"))
        return qn_top_k(tensor(r, 3), (uint64_t)integer(r, 4), (int32_t)integer(r, 5), truth(r, 6), NULL);
    if (is(r, "top_k_indices")) {
        qn_tensor *indices;
        qn_top_k(tensor(r, 3), (uint64_t)integer(r, 4), (int32_t)integer(r, 5), truth(r, 6), &indices);
        return indices;
    }
    return apply_images(r);
}

static qn_tensor *apply_special(runner *r) {
    if (is(r, "data")) return qn_from_data(r->t, type(r, 3), shape(r, 4), r->input + integer(r, 5));
    if (is(r, "full")) return (qn_full)(r->t, type(r, 3), shape(r, 4), operand(r, 5));
    if (is(r, "arange"))
        return qn_arange(r->t, type(r, 3), strtod(word(r, 4), NULL), strtod(word(r, 5), NULL),
                         strtod(word(r, 6), NULL));
    if (is(r, "linspace"))
        return qn_linspace(r->t, type(r, 3), strtod(word(r, 4), NULL), strtod(word(r, 5), NULL),
                           (uint64_t)integer(r, 6));
    if (is(r, "eye"))
        return qn_eye(r->t, type(r, 3), (uint64_t)integer(r, 4), (uint64_t)integer(r, 5), integer(r, 6));
    if (is(r, "cast")) return qn_cast(tensor(r, 3), type(r, 4));
    if (is(r, "argmax")) return qn_argmax(tensor(r, 3), (int32_t)integer(r, 4), truth(r, 5));
    if (is(r, "argmin")) return qn_argmin(tensor(r, 3), (int32_t)integer(r, 4), truth(r, 5));
    if (is(r, "variance"))
        return qn_variance(tensor(r, 3), axes(r, 4), strtod(word(r, 5), NULL), truth(r, 6));
    if (is(r, "softmax")) return qn_softmax(tensor(r, 3), (int32_t)integer(r, 4));
    if (is(r, "log_softmax")) return qn_log_softmax(tensor(r, 3), (int32_t)integer(r, 4));
    if (is(r, "reshape")) return qn_reshape(tensor(r, 3), shape(r, 4));
    if (is(r, "broadcast_to")) return qn_broadcast_to(tensor(r, 3), shape(r, 4));
    if (is(r, "permute")) return qn_permute(tensor(r, 3), axes(r, 4));
    if (is(r, "transpose")) return qn_transpose(tensor(r, 3), (int32_t)integer(r, 4), (int32_t)integer(r, 5));
    if (is(r, "flip")) return qn_flip(tensor(r, 3), axes(r, 4));
    if (is(r, "slice"))
        return qn_slice(tensor(r, 3), (int32_t)integer(r, 4), integer(r, 5), integer(r, 6), integer(r, 7));
    if (is(r, "pad"))
        return (qn_pad)(tensor(r, 3), (int32_t)integer(r, 4), (uint64_t)integer(r, 5),
                        (uint64_t)integer(r, 6), operand(r, 7));
    if (is(r, "squeeze")) return qn_squeeze(tensor(r, 3), axes(r, 4));
    if (is(r, "unsqueeze")) return qn_unsqueeze(tensor(r, 3), (int32_t)integer(r, 4));
    if (is(r, "flatten")) return qn_flatten(tensor(r, 3), (int32_t)integer(r, 4), (int32_t)integer(r, 5));
    if (is(r, "matmul")) return qn_matmul(tensor(r, 3), tensor(r, 4));
    if (is(r, "concat")) return join(r, 3, qn_concat);
    if (is(r, "stack")) return join(r, 3, qn_stack);
    return apply_choice(r);
}

static qn_tensor *apply(runner *r) {
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (strcmp(functions[i].name, word(r, 2)) != 0) continue;
        if (functions[i].one) return functions[i].one(tensor(r, 3));
        if (functions[i].two) return functions[i].two(operand(r, 3), operand(r, 4));
        if (functions[i].three) return functions[i].three(operand(r, 3), operand(r, 4), operand(r, 5));
        if (functions[i].pair) return functions[i].pair(tensor(r, 3), tensor(r, 4));
        if (functions[i].along) return functions[i].along(tensor(r, 3), (int32_t)integer(r, 4));
        return functions[i].reduce(tensor(r, 3), axes(r, 4), truth(r, 5));
    }
    return apply_special(r);
}

static void read_value(runner *r, qn_tensor *x) {
    const uint64_t size = qn_tensor_count(x) * qn_element_size(qn_tensor_type(x));
    void *data = malloc((size_t)size + 1);
    const qn_status status = qn_tensor_read(x, data, size);
    if (status) {
        printf("failed %s %s\n", qn_status_name(status), qn_error_message(r->context));
    } else {
        const qn_shape s = qn_tensor_shape(x);
        printf("ok %s ", qn_element_name(qn_tensor_type(x)));
        for (uint32_t d = 0; d < s.rank; d++) printf(d ? "x%" PRIu64 : "%" PRIu64, s.sizes[d]);
        printf(s.rank ? " %" PRIu64 "\n" : "scalar %" PRIu64 "\n", r->written);
        fwrite(data, 1, (size_t)size, r->output);
        r->written += size;
    }
    free(data);
}

static void run_line(runner *r) {
    if (strcmp(r->words[0], "begin") == 0) {
        qn_scope_begin(r->t);
    } else if (strcmp(r->words[0], "end") == 0) {
        r->count = 0;
        qn_scope_end(r->t);
    } else if (strcmp(r->words[0], "read") == 0) {
        read_value(r, tensor(r, 1));
    } else if (strcmp(r->words[0], "launches") == 0) {
        qn_tensors_stats stats;
        qn_tensors_get_stats(r->t, &stats);
        printf("launches %" PRIu64 "\n", stats.launches - r->launches);
        r->launches = stats.launches;
    } else {
        if (r->count == VARIABLES) stop("too many variables", r->words[0]);
        qn_tensor *x = apply(r);
        variable *v = &r->variables[r->count++];
        snprintf(v->name, sizeof v->name, "%s", r->words[0]);
        v->x = x;
    }
}

static char *contents(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) stop("cannot read", path);
    fseek(file, 0, SEEK_END);
    const long size = ftell(file);
    rewind(file);
    char *data = malloc((size_t)size + 1);
    if (fread(data, 1, (size_t)size, file) != (size_t)size) stop("cannot read", path);
    fclose(file);
    return data;
}

int main(int argc, char **argv) {
    const bool eager = argc == 4 && strcmp(argv[3], "--eager") == 0;
    if (argc != 3 && !eager) stop("usage", "run INPUT OUTPUT [--eager] < PROGRAM");
    static runner r;
    char line[1024];
    const char *name = getenv("QUERN_DEVICE");
    qn_device *device;
    if (qn_context_create(&(qn_context_desc){.cpu_compiler = "none"}, &r.context)) stop("no context", "");
    const qn_status status = qn_device_get(r.context, name && *name ? name : "cpu", &device);
    if (status == QN_ERROR_NO_DEVICE) {
        printf("skipped %s\n", qn_error_message(r.context));
        return 77;
    }
    if (status || qn_tensors_create(device, &(qn_tensors_desc){.eager = eager}, &r.t))
        stop("no tensors", qn_error_message(r.context));
    r.input = contents(argv[1]);
    r.output = fopen(argv[2], "wb");
    if (!r.output) stop("cannot write", argv[2]);
    while (fgets(line, sizeof line, stdin)) {
        r.num_words = 0;
        for (char *at = strtok(line, " \n"); at && r.num_words < WORDS; at = strtok(NULL, " \n"))
            r.words[r.num_words++] = at;
        if (r.num_words) run_line(&r);
        fflush(stdout);
    }
    fclose(r.output);
    free(r.input);
    qn_tensors_destroy(r.t);
    qn_context_destroy(r.context);
    return 0;
}
