// qn_kernels_matmul by matrix units (qn_matrix in docs/language.md), for the types that they take. WM by WN sub-groups of LANES
// work-items compute SM by SN elements each, as fragments of 16 by 16. By -D: A_UNIT, B_UNIT: the operands' types in the
// language; BITS: an integer of their size, as which they are moved; SIZE, its bytes; STAGES: so many tiles have room, and all but one
// are on their way by async copies (BYTES are two fragments' then); DIRECT: sums are stored as they are, by fragments. Tiles lie in local memory as in
// global memory, in pieces of 16 bytes: fragments are loaded in either order.
// TWO_AHEAD: two tiles are on their way in registers, not one.
// Groups: as in tile.cl.
#include "numbers.h"

#define BM     (WM * SM)
#define BN     (WN * SN)
#define PIECE  (16 / SIZE)     // elements of 16 bytes, which are moved at once
#define BK     (BYTES / SIZE)  // one step along k
#define FK     (SIZE == 8 ? 8 : 32 / SIZE) // of a fragment
#define SIDE   16              // its rows and columns
#define STRIP  (SIDE + 4)      // a row of a fragment of sums in local memory
#define BAND   8               // tiles
#ifdef STAGES
#define TILES STAGES
#else
#define TILES 2
#endif
#define LINES(along_k, side) ((along_k) ? (side) : BK)
#define PAD    (SIZE == 8 ? 2 : 1) // pieces of a line more than it needs: other banks for the next
#define PITCH(along_k, side) (((along_k) ? BK : (side)) / PIECE + PAD)
#define PARTS(side)          ((side) * BK / PIECE / ITEMS)

// One operand: where the tile begins, strides along its side and along k, and how many there are of each from there on.
typedef struct operand {
    size_t begin;
    long side, along;
    ulong sides, alongs;
} operand;

// Where piece `i` of a tile begins, and its number in local memory.
typedef struct corner {
    uint side, k, at;
} corner;

static corner corner_of(bool along_k, uint side, uint i) {
    const uint per = PITCH(along_k, side) - PAD, line = i / per, from = i % per * PIECE;
    const corner c = {along_k ? line : from, along_k ? from : line, line * (per + PAD) + from / PIECE};
    return c;
}

// A work-item's pieces of the tiles inside of the matrices: each is as many lines below the one before as all work-items take at
// once. So there is one address to move along k, and what is added to it is the same for the whole group.
typedef struct source {
    global const BITS *at; // the first piece of the next tile
    long next, apart, step; // elements from one of a piece to the next, from piece to piece, and from tile to tile
} source;

#define AT_ONCE(along_k, side) (ITEMS / (PITCH(along_k, side) - PAD)) // lines

static source source_of(bool vectors, bool along_k, uint side, global const BITS *p, operand o) {
    const corner c = corner_of(along_k, side, get_local_id(0));
    const long next = vectors ? 1 : along_k ? o.along : o.side, line = along_k ? o.side : o.along;
    const source s = {p + o.begin + (along_k ? c.side : c.k) * line + (along_k ? c.k : c.side) * next, next,
                      AT_ONCE(along_k, side) * line, BK * (along_k ? next : line)};
    return s;
}

static uint4 fetch(bool vectors, global const BITS *at, long next) {
    if (vectors) return *(global const uint4 *)at;
    union {
        BITS each[PIECE];
        uint4 all;
    } u;
    #pragma unroll
    for (uint j = 0; j < PIECE; j++) u.each[j] = at[j * next];
    return u.all;
}

// At the edges; what is beyond is 0.
static uint4 fetch_checked(bool along_k, global const BITS *p, operand o, corner c, ulong k) {
    union {
        BITS each[PIECE];
        uint4 all;
    } u;
    #pragma unroll
    for (uint j = 0; j < PIECE; j++) {
        const ulong side = c.side + (along_k ? 0 : j), at = k + c.k + (along_k ? j : 0);
        u.each[j] = side < o.sides && at < o.alongs ? p[o.begin + side * o.side + at * o.along] : (BITS)0;
    }
    return u.all;
}

typedef struct pieces {
    uint4 a[PARTS(BM)], b[PARTS(BN)];
} pieces;

// The next tiles; the last ones once more, if there are no `more`.
static void bring(pieces *next, source *a, source *b, bool more) {
    #pragma unroll
    for (uint i = 0; i < PARTS(BM); i++) next->a[i] = fetch(A_VECTORS, a->at + i * a->apart, a->next);
    #pragma unroll
    for (uint i = 0; i < PARTS(BN); i++) next->b[i] = fetch(B_VECTORS, b->at + i * b->apart, b->next);
    a->at += more ? a->step : 0;
    b->at += more ? b->step : 0;
}

// Where a work-item's pieces go in local memory.
static void keep(const pieces *next, local uint4 *a_tile, local uint4 *b_tile) {
    const uint a = corner_of(A_ALONG_K, BM, get_local_id(0)).at, b = corner_of(B_ALONG_K, BN, get_local_id(0)).at;
    #pragma unroll
    for (uint i = 0; i < PARTS(BM); i++) a_tile[a + i * AT_ONCE(A_ALONG_K, BM) * PITCH(A_ALONG_K, BM)] = next->a[i];
    #pragma unroll
    for (uint i = 0; i < PARTS(BN); i++) b_tile[b + i * AT_ONCE(B_ALONG_K, BN) * PITCH(B_ALONG_K, BN)] = next->b[i];
}

static void keep_checked(global const BITS *a, global const BITS *b, operand of_a, operand of_b, ulong step,
                         local uint4 *a_tile, local uint4 *b_tile) {
    #pragma unroll 1
    for (uint i = get_local_id(0); i < PARTS(BM) * ITEMS; i += ITEMS) {
        const corner c = corner_of(A_ALONG_K, BM, i);
        a_tile[c.at] = fetch_checked(A_ALONG_K, a, of_a, c, step);
    }
    #pragma unroll 1
    for (uint i = get_local_id(0); i < PARTS(BN) * ITEMS; i += ITEMS) {
        const corner c = corner_of(B_ALONG_K, BN, i);
        b_tile[c.at] = fetch_checked(B_ALONG_K, b, of_b, c, step);
    }
}

#ifdef STAGES
// Single elements: those of a line are neighbouring work-items'.
#define LENGTH(along_k, side) ((along_k) ? BK : (side))
#define LINES_AT_ONCE(along_k, side) (ITEMS / LENGTH(along_k, side))
static source single_source_of(bool along_k, uint side, global const BITS *p, operand o) {
    const uint line = get_local_id(0) / LENGTH(along_k, side), from = get_local_id(0) % LENGTH(along_k, side);
    const long next = along_k ? o.along : o.side, lines = along_k ? o.side : o.along;
    const source s = {p + o.begin + line * lines + from * next, next, LINES_AT_ONCE(along_k, side) * lines, BK * (along_k ? next : lines)};
    return s;
}

// Starts copies of a work-item's pieces, or single elements, which go past its registers.
static void start(bool vectors, bool along_k, uint side, uint parts, source *from, local uint4 *tile) {
    if (vectors) {
        local uint4 *to = tile + corner_of(along_k, side, get_local_id(0)).at;
        #pragma unroll
        for (uint i = 0; i < parts; i++)
            qn_async_copy(to + i * AT_ONCE(along_k, side) * PITCH(along_k, side), (global const uint4 *)(from->at + i * from->apart));
    } else {
        const uint line = get_local_id(0) / LENGTH(along_k, side), place = get_local_id(0) % LENGTH(along_k, side);
        local BITS *to = (local BITS *)tile + line * (PITCH(along_k, side) * PIECE) + place;
        #pragma unroll
        for (uint i = 0; i < parts * PIECE; i++)
            qn_async_copy(to + i * LINES_AT_ONCE(along_k, side) * PITCH(along_k, side) * PIECE, from->at + i * from->apart);
    }
    from->at += from->step;
}

static event_t start_both(source *a, source *b, local uint4 *a_tile, local uint4 *b_tile) {
    start(A_VECTORS, A_ALONG_K, BM, PARTS(BM), a, a_tile);
    start(B_VECTORS, B_ALONG_K, BN, PARTS(BN), b, b_tile);
    return qn_async_commit(0);
}
#endif

typedef qn_matrix(SUM, SIDE, SIDE, qn_use_accumulator) sum_fragment;
typedef qn_matrix(A_UNIT, SIDE, FK, qn_use_a) a_fragment;
typedef qn_matrix(B_UNIT, FK, SIDE, qn_use_b) b_fragment;

// What of the tiles is at i of k.
static void read(a_fragment *from_a, b_fragment *from_b, local const uint4 *a_tile, local const uint4 *b_tile, uint i, uint y, uint x) {
    #pragma unroll
    for (uint p = 0; p < SM; p += SIDE) {
        const uint place = A_ALONG_K ? (y + p) * PITCH(true, BM) + i / PIECE : i * PITCH(false, BM) + (y + p) / PIECE;
        qn_matrix_load(&from_a[p / SIDE], (local const A_UNIT *)&a_tile[place], PITCH(A_ALONG_K, BM) * PIECE,
                       A_ALONG_K ? qn_row_major : qn_column_major);
    }
    #pragma unroll
    for (uint q = 0; q < SN; q += SIDE) {
        const uint place = B_ALONG_K ? (x + q) * PITCH(true, BN) + i / PIECE : i * PITCH(false, BN) + (x + q) / PIECE;
        qn_matrix_load(&from_b[q / SIDE], (local const B_UNIT *)&b_tile[place], PITCH(B_ALONG_K, BN) * PIECE,
                       B_ALONG_K ? qn_column_major : qn_row_major);
    }
}

static void multiply(sum_fragment (*sum)[SN / SIDE], a_fragment *from_a, b_fragment *from_b) {
    #pragma unroll
    for (uint p = 0; p < SM / SIDE; p++)
        #pragma unroll
        for (uint q = 0; q < SN / SIDE; q++) qn_matrix_multiply_add(&sum[p][q], &from_a[p], &from_b[q]);
}

static void multiply_tile(sum_fragment (*sum)[SN / SIDE], local const uint4 *a_tile, local const uint4 *b_tile, uint y, uint x) {
    #pragma unroll
    for (uint i = 0; i < BK; i += FK) {
        a_fragment from_a[SM / SIDE];
        b_fragment from_b[SN / SIDE];
        read(from_a, from_b, a_tile, b_tile, i, y, x);
        multiply(sum, from_a, from_b);
    }
}

// Where a tile begins, and what of it is its own: the last ones of a row and a column are moved back, so that they end with the matrix.
typedef struct place {
    size_t row, column, own_row, own_column;
} place;

// Whole pieces have to stay whole.
static place place_of(ulong m, ulong n) {
    const ulong across = (n + BN - 1) / BN, down = (m + BM - 1) / BM, group = get_group_id(0);
    const ulong band = group / (BAND * across), in_band = group % (BAND * across), high = min(down - band * BAND, (ulong)BAND);
    const size_t row = (band * BAND + in_band % high) * BM, column = in_band / high * BN;
    const bool any_row = A_ALONG_K || !A_VECTORS || m % PIECE == 0, any_column = B_ALONG_K || !B_VECTORS || n % PIECE == 0;
    const place p = {m >= BM && any_row ? min(row, (size_t)(m - BM)) : row,
                     n >= BN && any_column ? min(column, (size_t)(n - BN)) : column, row, column};
    return p;
}

// Four neighbours of a row, of which the tile's own ones are written. WHOLE_RUNS: all are, or none.
static void put_four(global OUT_T *out, SUM4 sum, numbers s, const epilogue *e, const places *at, size_t row, size_t column,
                     place here, global SUM *work) {
    const SUM each[4] = {sum.x, sum.y, sum.z, sum.w};
    if (row < here.own_row || row >= s.m || column >= s.n) return;
#ifdef WHOLE_RUNS
    if (column < here.own_column) return;
#endif
#ifdef SPLIT
    work += ((get_group_id(1) * get_num_groups(2) + get_group_id(2)) * s.m + row) * s.n + column;
#ifdef WHOLE_RUNS
    *(global SUM4 *)work = sum;
#else
    #pragma unroll
    for (uint j = 0; j < 4; j++)
        if (column + j >= here.own_column && column + j < s.n) work[j] = each[j];
#endif
#elif defined(WHOLE_RUNS)
    RESULT v[4];
    #pragma unroll
    for (uint j = 0; j < 4; j++) v[j] = finish((RESULT)each[j], s, e, at, row, column + j);
    OUT_STORE4(out, at->out + row * s.out_row + column, (RESULT4)(v[0], v[1], v[2], v[3]));
#else
    #pragma unroll
    for (uint j = 0; j < 4; j++)
        if (column + j >= here.own_column && column + j < s.n) put(out, each[j], s, e, at, row, column + j);
#endif
}

kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void matmul(PARAMETERS) {
    local uint4 a_tile[TILES][LINES(A_ALONG_K, BM) * PITCH(A_ALONG_K, BM)], b_tile[TILES][LINES(B_ALONG_K, BN) * PITCH(B_ALONG_K, BN)];
    local SUM4 strips[WM * WN][SIDE * STRIP / 4];
    global const BITS *a_bits = (global const BITS *)a, *b_bits = (global const BITS *)b;
    const places at = places_of(s, get_group_id(2));
    const place here = place_of(s.m, s.n);
    const size_t row = here.row, column = here.column;
    const ulong first = get_group_id(1) * s.part, k = min(s.part, s.k - first);
    const operand of_a = {at.a + row * s.a_row + first * s.a_k, s.a_row, s.a_k, s.m - row, k},
                  of_b = {at.b + column * s.b_column + first * s.b_k, s.b_column, s.b_k, s.n - column, k};
    const uint y = get_sub_group_id() / WN * SM, x = get_sub_group_id() % WN * SN;
    const bool inside = s.m - row >= BM && s.n - column >= BN;
    const ulong whole = inside ? k / BK * BK : 0; // of k: what is taken without checks

    sum_fragment sum[SM / SIDE][SN / SIDE];
    #pragma unroll
    for (uint i = 0; i < SM / SIDE; i++)
        #pragma unroll
        for (uint j = 0; j < SN / SIDE; j++) qn_matrix_fill(&sum[i][j], 0);
    uint now = 0;
#ifdef STAGES
    // What is waited for, the next tiles and what is read of them first, is behind products that have their operands.
    if (whole > 0) {
        source a_source = A_VECTORS ? source_of(true, A_ALONG_K, BM, a_bits, of_a) : single_source_of(A_ALONG_K, BM, a_bits, of_a),
               b_source = B_VECTORS ? source_of(true, B_ALONG_K, BN, b_bits, of_b) : single_source_of(B_ALONG_K, BN, b_bits, of_b);
        const uint steps = (uint)(whole / BK);
        event_t events[STAGES - 1];
        #pragma unroll
        for (uint i = 0; i < STAGES - 1; i++) {
            events[i] = 0;
            if (i < steps) events[i] = start_both(&a_source, &b_source, a_tile[i], b_tile[i]);
        }
        a_fragment from_a[2][SM / SIDE];
        b_fragment from_b[2][SN / SIDE];
        wait_group_events(1, &events[0]);
        read(from_a[0], from_b[0], a_tile[0], b_tile[0], 0, y, x);
        #pragma unroll 1
        for (uint step = 0, to = STAGES - 1; step < steps; step++) {
            read(from_a[1], from_b[1], a_tile[now], b_tile[now], FK, y, x);
            #pragma unroll
            for (uint i = 0; i + 2 < STAGES; i++) events[i] = events[i + 1];
            if (step + STAGES - 1 < steps) events[STAGES - 2] = start_both(&a_source, &b_source, a_tile[to], b_tile[to]);
            multiply(sum, from_a[0], from_b[0]);
            now = now + 1 == STAGES ? 0 : now + 1;
            to = to + 1 == STAGES ? 0 : to + 1;
            if (step + 1 < steps) {
                wait_group_events(1, &events[0]);
                read(from_a[0], from_b[0], a_tile[now], b_tile[now], 0, y, x);
            }
            multiply(sum, from_a[1], from_b[1]);
        }
        barrier(CLK_LOCAL_MEM_FENCE); // the last tiles have been read
        now = 0;
    }
#else
    if (whole > 0) {
        source a_source = source_of(A_VECTORS, A_ALONG_K, BM, a_bits, of_a), b_source = source_of(B_VECTORS, B_ALONG_K, BN, b_bits, of_b);
        const uint steps = (uint)(whole / BK);
#ifdef TWO_AHEAD
        pieces next[2];
        bring(&next[0], &a_source, &b_source, steps > 1);
        bring(&next[1], &a_source, &b_source, steps > 2);
        for (uint step = 0; step + 1 < steps; step += 2) {
            #pragma unroll
            for (uint i = 0; i < 2; i++) {
                keep(&next[i], a_tile[i], b_tile[i]);
                barrier(CLK_LOCAL_MEM_FENCE);
                bring(&next[i], &a_source, &b_source, step + i + 3 < steps); // on their way while two others are multiplied
                multiply_tile(sum, a_tile[i], b_tile[i], y, x);
            }
        }
        if (steps % 2) {
            keep(&next[0], a_tile[0], b_tile[0]);
            barrier(CLK_LOCAL_MEM_FENCE);
            multiply_tile(sum, a_tile[0], b_tile[0], y, x);
            now = 1;
        }
#else
        pieces next;
        bring(&next, &a_source, &b_source, true);
        for (uint left = steps - 1; left > 0; left--, now ^= 1) {
            keep(&next, a_tile[now], b_tile[now]);
            barrier(CLK_LOCAL_MEM_FENCE);
            bring(&next, &a_source, &b_source, true); // on their way while these are multiplied
            multiply_tile(sum, a_tile[now], b_tile[now], y, x);
        }
        keep(&next, a_tile[now], b_tile[now]);
        barrier(CLK_LOCAL_MEM_FENCE);
        multiply_tile(sum, a_tile[now], b_tile[now], y, x);
        now ^= 1;
#endif
    }
#endif
    #pragma unroll 1
    for (ulong step = whole; step < k; step += BK, now ^= 1) {
        keep_checked(a_bits, b_bits, of_a, of_b, step, a_tile[now], b_tile[now]);
        barrier(CLK_LOCAL_MEM_FENCE);
        multiply_tile(sum, a_tile[now], b_tile[now], y, x);
    }

#ifdef DIRECT
    // Of a whole tile.
    if (inside && here.own_row == row && here.own_column == column) {
#ifdef SPLIT
        global SUM *to = work + ((get_group_id(1) * get_num_groups(2) + get_group_id(2)) * s.m + row + y) * s.n + column + x;
        const ulong pitch = s.n;
#else
        global SUM *to = (global SUM *)out + at.out + (row + y) * s.out_row + column + x;
        const ulong pitch = s.out_row;
#endif
        #pragma unroll
        for (uint p = 0; p < SM / SIDE; p++)
            #pragma unroll
            for (uint q = 0; q < SN / SIDE; q++) qn_matrix_store(&sum[p][q], to + p * SIDE * pitch + q * SIDE, pitch, qn_row_major);
        return;
    }
#endif
    // Where elements are in fragments is the device's own: sums go through local memory, a fragment at a time.
    const epilogue e = EPILOGUE;
    local SUM4 *strip = strips[get_sub_group_id()];
    #pragma unroll
    for (uint p = 0; p < SM / SIDE; p++)
        #pragma unroll
        for (uint q = 0; q < SN / SIDE; q++) {
            qn_matrix_store(&sum[p][q], (local SUM *)strip, STRIP, qn_row_major);
            sub_group_barrier(CLK_LOCAL_MEM_FENCE);
            for (uint i = get_sub_group_local_id(); i < SIDE * SIDE / 4; i += LANES) {
                const uint line = i / (SIDE / 4), from = i % (SIDE / 4);
                put_four(out, strip[line * (STRIP / 4) + from], s, &e, &at, row + y + p * SIDE + line, column + x + q * SIDE + from * 4, here, work);
            }
            sub_group_barrier(CLK_LOCAL_MEM_FENCE);
        }
}
