// How images are loaded whose channels lie together (NHWC): RUN neighbours of a pixel at once, a PIECE, of which channels are a
// multiple. A step is BK channels of one tap, and all taps of these channels come before the next ones.
// Expects RUN, PIECE, BK, LOAD_PIECE(pointer), and GATHER_PIECE(pointer, stride) for elements that are apart; by -D WEIGHTS_TOGETHER: 1
// where the weights of neighbouring channels lie together, too, 2 where those of neighbouring outputs do, of which there is a multiple of
// RUN; else 0.
#define RUNS   (BK / RUN)
#define PIXELS (BM * RUNS / ITEMS)
#define APART  (ITEMS / RUNS) // from a work-item's pixel to its next one, and from an output to the next one
#if WEIGHTS_TOGETHER == 2
#define WEIGHT_RUNS  (BN / RUN) // of a channel
#define WEIGHT_APART (ITEMS / WEIGHT_RUNS)
#define WEIGHT_PARTS (BK / WEIGHT_APART)
#else
#define WEIGHT_PARTS ((BN * RUNS + ITEMS - 1) / ITEMS)
#endif

typedef struct part {
    PIECE a[PIXELS], b[WEIGHT_PARTS];
} part;

typedef struct place {
    global const STORAGE *pixels[PIXELS], *weights;
    uint rows[PIXELS], columns[PIXELS]; // a bit for each tap
    uint outputs;                       // that are left from its first one on
    uint row, column, channels_left;    // of the step, from this work-item's channel on
    uint weight_channels_left;          // the same for its weights
} place;

static uint steps_of(uint channels) { return (channels + BK - 1) / BK * ROWS * COLUMNS; }

static void set_place(place *p, problem h, global const STORAGE *from, global const STORAGE *weights,
                      INDEX first_pixel, uint first_output, uint channels) {
    const uint item = get_local_id(0), first_channel = item % RUNS * RUN, area = h.to_rows * h.to_columns;
#pragma unroll
    for (uint i = 0; i < PIXELS; i++) {
        const INDEX at = first_pixel + item / RUNS + i * APART, n = at / area;
        const uint in_image = (uint)(at % area);
        const long row = (long)(in_image / h.to_columns) * h.stride[0] - h.padding[0],
                   column = (long)(in_image % h.to_columns) * h.stride[1] - h.padding[1];
        p->rows[i] = at < h.pixels ? bits_inside(row, h.dilation[0], ROWS, h.rows) : 0;
        p->columns[i] = bits_inside(column, h.dilation[1], COLUMNS, h.columns);
        p->pixels[i] = from + (long)n * h.from[0] + row * h.from[2] + column * h.from[3] + first_channel;
    }
#if WEIGHTS_TOGETHER == 2
    const uint output = item % WEIGHT_RUNS * RUN, weight_channel = item / WEIGHT_RUNS;
#else
    const uint output = item / RUNS, weight_channel = first_channel;
#endif
    p->weights = weights + (long)(first_output + output) * h.weights[0] + weight_channel * h.weights[1];
    p->outputs = h.outputs - first_output - min(output, h.outputs - first_output);
    p->weight_channels_left = channels - min(channels, weight_channel);
    p->row = p->column = 0;
    p->channels_left = channels - min(channels, first_channel);
}

static void advance(place *p, problem h) {
    const long next_row = h.dilation[0] * h.from[2], next_column = h.dilation[1] * h.from[3];
    long further = next_column, weights = h.weights[3];
    if (++p->column == COLUMNS) {
        p->column = 0;
        further = next_row - (COLUMNS - 1) * next_column;
        weights = h.weights[2] - (COLUMNS - 1) * h.weights[3];
        if (++p->row == ROWS) {
            p->row = 0;
            p->channels_left -= min(p->channels_left, (uint)BK);
            p->weight_channels_left -= min(p->weight_channels_left, (uint)BK);
            further = BK - (ROWS - 1) * next_row - (COLUMNS - 1) * next_column;
            weights = BK * h.weights[1] - (ROWS - 1) * h.weights[2] - (COLUMNS - 1) * h.weights[3];
        }
    }
    p->weights += weights;
#pragma unroll
    for (uint i = 0; i < PIXELS; i++) p->pixels[i] += further;
}

static void fetch(part *t, problem h, const place *p) {
    const bool there = p->channels_left > 0;
#pragma unroll
    for (uint i = 0; i < PIXELS; i++) {
        t->a[i] = 0;
        if (there && (p->rows[i] >> p->row & p->columns[i] >> p->column & 1))
            t->a[i] = LOAD_PIECE(p->pixels[i]);
    }
#pragma unroll
    for (uint i = 0; i < WEIGHT_PARTS; i++) {
        t->b[i] = 0;
#if WEIGHTS_TOGETHER == 2
        if (i * WEIGHT_APART < p->weight_channels_left && p->outputs > 0)
            t->b[i] = LOAD_PIECE(p->weights + (long)(i * WEIGHT_APART) * h.weights[1]);
#else
        if (p->weight_channels_left == 0 || i * APART >= p->outputs) continue;
        global const STORAGE *w = p->weights + (long)(i * APART) * h.weights[0];
#if WEIGHTS_TOGETHER
        t->b[i] = LOAD_PIECE(w);
#else
        t->b[i] = GATHER_PIECE(w, h.weights[1]);
#endif
#endif
    }
}
