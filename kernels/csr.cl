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

#define START_OF(r) min((ulong)starts[m.starts_begin + (r)], m.elements)

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
#define PLACE(i) ((i) + (i) / 32) // rows of so many elements do not begin in one bank all of them

// The sum of products[begin .. end) by `lanes` neighbouring work-items, in the first of them. All of the work-group call.
static VALUE sum_of(local const VALUE *products, local VALUE *parts, uint begin, uint end, uint lane, uint lanes) {
    const uint me = ME;
    VALUE sum = 0;
    for (uint i = begin + lane; i < end; i += lanes) sum += products[PLACE(i)];
    if (lanes == 1) return sum;
    parts[me] = sum;
    for (uint step = lanes / 2; step > 0; step /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < step) parts[me] += parts[me + step];
    }
    sum = parts[me];
    barrier(CLK_LOCAL_MEM_FENCE);
    return sum;
}

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void multiply(matrix m, VALUE alpha, VALUE beta, global const START *restrict starts,
                     global const COLUMN *restrict columns, global const STORAGE *restrict values,
                     global const STORAGE *restrict x, global STORAGE *y, global VALUE *restrict leads,
                     global VALUE *restrict tails, global ulong *restrict open, global const ulong *restrict firsts) {
    local VALUE products[PLACE(CHUNK)], parts[GROUP];
    const uint me = ME;
    const ulong g = get_group_id(0), begin = g * CHUNK, end = min(begin + CHUNK, m.elements);
    const ulong first = firsts[g], last = firsts[g + 1];
    // As many work-items a row as there are for each; their first rows are looked up before the products, which take as long.
    uint lanes = GROUP;
    while (lanes > 1 && (GROUP / lanes) < last - first) lanes /= 2;
    const ulong lead_end = first < m.rows ? min(START_OF(first), end) : end;
    ulong row = first + me / lanes, row_begin = 0, row_end = 0;
    if (row < last) {
        row_begin = START_OF(row);
        row_end = START_OF(row + 1);
    }
    if (begin + CHUNK <= m.elements) { // all loads are under way before the first is used
        ulong at[EACH];
        VALUE factors[EACH];
        #pragma unroll
        for (uint j = 0; j < EACH; j++) {
            at[j] = (ulong)(long)columns[m.columns_begin + begin + me + j * GROUP];
            factors[j] = LOAD(values, m.values_begin + begin + me + j * GROUP);
        }
        #pragma unroll
        for (uint j = 0; j < EACH; j++)
            products[PLACE(me + j * GROUP)] = at[j] < m.columns ? factors[j] * LOAD(x, m.x_begin + at[j]) : 0;
    } else {
        for (ulong i = begin + me; i < end; i += GROUP) products[PLACE(i - begin)] = product(&m, columns, values, x, i);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    VALUE lead = 0;
    for (uint i = me; i < (uint)(lead_end - begin); i += GROUP) lead += products[PLACE(i)];
    if (lead_end > begin) lead = work_group_reduce_add(lead);
    if (me == 0) {
        leads[g] = lead;
        open[g] = last > first && START_OF(last) > end ? last - 1 : ~0ul; // the last one that begins here
    }
    for (ulong base = first; base < last; base += GROUP / lanes) {
        const bool there = row < last;
        const uint from = there ? (uint)(row_begin - begin) : 0, to = there ? (uint)(min(row_end, end) - begin) : 0;
        const VALUE sum = sum_of(products, parts, from, to, me % lanes, lanes);
        if (there && me % lanes == 0) {
            if (row_end > end)
                tails[g] = sum;
            else
                STORE(y, m.y_begin + row, result(&m, sum, alpha, beta, y, row));
        }
        row += GROUP / lanes;
        if (row < last) {
            row_begin = START_OF(row);
            row_end = START_OF(row + 1);
        }
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
