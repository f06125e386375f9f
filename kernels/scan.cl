// Inclusive prefix sum: out[i] = in[0] + ... + in[i]. Three steps: scan_groups leaves each group's own prefix
// sums, and the group's total in totals[group]; the totals are scanned the same way; scan_add adds the sum of
// all groups before. Within a group: Hillis and Steele's log-step scan between two rows of local memory.
// n is a multiple of the local size; `rows` has two uints for each work-item of a group.
kernel void scan_groups(global const uint *restrict in, global uint *restrict out, global uint *restrict totals,
                        local uint *rows) {
    size_t i = get_global_id(0), lid = get_local_id(0), size = get_local_size(0);
    local uint *from = rows, *to = rows + size;
    from[lid] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t reach = 1; reach < size; reach *= 2) {
        to[lid] = lid >= reach ? from[lid] + from[lid - reach] : from[lid];
        barrier(CLK_LOCAL_MEM_FENCE);
        local uint *other = from;
        from = to;
        to = other;
    }
    out[i] = from[lid];
    if (lid == size - 1) totals[get_group_id(0)] = from[lid];
}

// `totals` has been scanned. Launch with the local size of scan_groups.
kernel void scan_add(global uint *restrict out, global const uint *restrict totals) {
    size_t group = get_group_id(0);
    if (group > 0) out[get_global_id(0)] += totals[group - 1];
}
