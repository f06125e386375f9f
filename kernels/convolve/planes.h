// How tile.cl loads images whose pixels lie together (NCHW), or of any strides: a work-item has PIXELS rows of the left tile and
// loads all of a step for them. What a step adds to an address is the same for the whole group.
// By -D: a step is STEP_CHANNELS channels of STEP_ROWS rows of taps (1 or all); NEXT, from a tap to the next one in its row.
#define TAPS         (STEP_ROWS * COLUMNS) // of a channel, in a step
#define BK           (STEP_CHANNELS * TAPS)
#define A_PITCH      BM
#define PIXELS       (BM / ITEMS)
#define WEIGHT_ROWS  (ITEMS / BK) // outputs whose weights the group loads at a time
#define WEIGHT_PARTS ((BN + WEIGHT_ROWS - 1) / WEIGHT_ROWS)

// A work-item's part of the tiles.
typedef struct part {
    VALUE a[PIXELS][BK], b[WEIGHT_PARTS];
} part;

// Where it loads from: for each of its pixels at the first tap, and the weights of its first output.
typedef struct place {
    global const STORAGE *pixels[PIXELS], *weights;
    uint inside[PIXELS]; // a bit for each tap
#if STEP_ROWS != ROWS
    uint rows[PIXELS]; // for each row of them; `inside` is for those in a row
#endif
    uint outputs, channel;   // that are left from its first one on; of a step
    uint row, channels_left; // of the step
} place;

static uint steps_of(uint channels) {
    return (channels + STEP_CHANNELS - 1) / STEP_CHANNELS * (ROWS / STEP_ROWS);
}

static void set_place(place *p, problem h, global const STORAGE *from, global const STORAGE *weights,
                      INDEX first_pixel, uint first_output, uint channels) {
    const uint item = get_local_id(0), area = h.to_rows * h.to_columns;
#pragma unroll
    for (uint i = 0; i < PIXELS; i++) {
        const INDEX at = first_pixel + item + i * ITEMS, n = at / area;
        const uint in_image = (uint)(at % area);
        const long row = (long)(in_image / h.to_columns) * h.stride[0] - h.padding[0],
                   column = (long)(in_image % h.to_columns) * h.stride[1] - h.padding[1];
        const uint rows = at < h.pixels ? bits_inside(row, h.dilation[0], ROWS, h.rows) : 0,
                   columns = bits_inside(column, h.dilation[1], COLUMNS, h.columns);
        p->pixels[i] = from + (long)n * h.from[0] + row * h.from[2] + column * h.from[3];
#if STEP_ROWS != ROWS
        p->rows[i] = rows;
        p->inside[i] = columns;
#else
        p->inside[i] = 0;
#pragma unroll
        for (uint r = 0; r < ROWS; r++) p->inside[i] |= (rows >> r & 1 ? columns : 0) << r * COLUMNS;
#endif
    }
    const uint k = item % BK, c = k / TAPS, r = k % TAPS / COLUMNS, s = k % COLUMNS, output = item / BK;
    p->weights = weights + (long)(first_output + output) * h.weights[0] + c * h.weights[1] +
                 r * h.weights[2] + s * h.weights[3];
    p->outputs =
        item < WEIGHT_ROWS * BK ? h.outputs - first_output - min(output, h.outputs - first_output) : 0;
    p->channel = c;
    p->row = 0;
    p->channels_left = channels;
}

// To the next step.
static void advance(place *p, problem h) {
    const long next_channels = STEP_CHANNELS * h.from[1], next_weights = STEP_CHANNELS * h.weights[1];
#if STEP_ROWS != ROWS
    const long next_row = h.dilation[0] * h.from[2], first_row = next_channels - (ROWS - 1) * next_row;
    const long first_weights_row = next_weights - (ROWS - 1) * h.weights[2];
    const bool wraps = ++p->row == ROWS;
    const long further = wraps ? first_row : next_row;
    p->weights += wraps ? first_weights_row : h.weights[2];
    if (wraps) {
        p->row = 0;
        p->channels_left -= STEP_CHANNELS;
    }
#else
    const long further = next_channels;
    p->weights += next_weights;
    p->channels_left -= STEP_CHANNELS;
#endif
#pragma unroll
    for (uint i = 0; i < PIXELS; i++) p->pixels[i] += further;
}

static void fetch(part *t, problem h, const place *p) {
    const uint channels = p->channels_left;
#pragma unroll
    for (uint i = 0; i < PIXELS; i++) {
#if STEP_ROWS != ROWS
        const uint inside = p->rows[i] >> p->row & 1 ? p->inside[i] : 0;
#else
        const uint inside =
            channels > 0 ? p->inside[i] : 0; // always: one register in place of a condition for each tap
#endif
#pragma unroll
        for (uint k = 0; k < BK; k++) {
            const uint c = k / TAPS, y = k % TAPS / COLUMNS, x = k % COLUMNS;
            t->a[i][k] = 0;
            if ((inside >> (k % TAPS) & 1) && (STEP_CHANNELS == 1 || c < channels))
                t->a[i][k] = LOAD(p->pixels[i] + c * h.from[1] + y * h.dilation[0] * h.from[2], x * NEXT);
        }
    }
    const uint outputs = STEP_CHANNELS == 1 || p->channel < channels ? p->outputs : 0;
#pragma unroll
    for (uint i = 0; i < WEIGHT_PARTS; i++) {
        t->b[i] = 0;
        if (i * WEIGHT_ROWS < outputs) t->b[i] = LOAD(p->weights + (long)(i * WEIGHT_ROWS) * h.weights[0], 0);
    }
}

static void keep(const part *t, local VALUE *a_tile, local VALUE *b_tile) {
    const uint item = get_local_id(0), output = item / BK;
#pragma unroll
    for (uint i = 0; i < PIXELS; i++)
#pragma unroll
        for (uint k = 0; k < BK; k++) a_tile[k * A_PITCH + item + i * ITEMS] = t->a[i][k];
    if (item >= WEIGHT_ROWS * BK) return;
    local VALUE *to = b_tile + item % BK * B_PITCH + output;
#pragma unroll
    for (uint i = 0; i < WEIGHT_PARTS; i++)
        if ((i + 1) * WEIGHT_ROWS <= BN || output + i * WEIGHT_ROWS < BN) to[i * WEIGHT_ROWS] = t->b[i];
}
