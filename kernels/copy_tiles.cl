// to = from where their innermost dimensions differ: a work-group of 256 takes a tile of T0 indices of the one of `to`, the walk's first, by T1
// of the one of `from`, its second, through local memory, so that both are gone through in order. By -D: those of copy.h;
// FROM_LOADED, what loading gives; VF and VT, how many neighbours are moved at once, in words of FROM_WORD and TO_WORD. Global size: 256
// for each T0, each T1, all other dimensions.
#define FROM_DIMENSION 1
#include "copy.h"

PACK(from_pack, FROM, VF, FROM_WORD)
PACK(to_pack, TO, VT, TO_WORD)

#define ITEMS 256
// So many more elements in a row of a tile that a column lies in all banks, which are of four bytes.
#define PAD (sizeof(FROM) * VT < 4 ? 4 / (sizeof(FROM) * VT) : 1)
// Of a tile of `a` by `b` elements, moved in packs of `v` along b, pack r of a work-item lies at the sum of what depends on the
// work-item alone and what depends on r alone, which is the same for all.
#define OUTER_LANE(v, b) ((b) > ITEMS * (v) ? 0 : lid * (v) / (b))
#define INNER_LANE(v, b) ((b) > ITEMS * (v) ? lid * (v) : lid * (v) % (b))
#define OUTER_ROUND(r, v, b) ((b) > ITEMS * (v) ? (r) / ((b) / (ITEMS * (v))) : (r) * (ITEMS * (v) / (b)))
#define INNER_ROUND(r, v, b) ((b) > ITEMS * (v) ? (r) % ((b) / (ITEMS * (v))) * (ITEMS * (v)) : 0)
#define OUTER(r, v, b) (OUTER_LANE(v, b) + OUTER_ROUND(r, v, b))
#define INNER(r, v, b) (INNER_LANE(v, b) + INNER_ROUND(r, v, b))
#define FROM_ROUNDS (T0 * T1 / (ITEMS * VF))
#define TO_ROUNDS (T0 * T1 / (ITEMS * VT))
#define EACH(r, rounds) _Pragma("unroll") for (uint r = 0; r < rounds; r++)

kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
tiles(walk w, ulong to_begin, global TO *restrict to, ulong from_begin, global const FROM *restrict from) {
    local FROM tile[T0][T1 + PAD];
    const uint lid = (uint)get_local_id(0);
    const ulong first0 = (ulong)get_group_id(0) * T0, first1 = (ulong)get_group_id(1) * T1;
    const uint n0 = (uint)min(w.sizes[0] - first0, (ulong)T0), n1 = (uint)min(w.sizes[1] - first1, (ulong)T1);
    const ulong outer = get_global_id(2);
    to += (long)to_begin + (long)first0 * TO_STRIDE + (long)first1 * w.to[1] + outer_to(w, outer);
    from += (long)from_begin + (long)first0 * w.from[0] + (long)first1 * FROM_STRIDE + outer_from(w, outer);
    from += (long)OUTER_LANE(VF, T1) * w.from[0] + (long)INNER_LANE(VF, T1) * FROM_STRIDE;
    to += (long)OUTER_LANE(VT, T0) * w.to[1] + (long)INNER_LANE(VT, T0) * TO_STRIDE;
#define FROM_AT(r) (from + ((long)OUTER_ROUND(r, VF, T1) * w.from[0] + (long)INNER_ROUND(r, VF, T1) * FROM_STRIDE))
#define TO_AT(r) (to + ((long)OUTER_ROUND(r, VT, T0) * w.to[1] + (long)INNER_ROUND(r, VT, T0) * TO_STRIDE))
    const bool whole = n0 == T0 && n1 == T1;
    // All loads are under way before the first is used.
    if (whole) {
        from_pack x[FROM_ROUNDS];
        EACH(r, FROM_ROUNDS) x[r] = from_pack_load(FROM_AT(r));
        EACH(r, FROM_ROUNDS) {
            EACH(k, VF) tile[OUTER(r, VF, T1)][INNER(r, VF, T1) + k] = x[r].e[k];
        }
    } else {
        FROM x[FROM_ROUNDS][VF];
        EACH(r, FROM_ROUNDS) {
            EACH(k, VF) {
                if (OUTER(r, VF, T1) < n0 && INNER(r, VF, T1) + k < n1) x[r][k] = FROM_AT(r)[k * FROM_STRIDE];
            }
        }
        EACH(r, FROM_ROUNDS) {
            EACH(k, VF) tile[OUTER(r, VF, T1)][INNER(r, VF, T1) + k] = x[r][k];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#define ELEMENT(r, k) CONVERT((FROM_LOADED)tile[INNER(r, VT, T0) + k][OUTER(r, VT, T0)])
    if (whole) {
        EACH(r, TO_ROUNDS) {
            to_pack y;
            EACH(k, VT) y.e[k] = ELEMENT(r, k);
            to_pack_store(TO_AT(r), y);
        }
    } else {
        EACH(r, TO_ROUNDS) {
            EACH(k, VT) {
                if (OUTER(r, VT, T0) < n1 && INNER(r, VT, T0) + k < n0) TO_AT(r)[k * TO_STRIDE] = ELEMENT(r, k);
            }
        }
    }
}
