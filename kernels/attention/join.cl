// For qn_kernels_attention: results and logarithms of parts of the keys become those of all keys. A work-item an element.
// By -D: Q, the type of the elements; LOGS, where there are any.
typedef struct view {
    ulong begin;
    long batch, head, row;
} view;

typedef struct shape {
    view out, logs;
    ulong queries, count; // elements
    uint heads, parts, size;
} shape;

kernel void join(shape s, global const Q *part_results, global const float *part_logs, global Q *out, global float *logs) {
    const ulong i = get_global_id(0), c = i % s.size, which = i / s.size, row = which % s.queries, head = which / s.queries % s.heads,
                batch = which / s.queries / s.heads, first = (batch * s.heads + head) * s.parts * s.queries + row;
    float most = -INFINITY, sum = 0, weights = 0;
    for (uint p = 0; p < s.parts; p++) most = fmax(most, part_logs[first + p * s.queries]);
    for (uint p = 0; p < s.parts && most > -INFINITY; p++) {
        const float weight = exp(part_logs[first + p * s.queries] - most);
        weights += weight;
        sum += weight * (float)part_results[(first + p * s.queries) * s.size + c];
    }
    out[s.out.begin + (size_t)((long)batch * s.out.batch + (long)head * s.out.head + (long)row * s.out.row) + c] =
        weights > 0 ? sum / weights : 0;
#ifdef LOGS
    if (c == 0)
        logs[s.logs.begin + (size_t)((long)batch * s.logs.batch + (long)head * s.logs.head + (long)row * s.logs.row)] =
            weights > 0 ? most + log(weights) : -INFINITY;
#endif
}
