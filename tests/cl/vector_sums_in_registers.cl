// Vectors of every size that fills a processor's register, live through a loop: floats, doubles and integers.
// needs: f64
// kernel: run
// global: 2
// arg: int:5
// arg: buf:float:32=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,-1,-2,-3,-4,-5,-6,-7,-8,-9,-10,-11,-12,-13,-14,-15,-16
// arg: buf:float16:2
// expect: 10.5, 20.5, 30.5, 40.5, 50.5, 60.5, 70.5, 80.5, 90.5, 100.5, 110.5, 120.5, 130.5, 140.5, 150.5, 160.5, -9.5, -19.5, -29.5, -39.5, -49.5, -59.5, -69.5, -79.5, -89.5, -99.5, -109.5, -119.5, -129.5, -139.5, -149.5, -159.5
// arg: buf:double8:2
// expect: 10.25, 20.25, 30.25, 40.25, 50.25, 60.25, 70.25, 80.25, -9.75, -19.75, -29.75, -39.75, -49.75, -59.75, -69.75, -79.75
// arg: buf:double4:2
// expect: -10, -20, -30, -40, 10, 20, 30, 40
// arg: buf:int16:2
// expect: 35, 65, 95, 125, 155, 185, 215, 245, 275, 305, 335, 365, 395, 425, 455, 485, -25, -55, -85, -115, -145, -175, -205, -235, -265, -295, -325, -355, -385, -415, -445, -475
kernel void run(int count, global const float *in, global float16 *floats, global double8 *doubles, global double4 *few,
                global int16 *integers) {
    const int g = get_global_id(0);
    float16 sum = 0.5f;
    double8 eight = 0.25;
    double4 four = 0.0;
    int16 whole = 5;
    for (int i = 0; i < count; i++) {
        const float16 v = vload16(g, in);
        const double8 d = convert_double8(vload8(2 * g, in));
        sum = fma((float16)(float)i, v, sum);
        eight = fma((double8)(double)i, d, eight);
        four = four - d.lo * (double)i;
        whole += convert_int16(v) * 3 * i;
    }
    floats[g] = sum;
    doubles[g] = eight;
    few[g] = four;
    integers[g] = whole;
}
