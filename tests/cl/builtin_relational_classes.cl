// isfinite, isinf, isnan, isnormal and signbit of every class of number, scalars and vectors.
// kernel: floats
// arg: float8:0, -0, 1, -1e-40, 3.4028235e38, -inf, nan, 1.17549435e-38
// arg: buf:int8:5
// expect: -1, -1, -1, -1, -1, 0, 0, -1, 0, 0, 0, 0, 0, -1, 0, 0, 0, 0, 0, 0, 0, 0, -1, 0,
//   0, 0, -1, 0, -1, 0, 0, -1, 0, -1, 0, -1, 0, -1, 0, 0
// arg: buf:int:40
// expect: 1, 1, 1, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0,
//   0, 0, 1, 0, 1, 0, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0
// kernel: doubles
// needs: f64
// arg: double8:0, -0, 1, -1e-310, 1.7976931348623157e308, -inf, nan, 2.2250738585072014e-308
// arg: buf:long8:5
// expect: -1, -1, -1, -1, -1, 0, 0, -1, 0, 0, 0, 0, 0, -1, 0, 0, 0, 0, 0, 0, 0, 0, -1, 0,
//   0, 0, -1, 0, -1, 0, 0, -1, 0, -1, 0, -1, 0, -1, 0, 0
// arg: buf:int:40
// expect: 1, 1, 1, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0,
//   0, 0, 1, 0, 1, 0, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0
#define CLASSES(name, type, result)                                                          \
    kernel void name(type##8 x, global result##8 *vectors, global int *scalars) {            \
        type all[8];                                                                         \
        vstore8(x, 0, all);                                                                  \
        vectors[0] = isfinite(x);                                                            \
        vectors[1] = isinf(x);                                                               \
        vectors[2] = isnan(x);                                                               \
        vectors[3] = isnormal(x);                                                            \
        vectors[4] = signbit(x);                                                             \
        for (int i = 0; i < 8; i++) {                                                        \
            scalars[i] = isfinite(all[i]);                                                   \
            scalars[8 + i] = isinf(all[i]);                                                  \
            scalars[16 + i] = isnan(all[i]);                                                 \
            scalars[24 + i] = isnormal(all[i]);                                              \
            scalars[32 + i] = signbit(all[i]) != 0;                                          \
        }                                                                                    \
    }
CLASSES(floats, float, int)
#ifdef cl_khr_fp64
CLASSES(doubles, double, long)
#endif
