// What the kernels share that convolve by quads of sub-groups (docs/language.md): compute capability 9.0. Work-groups stay for as many
// tiles as there are for them. One quad copies tiles ahead, STAGES of them; DOWN by ACROSS quads multiply, each a part of 64 rows and
// COLUMNS columns.
// FROM_PLAIN: the window has a tap and goes over pixels as they follow each other in memory, so that they are rows of a matrix.
// By -D: CLUSTER, work-groups that all get what LOAD_TAP of one of them loads; Q, the type of the operands (16 bits), and PACK, which makes two of them of a float2; DOWN, ACROSS, COLUMNS, STAGES;
// REGISTERS, of a work-item that multiplies, where the compiler is not to share them out evenly.
#define QUADS   (DOWN * ACROSS)
#define BLOCK   8192          // bytes: 64 rows of 128
#define SUMS    (COLUMNS / 2) // of a work-item
#define WIDE    (COLUMNS * ACROSS)
#define A_BYTES (DOWN * BLOCK)
#define B_BYTES (WIDE * 128)

// Written by src/kernels/convolve_quad.c. Sizes of the images that the window goes over, and of the window: positions, where it
// begins, how far they are apart, and its taps.
typedef struct window {
    uint pixels, rows, columns; // positions: of all images, along each
    uint channels, outputs;
    int first[2], stride[2], dilation[2]; // down, across
    uint tap_rows, tap_columns;
    int tap_first, tap_row,
        tap_column;   // where a tap's weights are: the first tap's, and from one to the next
    uint part, parts; // steps of a work-group, and how many share a tile
    ulong bias_begin;
    long bias;
} window;

// A position: where it is among those that come out, and in the images.
typedef struct place {
    int column, row, image, from_column, from_row;
} place;

static place place_of(const window *w, uint pixel) {
    const uint row = pixel / w->columns;
    place p;
    p.column = (int)(pixel % w->columns);
    p.row = (int)(row % w->rows);
    p.image = (int)(row / w->rows);
    p.from_column = w->first[1] + p.column * w->stride[1];
    p.from_row = w->first[0] + p.row * w->stride[0];
    return p;
}

// What a tap, so many columns and rows on, meets from a position on.
#if CLUSTER > 1
#define TO_ALL(name) name##_to
#define MASK         , (1 << CLUSTER) - 1
#else
#define TO_ALL(name) name
#define MASK
#endif
#ifdef FROM_PLAIN
#define LOAD_TAP(to, map, channel, p, pixel, columns, rows, there)                                           \
    TO_ALL(qn_tile_load)(to, map, channel, (int)(pixel), 0, there MASK)
#else
#define LOAD_TAP(to, map, channel, p, pixel, columns, rows, there)                                           \
    TO_ALL(qn_window_load)                                                                                   \
    (to, map, channel, (p).from_column, (p).from_row, (p).image, columns, rows, there MASK)
#endif

// Taps and channels of them, in the order of steps and blocks.
typedef struct walk {
    uint channel, column, row;
} walk;

static void walk_on(const window *w, walk *k) {
    k->channel += 64;
    if (k->channel < w->channels) return;
    k->channel = 0;
    if (++k->column < w->tap_columns) return;
    k->column = 0;
    k->row++;
}

// Barriers of the copies: a stage is full, or empty.
typedef struct stage {
    uint at, parity;
} stage;

static void advance(stage *s) {
    s->at++;
    if (s->at < STAGES) return;
    s->at = 0;
    s->parity ^= 1;
}

static uint row_in_tile(uint item, uint i) { return item / 32 * 16 + item % 32 / 4 + i / 2 % 2 * 8; }
static uint column_in_tile(uint item, uint i) { return i / 4 * 8 + item % 4 * 2 + i % 2; }

// Sums of a part of the steps, to be added to those of the others; there are multiples of 8 columns.
static void put_parts(global float *work, const float *sums, uint first_row, uint first_column, uint rows,
                      uint columns, uint item) {
#pragma unroll
    for (uint i = 0; i < SUMS; i += 2) {
        const uint row = first_row + row_in_tile(item, i), column = first_column + column_in_tile(item, i);
        if (row < rows && column < columns)
            vstore2((float2)(sums[i], sums[i + 1]), 0, work + (ulong)row * columns + column);
    }
}
