// Max pooling: the largest element of each window of a plane and which of its taps that is; and back, from a gradient by the largest to one by all
// elements. By -D: FROM, the type of elements, and VALUE, what they are computed in; KY and KX, the taps of a window; SY and SX, how far apart windows
// are; PY and PX, how far before the plane the first begins; V, neighbours that a work-item makes; PLACE, an integer that all places fit into.
#include "element.h"
#include "pack.h"

#if V > 1 || defined TOGETHER
PACK(few, FROM, V, FEW_WORD)
PACK(few_taps, uchar, V, TAPS_WORD)
#ifndef TOGETHER
PACK(many, FROM, V * SX, MANY_WORD)
#endif
#endif

#ifdef TOGETHER
// Planes that lie inside each other, `inner` of them: channels of a pixel. A work-item has V neighbours of one pixel.

// Global size: packs of all pixels that windows stand for.
kernel void largest_together(PLACE rows, PLACE columns, PLACE out_rows, PLACE out_columns, PLACE inner, ulong from_begin,
                             global const FROM *restrict from, ulong to_begin, global FROM *restrict to,
                             ulong taps_begin, global uchar *restrict taps) {
    const PLACE packs = inner / V, id = (PLACE)get_global_id(0), window = id / packs, c = (id - window * packs) * V,
                line = window / out_columns, column = window - line * out_columns, image = line / out_rows,
                row = line - image * out_rows;
    const PLACE y0 = row * SY - PY, x0 = column * SX - PX;
    global const FROM *in = from + from_begin + (size_t)image * rows * columns * inner + c;
    VALUE best[V];
    int tap[V];
    #pragma unroll
    for (int k = 0; k < V; k++) {
        best[k] = -INFINITY;
        tap[k] = (int)max(-y0, (PLACE)0) * KX + (int)max(-x0, (PLACE)0);
    }
    #pragma unroll
    for (int t = 0; t < KY * KX; t++) {
        const PLACE y = y0 + t / KX, x = x0 + t % KX;
        if (y < 0 || y >= rows || x < 0 || x >= columns) continue;
        const few pack = few_load(in + ((size_t)y * columns + x) * inner);
        #pragma unroll
        for (int k = 0; k < V; k++) {
            const VALUE e = (VALUE)pack.e[k];
            const bool is_larger = e > best[k] || e != e;
            best[k] = is_larger ? e : best[k];
            tap[k] = is_larger ? t : tap[k];
        }
    }
    few out;
    few_taps out_taps;
    #pragma unroll
    for (int k = 0; k < V; k++) {
        out.e[k] = best[k];
        out_taps.e[k] = (uchar)tap[k];
    }
    const size_t place = (size_t)window * inner + c;
#ifndef NO_VALUES
    few_store(to + (to_begin + place), out);
#endif
#ifndef NO_TAPS
    few_taps_store(taps + (taps_begin + place), out_taps);
#endif
}

// Global size: packs of all pixels.
kernel void spread_together(PLACE rows, PLACE columns, PLACE out_rows, PLACE out_columns, PLACE inner,
                            ulong from_begin, global const FROM *restrict from, ulong taps_begin,
                            global const uchar *restrict taps, ulong to_begin, global FROM *restrict to) {
    const PLACE packs = inner / V, id = (PLACE)get_global_id(0), pixel = id / packs, c = (id - pixel * packs) * V,
                line = pixel / columns, x = pixel - line * columns + PX, image = line / rows,
                y = line - image * rows + PY;
    const size_t before = (size_t)image * out_rows * out_columns;
    VALUE sum[V];
    #pragma unroll
    for (int k = 0; k < V; k++) sum[k] = 0;
    #pragma unroll
    for (int i = 0; i < ((KY - 1) / SY + 1) * ((KX - 1) / SX + 1); i++) {
        const PLACE wy = y / SY - i / ((KX - 1) / SX + 1), wx = x / SX - i % ((KX - 1) / SX + 1), ky = y - wy * SY,
                    kx = x - wx * SX;
        if (wy < 0 || wy >= out_rows || wx < 0 || wx >= out_columns || ky >= KY || kx >= KX) continue;
        const size_t place = (before + (size_t)wy * out_columns + wx) * inner + c;
        const few g = few_load(from + (from_begin + place));
        const few_taps chosen = few_taps_load(taps + (taps_begin + place));
        #pragma unroll
        for (int k = 0; k < V; k++) sum[k] += chosen.e[k] == ky * KX + kx ? (VALUE)g.e[k] : 0;
    }
    few out;
    #pragma unroll
    for (int k = 0; k < V; k++) out.e[k] = sum[k];
    few_store(to + (to_begin + (size_t)pixel * inner + c), out);
}

#elif defined LARGEST
#define SPAN ((V - 1) * SX + KX) // of a row, that V windows reach over

// Elements from x on, which is PX before a pack. Beyond the row there is what is larger than nothing.
static void load_span(VALUE *restrict v, global const FROM *restrict row, PLACE x, PLACE columns) {
#ifdef MANY
    const many pack = many_load(row + (x + PX));
#endif
    #pragma unroll
    for (int i = 0; i < SPAN; i++) {
#ifdef MANY
        if (i >= PX && i < PX + V * SX) {
            v[i] = (VALUE)pack.e[i - PX];
            continue;
        }
#endif
        v[i] = x + i >= 0 && x + i < columns ? (VALUE)row[x + i] : -INFINITY;
    }
}

// Of equal ones the first, of NaNs the last. Global size: packs of V windows, of all rows of all planes.
kernel void largest(PLACE rows, PLACE columns, PLACE out_rows, PLACE out_columns, ulong from_begin,
                    global const FROM *restrict from, ulong to_begin, global FROM *restrict to, ulong taps_begin,
                    global uchar *restrict taps) {
    const PLACE packs = (out_columns + (V - 1)) / V, id = (PLACE)get_global_id(0), line = id / packs,
                column = (id - line * packs) * V, plane = line / out_rows, row = line - plane * out_rows;
    const PLACE y0 = row * SY - PY, x0 = column * SX - PX;
    global const FROM *in = from + from_begin + (size_t)plane * rows * columns;
    VALUE best[V];
    int tap[V];
    #pragma unroll
    for (int k = 0; k < V; k++) {
        best[k] = -INFINITY;
        tap[k] = (int)max(-y0, (PLACE)0) * KX + (int)max(-(x0 + k * SX), (PLACE)0); // the first that is in the plane
    }
    #pragma unroll
    for (int ty = 0; ty < KY; ty++) {
        if (y0 + ty < 0 || y0 + ty >= rows) continue;
        VALUE v[SPAN];
        load_span(v, in + (y0 + ty) * columns, x0, columns);
        #pragma unroll
        for (int k = 0; k < V; k++) {
            #pragma unroll
            for (int tx = 0; tx < KX; tx++) {
                const VALUE e = v[k * SX + tx];
                const bool is_larger = e > best[k] || e != e;
                best[k] = is_larger ? e : best[k];
                tap[k] = is_larger ? ty * KX + tx : tap[k];
            }
        }
    }
    const size_t place = (size_t)line * out_columns + column;
#ifdef FEW
    few out;
    few_taps out_taps;
    #pragma unroll
    for (int k = 0; k < V; k++) {
        out.e[k] = best[k];
        out_taps.e[k] = (uchar)tap[k];
    }
#ifndef NO_VALUES
    few_store(to + (to_begin + place), out);
#endif
#ifndef NO_TAPS
    few_taps_store(taps + (taps_begin + place), out_taps);
#endif
#else
    #pragma unroll
    for (int k = 0; k < V; k++) {
        if (column + k >= out_columns) continue;
#ifndef NO_VALUES
        to[to_begin + place + k] = best[k];
#endif
#ifndef NO_TAPS
        taps[taps_begin + place + k] = (uchar)tap[k];
#endif
    }
#endif
}

#elif defined TILE
// A work-item makes SY rows of V * SX neighbours, in which the windows of a tile of V begin, but for the padding. What those and the windows beside them
// chose among its elements is known by their numbers alone.
#define Y_FIRST ((PY - KY + 1) / SY)
#define Y_LAST ((SY - 1 + PY) / SY)
#define X_FIRST ((PX - KX + 1) / SX)
#define X_LAST ((V * SX - 1 + PX) / SX)

// Global size: tiles of all rows of tiles of all planes.
kernel void spread(PLACE rows, PLACE columns, PLACE out_rows, PLACE out_columns, ulong from_begin,
                   global const FROM *restrict from, ulong taps_begin, global const uchar *restrict taps, ulong to_begin,
                   global FROM *restrict to) {
    const PLACE tiles = (columns + (V * SX - 1)) / (V * SX), lines = (rows + (SY - 1)) / SY, id = (PLACE)get_global_id(0),
                line = id / tiles, tile = id - line * tiles, plane = line / lines, y = line - plane * lines;
    global const FROM *in = from + from_begin + (size_t)plane * out_rows * out_columns;
    global const uchar *chosen = taps + taps_begin + (size_t)plane * out_rows * out_columns;
    VALUE sum[SY * V * SX];
    #pragma unroll
    for (int i = 0; i < SY * V * SX; i++) sum[i] = 0;
    #pragma unroll
    for (int dy = Y_FIRST; dy <= Y_LAST; dy++) {
        if (y + dy < 0 || y + dy >= out_rows) continue;
        const PLACE first = (y + dy) * out_columns;
#ifdef FEW
        const few here = few_load(in + (first + tile * V));
        const few_taps here_taps = few_taps_load(chosen + (first + tile * V));
#endif
        #pragma unroll
        for (int dx = X_FIRST; dx <= X_LAST; dx++) {
            const PLACE window = tile * V + dx;
            VALUE g = 0;
            int tap = -1;
#ifdef FEW
            if (dx >= 0 && dx < V) {
                g = (VALUE)here.e[dx];
                tap = here_taps.e[dx];
            } else
#endif
            if (window >= 0 && window < out_columns) {
                g = (VALUE)in[first + window];
                tap = chosen[first + window];
            }
            #pragma unroll
            for (int r = 0; r < SY; r++) {
                #pragma unroll
                for (int c = 0; c < V * SX; c++) {
                    const int ky = r - (dy * SY - PY), kx = c - (dx * SX - PX);
                    if (ky >= 0 && ky < KY && kx >= 0 && kx < KX) sum[r * V * SX + c] += tap == ky * KX + kx ? g : 0;
                }
            }
        }
    }
    #pragma unroll
    for (int r = 0; r < SY; r++) {
        if (y * SY + r >= rows) continue;
        const size_t place = ((size_t)plane * rows + y * SY + r) * columns + tile * (V * SX);
#ifdef MANY
        many out;
        #pragma unroll
        for (int c = 0; c < V * SX; c++) out.e[c] = sum[r * V * SX + c];
        many_store(to + (to_begin + place), out);
#else
        #pragma unroll
        for (int c = 0; c < V * SX; c++)
            if (tile * (V * SX) + c < columns) to[to_begin + place + c] = sum[r * V * SX + c];
#endif
    }
}

#else
// An element is in windows from (y + PY - KY) / SY + 1 to (y + PY) / SY. Global size: the elements.
kernel void spread(PLACE rows, PLACE columns, PLACE out_rows, PLACE out_columns, ulong from_begin,
                   global const FROM *restrict from, ulong taps_begin, global const uchar *restrict taps, ulong to_begin,
                   global FROM *restrict to) {
    const PLACE id = (PLACE)get_global_id(0), line = id / columns, x = id - line * columns + PX, plane = line / rows,
                y = line - plane * rows + PY;
    const size_t before = (size_t)plane * out_rows * out_columns;
    const PLACE y_first = y < KY ? 0 : (y - KY) / SY + 1, y_last = min(y / SY, out_rows - 1);
    const PLACE x_first = x < KX ? 0 : (x - KX) / SX + 1, x_last = min(x / SX, out_columns - 1);
    VALUE sum = 0;
    for (PLACE wy = y_first; wy <= y_last; wy++)
        for (PLACE wx = x_first; wx <= x_last; wx++) {
            const size_t place = before + (size_t)wy * out_columns + wx;
            const int tap = (int)((y - wy * SY) * KX + (x - wx * SX));
            if (taps[taps_begin + place] == tap) sum += (VALUE)from[from_begin + place];
        }
    to[to_begin + id] = sum;
}
#endif
