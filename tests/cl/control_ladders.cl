// Loops whose counter doubles or halves up to the group's size, and beyond what groups can have: the steps of a group may be
// written out.
// options: -qn-tune=four-iterations
// kernel: run
// global: 24
// local: 12
// arg: buf:int:28
// expect: 1, 3, 6, 10, 15, 21, 28, 36, 45, 55, 66, 78, 13, 27, 42, 58, 75, 93, 112, 132, 153, 175, 198, 222, 4, 24, 3, 6
kernel void run(global int *out) {
    local int rows[2][12];
    local int *from = rows[0], *to = rows[1];
    const uint lid = get_local_id(0), size = get_local_size(0);
    from[lid] = get_global_id(0) + 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    int steps = 0, all = 0, halves = 0, found = 0;
    for (uint reach = 1; reach < size; reach *= 2) {
        to[lid] = lid >= reach ? from[lid] + from[lid - reach] : from[lid];
        barrier(CLK_LOCAL_MEM_FENCE);
        local int *other = from;
        from = to;
        to = other;
        steps++;
    }
    for (uint n = 1; n < size << 20; n *= 2) all++; /* more steps than a group's */
    for (uint half_size = size / 2; half_size > 0; half_size /= 2) halves++;
    for (uint n = 1; n < size * 64; n *= 4) {
        if (n == 64) break;
        found += 2;
    }
    out[get_global_id(0)] = from[lid];
    if (get_global_id(0) == 0) {
        out[24] = steps;
        out[25] = all;
        out[26] = halves;
        out[27] = found;
    }
}
