// The active work-items of clusters of a sub-group, and numbers of 8 and 16 bits and truth values over the active ones.
// needs: sub_groups
// skip: opencl its drivers lack sub-groups; where work-items diverge, local memory cannot serve
// kernel: clusters
// global: 64
// local: 64
// arg: buf:int:64
// expect: 3
// kernel: narrow
// global: 36
// local: 36
// arg: buf:int:36
// expect: 15
kernel void narrow(global int *out) {
    const uint lane = get_sub_group_local_id(), size = get_sub_group_size();
    int ok = 0;
    if (lane & 1) {
        char sum = 0;
        ushort most = 0;
        uint below = 0;
        for (uint l = 1; l < size; l += 2) {
            sum += (char)(l * 37);
            most = max(most, (ushort)(l * 9001));
            below += l < lane;
        }
        ok = sub_group_non_uniform_reduce_add((char)(lane * 37)) == sum;
        ok |= (sub_group_non_uniform_reduce_max((ushort)(lane * 9001)) == most) << 1;
        ok |= (sub_group_non_uniform_scan_exclusive_add((uchar)1) == below) << 2;
        ok |= (sub_group_non_uniform_scan_exclusive_logical_or((int)lane) == (lane > 1)) << 3;
    } else {
        ok = 15;
    }
    out[get_global_id(0)] = ok;
}

kernel void clusters(global int *out) {
    const uint lane = get_sub_group_local_id(), first = lane & ~3u;
    int ok = sub_group_clustered_reduce_max((float)lane, 4) == (float)(lane | 3);
    if (lane % 4 != 2)
        ok |= (sub_group_clustered_reduce_add(lane, 4) == 3 * first + 4) << 1;
    else
        ok |= (sub_group_clustered_reduce_logical_and((int)lane, 2) == 1) << 1;
    out[get_global_id(0)] = ok;
}
