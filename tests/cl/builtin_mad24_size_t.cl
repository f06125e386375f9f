// mad24 and mul24 take a size_t, such as an id, beside an int or uint: the narrower type decides.
// kernel: run
// global: 4
// arg: buf:int:4
// expect: 5, 4, 3, 2
// arg: buf:uint:4
// expect: 7, 18, 29, 40
// arg: uint:10
kernel void run(global int *a, global uint *b, uint width) {
    a[get_global_id(0)] = mul24(get_global_id(0), -1) + 5;
    b[get_global_id(0)] = mad24(get_global_id(0), width, get_global_id(0) + 7);
}
