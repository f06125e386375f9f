// shuffle and shuffle2 by masks that are known at run time only.
// kernel: run
// global: 4
// arg: buf:uint4:4=0, 1, 2, 3, 3, 2, 1, 0, 7, 5, 6, 4, 8, 13, 2, 1
// arg: buf:int4:4
// expect: 10, 11, 12, 13, 13, 12, 11, 10, 13, 11, 12, 10, 10, 11, 12, 11
// arg: buf:int4:4
// expect: 10, 11, 12, 13, 13, 12, 11, 10, 23, 21, 22, 20, 10, 21, 12, 11
kernel void run(global const uint4 *mask, global int4 *one, global int4 *two) {
    size_t i = get_global_id(0);
    int4 a = (int4)(10, 11, 12, 13), b = (int4)(20, 21, 22, 23);
    one[i] = shuffle(a, mask[i]);
    two[i] = shuffle2(a, b, mask[i]);
}
