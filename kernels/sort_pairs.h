// Pairs of a key and a place in local memory, put in order by key and then place, which a work-group does: bitonic (Batcher, "Sorting networks
// and their applications", 1968). The file that includes it has KEY; GROUP (work_group.h); SORTED, a power of two, for so many of which there is
// room. What is there beyond the first `count` becomes later than all.
static void sort_pairs(local KEY *keys, local uint *places, uint count) {
    for (uint i = count + ME; i < SORTED; i += GROUP) keys[i] = (KEY) ~(KEY)0, places[i] = ~0u;
    for (uint size = 2; size <= SORTED; size *= 2) {
        for (uint stride = size / 2; stride > 0; stride /= 2) {
            BARRIER;
            for (uint pair = ME; pair < SORTED / 2; pair += GROUP) {
                const uint i = 2 * pair - (pair & (stride - 1)), j = i + stride;
                const KEY a = keys[i], b = keys[j];
                const uint x = places[i], y = places[j];
                const bool later = a > b || (a == b && x > y);
                if (later == ((i & size) == 0)) {
                    keys[i] = b, keys[j] = a;
                    places[i] = y, places[j] = x;
                }
            }
        }
    }
    BARRIER;
}
