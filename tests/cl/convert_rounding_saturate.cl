// Saturation and rounding together.
// kernel: run
// arg: buf:uchar:8
// expect: 255, 255, 2, 0, 1, 254, 0, 3
kernel void run(global uchar *out) {
    out[0] = convert_uchar_sat_rte(255.5f);
    out[1] = convert_uchar_sat_rtp(254.1f);
    out[2] = convert_uchar_sat_rte(2.5f);
    out[3] = convert_uchar_sat_rtn(-0.5f);
    out[4] = convert_uchar_sat_rtp(0.1f);
    out[5] = convert_uchar_sat_rtz(254.9f);
    out[6] = convert_uchar_sat_rte(-1e30f);
    out[7] = convert_uchar_sat_rte(2.51f);
}
