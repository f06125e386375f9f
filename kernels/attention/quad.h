// What the kernels of qn_kernels_attention share that work by quads of sub-groups (docs/language.md): compute capability 9.0. Work-groups
// stay for as many blocks of rows as there are for them, the longest first. One quad copies tiles ahead; QUADS of them multiply, 64 rows each.
// By -D: Q, the type of the operands (16 bits), and PACK, which makes two of them of a float2; CHUNKS, sizes of heads / 64 rounded
// up; QUADS; STAGES of tiles; GIVE and TAKE, registers; CAUSAL.
#define ROWS    (QUADS * 64)
#define COLUMNS (CHUNKS * 64)
#define CHUNK   8192 // bytes: 64 rows of 128

// Where a tensor's heads lie in its map.
typedef struct heads {
    uint head_x, head_z, batch_z;
} heads;

typedef struct block {
    uint row, head, batch;
} block;

static int x_of(const heads *h, uint head) { return (int)(h->head_x * head); }
static int z_of(const heads *h, uint head, uint batch) {
    return (int)(h->head_z * head + h->batch_z * batch);
}

// The block or tile of a work-group's turn. The longest come first, and every second time in the other direction, so that no work-group
// gets the longer ones of all turns.
static uint number_of(uint turn) {
    const uint groups = get_num_groups(0), group = get_group_id(0);
    return turn * groups + (turn % 2 ? groups - 1 - group : group);
}

// Keys that a query sees, those up to one place.
static uint seen_by(uint query, uint queries, uint keys) {
#if CAUSAL
    return (uint)clamp((int)query + 1 + (int)keys - (int)queries, 0, (int)keys);
#else
    return keys;
#endif
}

static uint after(uint stage, uint *parity) {
    if (stage + 1 < STAGES) return stage + 1;
    *parity ^= 1;
    return 0;
}

// Never does anything where the numbers whose bits were put together are not negative; what comes next waits for them, so that no compiler
// waits for products in flight first.
static void await(uint bits) {
    if ((int)bits < 0) qn_async_fence();
}

// 64 rows of a head to local memory.
#define LOAD_ROWS(to, map, h, head, batch, row, full)                                                        \
    for (uint c = 0; c < CHUNKS; c++)                                                                        \
    qn_tile_load((to)[c], map, x_of(h, head) + (int)c * 64, (int)(row), z_of(h, head, batch), full)

// 64 rows of sums to local memory of the quad's own, from where STORE_ROWS takes them; `scale` is of a work-item's two rows.
static void lay_rows(local ushort (*tiles)[CHUNK / 2], const float *sums, const float *scale, uint item,
                     uint part) {
    const uint lane = item % 32, line = item / 32 * 16 + lane % 16, side = lane / 16;
    if (item == 0) qn_tile_store_wait(0);
    qn_named_barrier(part + 1, 128);
#pragma unroll
    for (uint j = 0; j < COLUMNS / 16; j++) {
        const float *x = sums + j * 8;
        const uint piece = j % 4 * 2 + side;
        const uint4 words = {
            as_uint(PACK((float2)(x[0], x[1]) * scale[0])), as_uint(PACK((float2)(x[2], x[3]) * scale[1])),
            as_uint(PACK((float2)(x[4], x[5]) * scale[0])), as_uint(PACK((float2)(x[6], x[7]) * scale[1]))};
        qn_store_8x8x4(tiles[j / 4] + line * 64 + (piece ^ line % 8) * 8, words);
    }
    qn_async_fence();
    qn_named_barrier(part + 1, 128);
}
#define STORE_ROWS(map, h, head, batch, row, tiles)                                                          \
    if (item == 0)                                                                                           \
        for (uint c = 0; c < CHUNKS; c++)                                                                    \
    qn_tile_store(map, x_of(h, head) + (int)c * 64, (int)(row), z_of(h, head, batch), (tiles)[c])
