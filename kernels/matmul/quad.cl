// qn_kernels_matmul for devices with tile copies and quads of sub-groups (docs/language.md): compute capability 9.0. Work-groups stay
// for as many tiles of C as there are for them. One quad copies: tiles of A, 64 rows for each of the other quads, and of B,
// COLUMNS columns, 128 bytes of k at a time, STAGES of them ahead; QUADS quads multiply. Work-groups of a cluster either have
// tiles of the same columns below each other, CLUSTER of them: each copies its part of B's tile to all of them; or they have
// one tile, each one of PARTS parts of k, and add up what they have through each other's local memory.
// By -D beside those of numbers.h: Q, the type of A and B in products; QSUM of sums, float or int, QSUM4 of four, AS_SUM4 from
// bits; PAIRS, two neighbours of the results are finished at a time, with BIAS_PAIR, the same for all rows, and RESIDUAL_PAIR; STAGED, rows of what is written begin anywhere; LAYOUT, how their tiles lie; HELD, A goes to registers first, as 32-bit elements have to that lie by columns; OUT_TILES,
// results go out by tile stores (PACK makes two of 16 bits); SPLIT, the sums of parts of k go to `work`; TAIL, those of the last tiles do, which are too few for all work-groups; TURNED, C is computed as
// the transpose of what the caller sees.
#include "numbers.h"

#define ROWS    (64 * QUADS)
#define STEP    (128 / sizeof(Q)) // of k
#define A_BYTES (ROWS * 128)
#define B_BYTES (COLUMNS * 128)
#define BAND    (16 / CLUSTER) // clusters' tiles below each other that are computed one after another
#define SUMS    (COLUMNS / 2)  // of a work-item
#if CLUSTER > 1
#define COPY_B(to, x, y) qn_tile_load_to(to, b_map, x, y, b_z, there, (1 << CLUSTER) - 1)
#define FREE(barrier)    qn_barrier_arrive_at(barrier, item)
#else
#define FREE(barrier)    qn_barrier_arrive(barrier)
#define COPY_B(to, x, y) qn_tile_load(to, b_map, x, y, b_z, there)
#endif

// What a work-group has to do: its tiles, numbered over parts of k, batches, columns and bands of rows.
typedef struct schedule {
    uint rank, next, stride, down, across, tiles, batches, all, steps, part;
#ifdef TAIL
    uint whole, parts; // tiles that are not cut, and the parts of each of the others
#endif
} schedule;

// `first` up to but not with `end` are its steps along k.
typedef struct tile {
    uint row, column, batch, part, first, end;
#ifdef TAIL
    bool is_part; // number `part` of those that go to memory
#endif
} tile;

// Barriers of the copies: a stage is full, or empty.
typedef struct place {
    uint stage, parity;
} place;

static schedule schedule_of(numbers s, uint batches) {
    schedule d;
    d.rank = CLUSTER * PARTS > 1 ? qn_cluster_rank() : 0;
    d.next = get_group_id(0) / (CLUSTER * PARTS);
    d.stride = get_num_groups(0) / (CLUSTER * PARTS);
    d.down = (uint)((s.m + ROWS * CLUSTER - 1) / (ROWS * CLUSTER));
    d.across = (uint)((s.n + COLUMNS - 1) / COLUMNS);
    d.tiles = d.down * d.across;
    d.batches = batches;
    d.steps = (uint)((s.k + STEP - 1) / STEP);
    d.part = (uint)(s.part / STEP);
    d.all = d.tiles * batches;
#ifdef SPLIT
    d.all *= (d.steps + d.part - 1) / d.part;
#endif
#ifdef TAIL
    d.whole = d.all / d.stride * d.stride;
    d.parts = (d.steps + d.part - 1) / d.part;
    d.all = d.whole + (d.all - d.whole) * d.parts;
#endif
    return d;
}

static tile whole_tile(const schedule *s, uint number) {
    const uint batch = number / s->tiles, i = number % s->tiles, band = i / (BAND * s->across), in_band = i % (BAND * s->across);
    const uint high = min(s->down - band * BAND, (uint)BAND);
    const tile t = {(band * BAND + in_band % high) * ROWS * CLUSTER, in_band / high * COLUMNS, batch, 0, 0, s->steps};
    return t;
}

static tile tile_of(const schedule *s, uint number) {
#ifdef TAIL
    const uint cut = number < s->whole ? 0 : number - s->whole;
    tile t = whole_tile(s, number < s->whole ? number : s->whole + cut / s->parts);
    t.is_part = number >= s->whole;
    if (t.is_part) {
        t.part = cut;
        t.first = cut % s->parts * s->part;
        t.end = min(t.first + s->part, s->steps);
    }
#else
    tile t = whole_tile(s, number);
#endif
#ifdef SPLIT
    const uint batch = t.batch;
    t.part = batch / s->batches;
    t.batch = batch % s->batches;
    t.first = t.part * s->part;
    t.end = min(t.first + s->part, s->steps);
#endif
#if PARTS > 1
    const uint begin = t.first, steps = t.end - t.first;
    t.first = begin + steps * s->rank / PARTS;
    t.end = begin + steps * (s->rank + 1) / PARTS;
#else
    t.row += s->rank * ROWS;
#endif
    return t;
}

static void advance(place *p) {
    p->stage++;
    if (p->stage < STAGES) return;
    p->stage = 0;
    p->parity ^= 1;
}

static uint row_in_tile(uint quad, uint item, uint i) { return quad * 64 + item / 32 * 16 + item % 32 / 4 + i / 2 % 2 * 8; }
static uint column_in_tile(uint item, uint i) { return i / 4 * 8 + item % 4 * 2 + i % 2; }

// One result, or one sum of a part.
static void put_at(global OUT_T *out, global QSUM *work, QSUM sum, numbers s, const schedule *todo, const tile *t, const epilogue *e,
                   const places *at, size_t row, size_t column) {
    if (row >= s.m || column >= s.n) return;
#ifndef SPLIT
    put(out, sum, s, e, at, row, column);
#elif defined(TURNED)
    work[((ulong)(t->part * todo->batches + t->batch) * s.n + column) * s.m + row] = sum;
#else
    work[((ulong)(t->part * todo->batches + t->batch) * s.m + row) * s.n + column] = sum;
#endif
}

#ifdef OUT_TILES
#define CHUNK (128 / sizeof(OUT_T)) // columns that go out at a time

// Sums of a quad become results in local memory, in rows of 128 bytes as tile stores want them.
static void pack_chunk(local uchar *to, const QSUM *sums, uint item) {
    const uint line = item / 32 * 16 + item % 16, side = item % 32 / 16;
#ifdef PACK
    #pragma unroll
    for (uint j = 0; j < CHUNK / 16; j++) {
        const QSUM *v = sums + j * 8;
        const uint4 words = {as_uint(PACK((float2)(v[0], v[1]))), as_uint(PACK((float2)(v[2], v[3]))),
                             as_uint(PACK((float2)(v[4], v[5]))), as_uint(PACK((float2)(v[6], v[7])))};
        qn_store_8x8x4((local ushort *)(to + line * 128 + ((j * 2 + side) ^ line % 8) * 16), words);
    }
#else
    #pragma unroll
    for (uint i = 0; i < CHUNK / 2; i += 2) {
        const uint row = row_in_tile(0, item, i), piece = i / 4 * 2 + item % 4 / 2;
        local OUT_T *at = (local OUT_T *)(to + row * 128 + (piece ^ row % 8) * 16 + item % 2 * 8);
        vstore2((OUT_PAIR)(TO_OUT((RESULT)sums[i]), TO_OUT((RESULT)sums[i + 1])), 0, at);
    }
#endif
}

#ifdef PAIRS
// Two neighbours of a row in one word, and as two numbers.
#define PAIR_BF16(p) ((float2)(as_float(*(global const uint *)(p) << 16), as_float(*(global const uint *)(p) & 0xffff0000u)))
#define PAIR_F16(p)  convert_float2(as_half2(*(global const uint *)(p)))
#define PAIR_F32(p)  (*(global const float2 *)(p))

static float2 finish_pair(const float *sums, const epilogue *e, float2 bias) {
    const float2 v = (float2)(sums[0], sums[1]) * e->alpha + bias;
    return (float2)(activate(v.x), activate(v.y)) * e->scale;
}
#endif

static void finish_chunk(QSUM *sums, numbers s, const epilogue *e, const places *at, uint first_row, uint first_column, uint quad,
                         uint item) {
#ifdef PAIRS
    const uint row = first_row + row_in_tile(quad, item, 0), column = first_column + column_in_tile(item, 0);
#ifdef HAS_RESIDUAL
    global const RESIDUAL_T *residual[2];
    for (uint r = 0; r < 2; r++) residual[r] = e->residual + at->residual + (row + r * 8) * s.residual_row + column;
#endif
    #pragma unroll
    for (uint j = 0; j < CHUNK / 8; j++) {
        if (column + j * 8 >= s.n) break;
        float2 bias = 0;
#ifdef HAS_BIAS
        bias = BIAS_PAIR(e->bias + at->bias + column + j * 8);
#endif
        #pragma unroll
        for (uint r = 0; r < 2; r++) {
            float2 v = finish_pair(sums + j * 4 + r * 2, e, bias);
#ifdef HAS_RESIDUAL
            if (row + r * 8 < s.m) v += RESIDUAL_PAIR(residual[r] + j * 8);
#endif
            sums[j * 4 + r * 2] = v.x;
            sums[j * 4 + r * 2 + 1] = v.y;
        }
    }
#elif !defined(PLAIN)
    #pragma unroll
    for (uint i = 0; i < CHUNK / 2; i++) {
        const size_t row = first_row + row_in_tile(quad, item, i), column = first_column + column_in_tile(item, i);
        if (row < s.m && column < s.n) sums[i] = finish(sums[i], s, e, at, row, column);
    }
#endif
}
#endif

#ifdef STAGED
// Single results that neighbouring work-items write are neighbours if 32 columns at a time go through local memory: a sub-group writes 32
// neighbours of a row (TURNED: of a column).
#define STAGED_COLUMNS (COLUMNS < 32 ? COLUMNS : 32)
#define STAGED_PITCH   33
static void put_staged(local QSUM *mine, const QSUM *sums, global OUT_T *out, global QSUM *work, numbers s, const schedule *todo,
                       const tile *t, const epilogue *e, const places *at, uint quad, uint item, uint first) {
    qn_named_barrier(quad + 1, 128); // what was there has been read
    #pragma unroll
    for (uint i = 0; i < STAGED_COLUMNS / 2; i++) mine[row_in_tile(0, item, i) * STAGED_PITCH + column_in_tile(item, i)] = sums[i];
    qn_named_barrier(quad + 1, 128);
#ifdef TURNED
    const uint row = item % 64, column = item / 64, next_row = 0, next_column = 2;
#else
    const uint row = item / STAGED_COLUMNS, column = item % STAGED_COLUMNS, next_row = 128 / STAGED_COLUMNS, next_column = 0;
#endif
    const size_t all_rows = t->row + quad * 64 + row, all_columns = t->column + first + column;
    const ulong part = t->part * todo->batches + t->batch;
#if defined(SPLIT) && defined(TURNED)
    global QSUM *to = work + (part * s.n + all_columns) * s.m + all_rows;
    const long step = (long)s.m * next_column;
#elif defined(SPLIT)
    global QSUM *to = work + (part * s.m + all_rows) * s.n + all_columns;
    const long step = (long)s.n * next_row;
#else
    size_t to = at->out + all_rows * s.out_row + all_columns * s.out_column;
    const long step = s.out_row * next_row + s.out_column * next_column;
#endif
    #pragma unroll 4
    for (uint i = 0; i < STAGED_COLUMNS / 2; i++, to += step) {
        const size_t r = all_rows + i * next_row, c = all_columns + i * next_column;
        if (r >= s.m || c >= s.n) break;
        const QSUM v = mine[(row + i * next_row) * STAGED_PITCH + column + i * next_column];
#ifdef SPLIT
        *to = v;
#else
        OUT_STORE(out, to, TO_OUT(finish((RESULT)v, s, e, at, r, c)));
#endif
    }
}
#endif

#ifdef TAIL
// What a quad has of a part lies as its work-items hold it: four sums of each of them, and the next four.
static size_t place_in_tail(uint part, uint rank, uint quad, uint item) {
    return (((size_t)part * CLUSTER + rank) * QUADS + quad) * (64 * COLUMNS) + item * 4;
}

static void put_tail(global QSUM *work, const QSUM *sums, const schedule *todo, const tile *t, uint quad, uint item) {
    global QSUM *to = work + place_in_tail(t->part, todo->rank, quad, item);
    #pragma unroll
    for (uint i = 0; i < SUMS / 4; i++) vstore4((QSUM4)(sums[i * 4], sums[i * 4 + 1], sums[i * 4 + 2], sums[i * 4 + 3]), i * 128, to);
}

// Adds the parts of the last tiles, in their order, and finishes them. A work-group has four sums of each work-item of a quad. Global size: 128 times
// those, and the quads of all those tiles. `part` is how many parts each has. There is one batch.
kernel __attribute__((reqd_work_group_size(128, 1, 1))) void finish_tail(PARAMETERS) {
    const uint item = get_local_id(0), i = get_group_id(0), quad = get_group_id(1) % QUADS, rank = get_group_id(1) / QUADS % CLUSTER,
               number = get_group_id(1) / (QUADS * CLUSTER), rest = get_num_groups(1) / (QUADS * CLUSTER), parts = (uint)s.part;
    schedule todo;
    todo.down = (uint)((s.m + ROWS * CLUSTER - 1) / (ROWS * CLUSTER));
    todo.across = (uint)((s.n + COLUMNS - 1) / COLUMNS);
    todo.tiles = todo.down * todo.across;
    todo.steps = 0;
    const tile t = whole_tile(&todo, todo.tiles - rest + number);
    const places at = places_of(s, t.batch);
    const epilogue e = EPILOGUE;
    QSUM4 sum = 0;
    #pragma unroll 8
    for (uint p = 0; p < parts; p++) sum += vload4(i * 128, (global const QSUM *)work + place_in_tail(number * parts + p, rank, quad, item));
    const QSUM four[4] = {sum.x, sum.y, sum.z, sum.w};
    #pragma unroll
    for (uint j = 0; j < 4; j++) {
        const size_t row = t.row + rank * ROWS + row_in_tile(quad, item, j), column = t.column + i * 8 + column_in_tile(item, j);
        if (row < s.m && column < s.n) put(out, four[j], s, &e, &at, row, column);
    }
}
#endif

#if PARTS > 1
// Each work-group of the cluster adds some of the sums of all of them, in the order of the parts.
static void add_parts(local uchar *tiles, const QSUM *sums, global OUT_T *out, global QSUM *work, numbers s, const schedule *todo,
                      const tile *t, const epilogue *e, const places *at, uint quad, uint item) {
    local QSUM *mine = (local QSUM *)tiles + (quad * (SUMS / 4) * 128 + item) * 4;
    qn_named_barrier(1, QUADS * 128); // products of the other quad still read the tiles
    #pragma unroll
    for (uint i = 0; i < SUMS / 4; i++) vstore4((QSUM4)(sums[i * 4], sums[i * 4 + 1], sums[i * 4 + 2], sums[i * 4 + 3]), i * 128, mine);
    qn_cluster_barrier();
    const uint end = (todo->rank + 1) * (SUMS / 4) / PARTS;
    #pragma unroll 2
    for (uint i = todo->rank * (SUMS / 4) / PARTS; i < end; i++) {
        uint4 parts[PARTS];
        #pragma unroll
        for (uint p = 0; p < PARTS; p++) parts[p] = qn_cluster_read4(qn_cluster_address(mine + i * 512, p));
        QSUM4 sum = AS_SUM4(parts[0]);
        #pragma unroll
        for (uint p = 1; p < PARTS; p++) sum += AS_SUM4(parts[p]);
        const QSUM four[4] = {sum.x, sum.y, sum.z, sum.w};
        #pragma unroll
        for (uint j = 0; j < 4; j++)
            put_at(out, work, four[j], s, todo, t, e, at, t->row + row_in_tile(quad, item, j),
                   t->column + i * 8 + column_in_tile(item, j));
    }
}
#endif

#ifdef HELD
// A's words of a step for qn_quad_multiply_add from a tile that lies by its columns: 32 of them of 128 bytes, and again.
static void hold(uint *words, local const uint *tile, uint item) {
    #pragma unroll
    for (uint j = 0; j < 16; j++) {
        const uint row = item / 32 * 16 + item % 32 / 4 + j % 2 * 8, k = j / 4 * 8 + item % 4 + j / 2 % 2 * 4;
        words[j] = tile[row / 32 * 1024 + k * 32 + (row % 32 / 4 ^ k % 8) * 4 + row % 4];
    }
}
#endif

#if CLUSTER * PARTS > 1
#define IN_CLUSTER , qn_cluster_size(CLUSTER *PARTS)
#else
#define IN_CLUSTER
#endif

kernel __attribute__((reqd_work_group_size(128 + 128 * QUADS, 1, 1) IN_CLUSTER)) void
matmul(qn_tensor_map a_map, qn_tensor_map b_map, qn_tensor_map out_map, uint batches, uint a_batch, uint b_batch, PARAMETERS) {
    local uchar a_tiles[STAGES][A_BYTES] __attribute__((aligned(1024))), b_tiles[STAGES][B_BYTES] __attribute__((aligned(1024)));
#ifdef OUT_TILES
    local uchar chunks[QUADS * 2 * 8192] __attribute__((aligned(1024)));
#endif
#ifdef STAGED
    local QSUM staged[QUADS][64 * STAGED_PITCH];
#endif
    local qn_barrier full[STAGES], empty[STAGES];
    const uint quad = get_local_id(0) / 128, item = get_local_id(0) % 128;
    const schedule todo = schedule_of(s, batches);
    if (get_local_id(0) == 0)
        for (uint i = 0; i < STAGES; i++) {
            qn_barrier_init(&full[i], 1);
            qn_barrier_init(&empty[i], QUADS * CLUSTER);
        }
#if CLUSTER * PARTS > 1
    qn_cluster_meet();
#else
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    place p = {0, 0};

    if (quad == QUADS) {
#ifdef REGISTERS
        qn_registers_give(40);
#endif
        p.parity = 1;
        for (uint number = todo.next; item == 0 && number < todo.all; number += todo.stride) {
            const tile t = tile_of(&todo, number);
            for (uint i = t.first; i < t.end; i++) {
                qn_barrier_wait(&empty[p.stage], p.parity);
                local uchar *a_tile = a_tiles[p.stage], *b_tile = b_tiles[p.stage];
                local qn_barrier *there = &full[p.stage];
                const int k = (int)(i * STEP), row = (int)t.row, column = (int)t.column, a_z = (int)(t.batch * a_batch),
                          b_z = (int)(t.batch * b_batch);
                qn_barrier_expect(there, A_BYTES + B_BYTES);
#ifdef HELD
                #pragma unroll
                for (int j = 0; j < QUADS * 2; j++) qn_tile_load(a_tile + j * 4096, a_map, row + j * 32, k, a_z, there);
#elif LAYOUT & 2
                #pragma unroll
                for (int j = 0; j < QUADS; j++) qn_tile_load(a_tile + j * 8192, a_map, row + j * 64, k, a_z, there);
#else
                qn_tile_load(a_tile, a_map, k, row, a_z, there);
#endif
#if LAYOUT & 1
                for (int j = CLUSTER > 1 ? (int)todo.rank : 0; j < COLUMNS / 64; j += CLUSTER)
                    COPY_B(b_tile + j * 8192, column + j * 64, k);
#else
                const int first = CLUSTER > 1 ? (int)todo.rank * (COLUMNS / CLUSTER) : 0;
                COPY_B(b_tile + first * 128, k, column + first);
#endif
                advance(&p);
            }
        }
#if PARTS > 1
        qn_cluster_barrier(); // of add_parts
#endif
    } else {
#ifdef REGISTERS
        qn_registers_take(REGISTERS);
#endif
        const epilogue e = EPILOGUE;
        QSUM sums[SUMS];
        uint odd = 0; // which of two chunks is the next
        for (uint number = todo.next; number < todo.all; number += todo.stride) {
            const tile t = tile_of(&todo, number);
            uint previous = STAGES;
            #pragma unroll
            for (uint i = 0; i < SUMS; i++) sums[i] = 0;
            for (uint i = t.first; i < t.end; i++) {
                qn_barrier_wait(&full[p.stage], p.parity);
#ifdef HELD
                uint words[16];
                hold(words, (local const uint *)(a_tiles[p.stage] + quad * 8192), item);
                qn_quad_multiply_add(sums, COLUMNS, words, (local const Q *)b_tiles[p.stage], 0, i > t.first);
                qn_quad_wait(0); // the other quad's product goes on meanwhile
                qn_named_barrier(quad + 1, 128); // all of this one have read their words
                if (item < CLUSTER) FREE(&empty[p.stage]);
#else
                qn_quad_multiply_add(sums, COLUMNS, (local const Q *)(a_tiles[p.stage] + quad * 8192),
                                     (local const Q *)b_tiles[p.stage], LAYOUT, i > t.first);
                qn_quad_wait(1);
                if (previous < STAGES && item < CLUSTER) FREE(&empty[previous]);
                previous = p.stage;
#endif
                advance(&p);
            }
            qn_quad_wait(0);
            if (previous < STAGES && item < CLUSTER) FREE(&empty[previous]);
            const places at = places_of(s, t.batch);
#if PARTS > 1
            add_parts(b_tiles[0], sums, out, work, s, &todo, &t, &e, &at, quad, item);
#elif defined(OUT_TILES)
#ifdef TAIL
            if (t.is_part) {
                put_tail(work, sums, &todo, &t, quad, item);
                continue;
            }
#endif
            #pragma unroll
            for (uint j = 0; j < COLUMNS / CHUNK; j++) {
                local uchar *chunk = chunks + (quad * 2 + (j + odd) % 2) * 8192;
                finish_chunk(sums + j * CHUNK / 2, s, &e, &at, t.row, t.column + j * CHUNK, quad, item);
                if (item == 0) qn_tile_store_wait(1);
                qn_named_barrier(quad + 1, 128);
                pack_chunk(chunk, sums + j * CHUNK / 2, item);
                qn_async_fence();
                qn_named_barrier(quad + 1, 128);
                if (item == 0)
                    qn_tile_store(out_map, (int)(t.column + j * CHUNK), (int)(t.row + quad * 64), (int)t.batch, chunk);
            }
            odd ^= COLUMNS / CHUNK % 2;
#elif defined(STAGED)
            #pragma unroll
            for (uint j = 0; j < COLUMNS / STAGED_COLUMNS; j++)
                put_staged(staged[quad], sums + j * STAGED_COLUMNS / 2, out, work, s, &todo, &t, &e, &at, quad, item, j * STAGED_COLUMNS);
#else
            #pragma unroll
            for (uint i = 0; i < SUMS; i++)
                put_at(out, work, sums[i], s, &todo, &t, &e, &at, t.row + row_in_tile(quad, item, i),
                       t.column + column_in_tile(item, i));
#endif
        }
#ifdef OUT_TILES
        if (item == 0) qn_tile_store_wait(0);
#endif
    }
#if CLUSTER * PARTS > 1
    qn_cluster_meet(); // a neighbour's copies and arrivals may still come, and reads of what is here
#endif
}
