// sub_group_shuffle of every type, and of vectors.
// needs: f64
// needs: sub_groups
// kernel: run
// global: 16
// local: 16
// arg: buf:int:16
// expect: 0
#define CHECK(type)                                                               \
    bad += sub_group_shuffle((type)(lane + 40), last) != (type)(last + 40);       \
    bad += sub_group_shuffle_xor((type)lane, 0) != (type)lane
kernel void run(global int *out) {
    uint lane = get_sub_group_local_id(), last = get_sub_group_size() - 1;
    int bad = 0;
    CHECK(char);
    CHECK(uchar);
    CHECK(short);
    CHECK(ushort);
    CHECK(int);
    CHECK(uint);
    CHECK(long);
    CHECK(ulong);
    CHECK(float);
    CHECK(double);
    out[get_global_id(0)] = bad;
}
