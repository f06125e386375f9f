// Integers that float cannot hold: to nearest even by default, other modes on request.
// kernel: run
// arg: int:16777217
// arg: uint:4294967295
// arg: long:-9007199254740993
// arg: buf:float:8
// expect: 16777216, 16777218, 16777216, 16777216, 4294967296, 4294967040, -9007199254740992, -9007200328482816
kernel void run(int a, uint b, long c, global float *out) {
    out[0] = convert_float(a);
    out[1] = convert_float_rtp(a);
    out[2] = convert_float_rtz(a);
    out[3] = a;
    out[4] = convert_float_rte(b);
    out[5] = convert_float_rtn(b);
    out[6] = convert_float(c);
    out[7] = convert_float_rtn(c);
}
