// For qn_kernels_attention_backward by quads: for each query of each head of each batch, the logarithm of the sum of its weights, times log2(e), and
// the product of its rows of `out` and of that one's gradient. Eight work-items have a row. Queries that there are not, up to a multiple of 64, have
// weights of 0, as those have that see no key.
// With SUMS, the sums of the gradients by queries, 64 for each, become 0.
// By -D: Q, the type of the arrays, of 16 bits, whose rows lie in memory as vectors of 16 bytes.
typedef struct rows {
    ulong begin;
    long batch, head, row;
} rows;

typedef struct shape {
    rows out, gradient, logs;
    ulong queries, padded, all; // rows in `pairs`, and all of them
    uint heads, size;
} shape;

static size_t place(const rows *r, ulong batch, ulong head, ulong row) {
    return r->begin + (long)batch * r->batch + (long)head * r->head + (long)row * r->row;
}

typedef union eight {
    uint4 words;
    Q each[8];
} eight;

kernel __attribute__((reqd_work_group_size(256, 1, 1))) void pairs(shape s, global const Q *out, global const Q *gradient,
                                                                   global const float *logs, global float2 *to, global float4 *sums) {
    const ulong i = get_global_id(0) / 8, row = i % s.padded, which = i / s.padded, head = which % s.heads, batch = which / s.heads;
    const bool is_there = i < s.all && row < s.queries;
    float sum = 0;
#ifdef SUMS
    if (i < s.all) sums[get_global_id(0) * 2] = sums[get_global_id(0) * 2 + 1] = (float4)(0);
#endif
    if (is_there) {
        global const Q *x = out + place(&s.out, batch, head, row), *y = gradient + place(&s.gradient, batch, head, row);
        for (uint c = (uint)get_global_id(0) % 8 * 8; c < s.size; c += 64) {
            const eight a = {*(global const uint4 *)(x + c)}, b = {*(global const uint4 *)(y + c)};
            #pragma unroll
            for (uint j = 0; j < 8; j++) sum += (float)a.each[j] * (float)b.each[j];
        }
    }
    #pragma unroll
    for (uint step = 1; step < 8; step *= 2) sum += sub_group_shuffle_xor(sum, step);
    if (i >= s.all || get_global_id(0) % 8) return;
    const float log = is_there ? logs[place(&s.logs, batch, head, row)] : -INFINITY;
    to[i] = (float2)(log == -INFINITY ? INFINITY : log * 1.44269504f, sum);
}
