// Bitonic sort of n uints, n a power of two (Batcher 1968). For run = 2, 4, ..., n: for distance = run/2,
// run/4, ..., 1: every pair of elements `distance` apart is put in order, upwards or downwards by the bit
// `run` of its index. bitonic_step does one such step with n/2 work-items. Once the distance fits a group,
// bitonic_local does all the steps that are left for this run in local memory.
static uint low_index(uint pair, uint distance) { return 2 * pair - (pair & (distance - 1)); }

kernel void bitonic_step(uint run, uint distance, global uint *restrict data) {
    uint low = low_index((uint)get_global_id(0), distance), high = low + distance;
    uint a = data[low], b = data[high];
    bool down = (low & run) != 0;
    bool swap = (a > b) != down;
    data[low] = swap ? b : a;
    data[high] = swap ? a : b;
}

// Local size: `distance` or more, a power of two; `part` has two uints for each work-item of a group.
kernel void bitonic_local(uint run, uint distance, global uint *restrict data, local uint *part) {
    uint lid = (uint)get_local_id(0), size = (uint)get_local_size(0);
    uint start = (uint)get_group_id(0) * 2 * size;
    part[lid] = data[start + lid];
    part[lid + size] = data[start + lid + size];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (; distance > 0; distance /= 2) {
        uint low = low_index(lid, distance), high = low + distance;
        uint a = part[low], b = part[high];
        bool down = ((start + low) & run) != 0;
        bool swap = (a > b) != down;
        part[low] = swap ? b : a;
        part[high] = swap ? a : b;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    data[start + lid] = part[lid];
    data[start + lid + size] = part[lid + size];
}
