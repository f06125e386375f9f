// The last step of quad_joint.cl: gradients by queries from the sums, which lie as a quad's registers do, 64 queries of 64 elements in each 16 KiB.
// A work-item has eight elements of two queries.
// By -D: Q, PACK as in quad.h.
typedef struct shape {
    ulong begin;
    long batch, head, row;
    ulong all; // blocks of 64 queries, of all heads of all batches
    uint queries, padded, heads, size;
    float scale;
} shape;

static void put(global Q *to, const float4 *pairs, uint first, uint size, bool second, float scale) {
    const float x[8] = {second ? pairs[0].z : pairs[0].x, second ? pairs[0].w : pairs[0].y, second ? pairs[1].z : pairs[1].x,
                        second ? pairs[1].w : pairs[1].y, second ? pairs[2].z : pairs[2].x, second ? pairs[2].w : pairs[2].y,
                        second ? pairs[3].z : pairs[3].x, second ? pairs[3].w : pairs[3].y};
    if (first + 8 <= size) {
        *(global uint4 *)(to + first) =
            (uint4)(as_uint(PACK((float2)(x[0], x[1]) * scale)), as_uint(PACK((float2)(x[2], x[3]) * scale)),
                    as_uint(PACK((float2)(x[4], x[5]) * scale)), as_uint(PACK((float2)(x[6], x[7]) * scale)));
        return;
    }
    for (uint i = 0; i < 8; i++)
        if (first + i < size) to[first + i] = (Q)(x[i] * scale);
}

kernel __attribute__((reqd_work_group_size(256, 1, 1))) void queries(shape s, global const float *sums, global Q *to) {
    const ulong block = get_group_id(0);
    const uint item = get_local_id(0), eight = item % 8, four = item / 8; // of columns, of a quad's work-items
    const uint blocks = s.padded / 64, row = (uint)(block % blocks) * 64 + four / 8 * 16 + four % 8;
    const ulong which = block / blocks, head = which % s.heads, batch = which / s.heads;
    const global float4 *from = (const global float4 *)(sums + block * 4096) + eight * 128 + four * 4;
    const float4 pairs[4] = {from[0], from[1], from[2], from[3]};
    to += s.begin + batch * s.batch + head * s.head + (long)row * s.row;
    if (row < s.queries) put(to, pairs, eight * 8, s.size, false, s.scale);
    if (row + 8 < s.queries) put(to + 8 * s.row, pairs, eight * 8, s.size, true, s.scale);
}
