// y = alpha A x + beta y for a sparse matrix in compressed rows: row r has the elements from starts[r] up to starts[r + 1]. Each
// work-group has as many elements, CHUNK of them, whatever the rows are like; a row that goes on in other chunks is left to finish.
// By -D: STORAGE, LOAD, STORE and VALUE, the type of elements and of sums (element.h); START and COLUMN, the types of indices;
// GROUP work-items a work-group. Elements beyond the matrix, and columns beyond x, count as 0.
#include "element.h"
#include "work_group.h"

typedef struct matrix {
    ulong rows, columns, elements;
    ulong starts_begin, columns_begin, values_begin, x_begin, y_begin;
} matrix;

#define START_OF_IN(m, r) min((ulong)starts[(m)->starts_begin + (r)], (m)->elements)
#define START_OF(r)       START_OF_IN(&m, r)

static VALUE product(const matrix *m, global const COLUMN *restrict columns, global const STORAGE *restrict values,
                     global const STORAGE *restrict x, ulong i) {
    const ulong column = (ulong)(long)columns[m->columns_begin + i];
    return column < m->columns ? LOAD(values, m->values_begin + i) * LOAD(x, m->x_begin + column) : 0;
}

// The first row, or `rows`, that does not begin before element i.
static ulong row_from(const matrix *m, global const START *restrict starts, ulong i) {
    ulong low = 0, high = m->rows;
    while (low < high) {
        const ulong middle = (low + high) / 2;
        if ((ulong)starts[m->starts_begin + middle] < i)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static VALUE result(const matrix *m, VALUE sum, VALUE alpha, VALUE beta, global const STORAGE *y, ulong row) {
    return alpha * sum + (beta != 0 ? beta * LOAD(y, m->y_begin + row) : 0);
}

// leads[g]: what chunk g has of the row that is under way where it begins. open[g] and tails[g]: the row that begins in chunk g and
// goes on behind it, or ~0, and what the chunk has of it.
#if GROUP == 1
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void multiply(matrix m, VALUE alpha, VALUE beta, global const START *restrict starts,
                     global const COLUMN *restrict columns, global const STORAGE *restrict values,
                     global const STORAGE *restrict x, global STORAGE *y, global VALUE *restrict leads,
                     global VALUE *restrict tails, global ulong *restrict open) {
    const ulong g = get_group_id(0), begin = g * CHUNK, end = min(begin + CHUNK, m.elements);
    const ulong first = row_from(&m, starts, begin), last = end == m.elements ? m.rows : row_from(&m, starts, end);
    const ulong lead_end = first < m.rows ? min(START_OF(first), end) : end;
    VALUE lead = 0;
    for (ulong i = begin; i < lead_end; i++) lead += product(&m, columns, values, x, i);
    leads[g] = lead;
    open[g] = ~0ul;
    for (ulong row = first; row < last; row++) {
        const ulong row_end = START_OF(row + 1);
        VALUE sum = 0;
        for (ulong i = START_OF(row); i < min(row_end, end); i++) sum += product(&m, columns, values, x, i);
        if (row_end > end) {
            open[g] = row;
            tails[g] = sum;
        } else {
            STORE(y, m.y_begin + row, result(&m, sum, alpha, beta, y, row));
        }
    }
}
#else
// firsts[g]: the first row that begins in chunk g or behind it. Work-item: a chunk, and one behind the last.
kernel void find_rows(matrix m, global const START *restrict starts, global ulong *restrict firsts) {
    const ulong g = get_global_id(0);
    firsts[g] = g == 0 || g * CHUNK < m.elements ? row_from(&m, starts, g * CHUNK) : m.rows;
}

#define EACH (CHUNK / GROUP)
#define PLACE(i) ((i) + (i) / 32) // rows of so many elements do not begin in one bank all of them; GROUP is a multiple of 32
#if WIDTH > 1 // of sub-groups
#define ITEM (get_sub_group_id() * WIDTH + get_sub_group_local_id())
#else
#define ITEM ME
#endif

// The sum of products[begin .. end) by `lanes` neighbouring work-items, a power of two, in the first of them. All of the work-group call.
static VALUE sum_of(local const VALUE *products, local VALUE *parts, uint begin, uint end, uint lanes) {
    const uint item = ITEM, lane = item & (lanes - 1);
    VALUE sum = 0;
    uint i = begin + lane;
    for (; i + 3 * lanes < end; i += 4 * lanes) {
        const VALUE a = products[PLACE(i)], b = products[PLACE(i + lanes)], c = products[PLACE(i + 2 * lanes)],
                    d = products[PLACE(i + 3 * lanes)];
        sum += (a + b) + (c + d);
    }
    for (; i < end; i += lanes) sum += products[PLACE(i)];
#if WIDTH > 1
    for (uint step = min(lanes, (uint)WIDTH) / 2; step > 0; step /= 2) sum += sub_group_shuffle_xor(sum, step);
#endif
    if (lanes <= WIDTH) return sum;
    if (item % WIDTH == 0) parts[item / WIDTH] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint other = WIDTH; lane == 0 && other < lanes; other += WIDTH) sum += parts[(item + other) / WIDTH];
    barrier(CLK_LOCAL_MEM_FENCE);
    return sum;
}

// What a chunk has of a row: elements from `from` up to `to`, which may lie behind the chunk. Piece 0 is of the row that is under way
// where the chunk begins, and may be empty; the others are of rows that begin there.
typedef struct extent {
    ulong from, to;
} extent;

static extent extent_of(const matrix *m, global const START *restrict starts, ulong begin, ulong end, ulong first, ulong piece) {
    const ulong row = first + piece; // the one behind it
    const extent e = {piece > 0 ? START_OF_IN(m, row - 1) : begin, piece > 0 || row < m->rows ? START_OF_IN(m, row) : end};
    return e;
}

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void multiply(matrix m, VALUE alpha, VALUE beta, global const START *restrict starts,
                     global const COLUMN *restrict columns, global const STORAGE *restrict values,
                     global const STORAGE *restrict x, global STORAGE *y, global VALUE *restrict leads,
                     global VALUE *restrict tails, global ulong *restrict open, global const ulong *restrict firsts) {
    local VALUE products[PLACE(CHUNK)], parts[GROUP / WIDTH];
    const uint item = ITEM;
    const ulong g = get_group_id(0), begin = g * CHUNK, end = min(begin + CHUNK, m.elements);
    const ulong first = firsts[g], pieces = firsts[g + 1] - first + 1;
    const bool full = begin + CHUNK <= m.elements;
    COLUMN at[EACH];
    VALUE factors[EACH];
    if (full) {
        global const COLUMN *from_columns = columns + m.columns_begin + begin + item;
        global const STORAGE *from_values = values + m.values_begin + begin + item;
        #pragma unroll
        for (uint j = 0; j < EACH; j++) at[j] = from_columns[j * GROUP];
        #pragma unroll
        for (uint j = 0; j < EACH; j++) factors[j] = LOAD(from_values, j * GROUP);
    }
    // As many work-items a row as there are for each. Where their rows begin is looked up beside the products, which take as long.
    uint lanes = GROUP, together = 1, shift = 31 - clz((uint)GROUP);
    for (; together < GROUP && together < pieces; together *= 2) lanes /= 2, shift--;
    ulong piece = item >> shift;
    extent e = {begin, begin};
    if (piece < pieces) e = extent_of(&m, starts, begin, end, first, piece);
    if (full) {
        global const STORAGE *own_x = x + m.x_begin;
        #pragma unroll
        for (uint j = 0; j < EACH; j++) {
            const ulong column = (ulong)(long)at[j];
            factors[j] = column < m.columns ? factors[j] * LOAD(own_x, column) : 0;
        }
        #pragma unroll
        for (uint j = 0; j < EACH; j++) products[PLACE(item) + j * PLACE(GROUP)] = factors[j];
    } else {
        for (ulong i = begin + item; i < end; i += GROUP) products[PLACE(i - begin)] = product(&m, columns, values, x, i);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (ulong base = 0; base < pieces; base += together) {
        const VALUE sum = sum_of(products, parts, (uint)(e.from - begin), (uint)(min(e.to, end) - begin), lanes);
        if ((item & (lanes - 1)) == 0 && piece < pieces) {
            const ulong row = first + piece - 1;
            if (piece == 0)
                leads[g] = sum;
            else if (e.to > end)
                tails[g] = sum;
            else
                STORE(y, m.y_begin + row, result(&m, sum, alpha, beta, y, row));
            if (piece == pieces - 1) open[g] = piece > 0 && e.to > end ? row : ~0ul; // the last one that begins here
        }
        piece += together;
        e.from = e.to = begin;
        if (piece < pieces) e = extent_of(&m, starts, begin, end, first, piece);
    }
}
#endif

// Rows of several chunks. Work-item: a chunk in which one may begin.
kernel void finish(matrix m, VALUE alpha, VALUE beta, ulong chunks, global const START *restrict starts,
                   global STORAGE *y, global const VALUE *restrict leads, global const VALUE *restrict tails,
                   global const ulong *restrict open) {
    ulong g = get_global_id(0);
    const ulong row = open[g];
    if (row == ~0ul) return;
    const ulong row_end = START_OF(row + 1);
    VALUE sum = tails[g];
    for (g++; g < chunks && g * CHUNK < row_end; g++) sum += leads[g];
    STORE(y, m.y_begin + row, result(&m, sum, alpha, beta, y, row));
}
