// More work-groups than some devices have in a row (65535): each work-item comes once and knows its place. 131072 groups can be
// cut into rows alike, 131101 cannot.
// kernel: ids
// global: 131072
// local: 1
// arg: buf:uint:131072=7
// expect: 1
// kernel: ids
// global: 131101
// local: 1
// offset: 1
// arg: buf:uint:131102=1
// expect: 1
// kernel: limited
// global: 131077
// local: 2
// arg: buf:uchar:131077
// expect: 1
// kernel: exchanged
// global: 262148
// local: 2
// arg: buf:uint:262148=7
// expect: 1
// kernel: flat
// global: 70000, 2
// local: 1, 1
// arg: buf:uint:70000
// expect: 2
// kernel: flat
// global: 131072, 1
// local: 1, 2
// arg: buf:uint:131072
// expect: 1
kernel void ids(global uint *x) {
    const uint i = get_global_id(0), group = get_group_id(0) + get_global_offset(0);
    x[i] = i == group && i < get_global_size(0) + get_global_offset(0);
}

kernel void limited(global uchar *x) { x[get_global_id(0)] = 1; }

kernel void exchanged(global uint *x) {
    local uint ids[2];
    const uint i = get_global_id(0), at = get_local_id(0);
    ids[at] = i;
    barrier(CLK_LOCAL_MEM_FENCE);
    x[i] = ids[1 - at] ^ i;
}

kernel void flat(global uint *x) { atomic_inc(&x[get_global_id(0)]); }
