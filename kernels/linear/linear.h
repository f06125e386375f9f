// What the kernels of this folder share: batches of small matrices, each row after row, of which a work-group of GROUP work-items has one. By -D:
// T, float or double; ROUNDING, half the distance of its numbers near 1; GROUP; LOCAL: what is worked on lies in local memory, else in
// global memory that is the work-group's own.
#include "../work_group.h"

#define GROUP_SIZE __attribute__((reqd_work_group_size(GROUP, 1, 1)))
#define MATRIX     ((ulong)get_group_id(0))

#ifdef LOCAL
#define WORK          local
#define OWN(work, of) (work)
#else
#define WORK          global
#define OWN(work, of) (work + MATRIX * (of))
#endif

// All have arrived, and see what each has written: to what is worked on, and to any memory.
#if GROUP == 1
#define MEET_GLOBAL
#define MEET
#else
#define MEET_GLOBAL barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#ifdef LOCAL
#define MEET barrier(CLK_LOCAL_MEM_FENCE)
#else
#define MEET MEET_GLOBAL
#endif
#endif

#ifdef JACOBI
// Rotations of Jacobi's method. In each of the `players` - 1 rounds of a sweep every two of them meet once, as in a tournament: the last one stays
// in its place, the others go around. So the pairs of a round have nothing in common.
typedef struct pair {
    ulong low, high;
} pair;

static pair pair_of(ulong round, ulong game, ulong players) {
    const ulong others = players - 1;
    const ulong a = game ? (round + game) % others : others, b = (round + others - game) % others;
    const pair p = {min(a, b), max(a, b)};
    return p;
}

typedef struct turn {
    T c, s;
} turn;

// What makes the products of two vectors 0, whose own squares differ by zeta times twice their product.
static turn turn_of(T zeta) {
    const T t = (zeta < 0 ? (T)-1 : (T)1) / (fabs(zeta) + sqrt(zeta * zeta + 1));
    const T c = 1 / sqrt(t * t + 1);
    const turn r = {c, c * t};
    return r;
}

// The vectors of two rows that lie `by` apart.
static void turn_rows(WORK T *a, WORK T *b, ulong count, ulong by, turn r) {
    for (ulong i = 0; i < count * by; i += by) {
        const T x = a[i], y = b[i];
        a[i] = r.c * x - r.s * y;
        b[i] = r.s * x + r.c * y;
    }
}

// How many of the values come before value i, the largest first where `falling` is not 0; among equal ones those before.
static ulong rank_of(WORK const T *values, ulong by, ulong n, ulong i, int falling) {
    ulong rank = 0;
    const T own = values[i * by];
    for (ulong j = 0; j < n; j++) {
        const T other = values[j * by];
        const int before =
            falling ? other > own || isnan(other) > isnan(own) : other < own || isnan(own) > isnan(other);
        rank += before || (j < i && !(other < own) && !(other > own) && isnan(other) == isnan(own));
    }
    return rank;
}

enum { SWEEPS = 30 }; // more than are ever needed: each squares what is left
#endif
