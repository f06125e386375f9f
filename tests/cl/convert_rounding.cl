// Float to int with each rounding mode; without one it truncates.
// kernel: run
// global: 6
// arg: buf:float:6=2.5, -2.5, 3.5, 0.5, -0.7, 2.2
// arg: buf:int:6
// expect: 2, -2, 4, 0, -1, 2
// arg: buf:int:6
// expect: 2, -2, 3, 0, 0, 2
// arg: buf:int:6
// expect: 3, -2, 4, 1, 0, 3
// arg: buf:int:6
// expect: 2, -3, 3, 0, -1, 2
// arg: buf:int:6
// expect: 2, -2, 3, 0, 0, 2
kernel void run(global float *in, global int *rte, global int *rtz, global int *rtp, global int *rtn,
                global int *plain) {
    size_t i = get_global_id(0);
    rte[i] = convert_int_rte(in[i]);
    rtz[i] = convert_int_rtz(in[i]);
    rtp[i] = convert_int_rtp(in[i]);
    rtn[i] = convert_int_rtn(in[i]);
    plain[i] = convert_int(in[i]);
}
