// Vectors of words and of floats that are shuffled and shifted in a loop: each lane comes from one of two vectors, or of its own.
// needs: f64
// kernel: run
// arg: int:3
// arg: buf:uint16:1=305419897,610839794,916259691,1221679588,1527099485,1832519382,2137939279,2443359176,2748779073,3054198970,3359618867,3665038764,3970458661,4275878558,286331159,591751056
// expect: 1756164644, 190888614, 973526637, 572665866, 190888630, 954443126, 3703217918, 1336220378, 3054215488, 2328830022, 2672440796, 3111468541, 2290663536, 3894106548, 1908886284, 381777260
// arg: buf:int8:1=-1000,3,-5,70000,-9,11,1073741824,-2147483647
// expect: 52, 8728, 52, -268435403, -134217782, 53, 53, 72
// arg: buf:float4:1=1,2,3,4
// expect: 1.0, 0.75, 2.0, 0.25
// arg: buf:double4:1=1,2,3,4
// expect: 2.5, 3.25, 4.5, 1.25
// kernel: with_constants
// arg: int:3
// arg: buf:uint4:1=1,2,3,4
// expect: 33, 42, 43, 32
kernel void run(int count, global uint16 *words, global int8 *ints, global float4 *floats, global double4 *doubles) {
    uint16 w = *words;
    int8 n = *ints;
    float4 f = *floats;
    double4 d = *doubles;
    for (int i = 0; i < count; i++) {
        w = shuffle2(w, w * 5, (uint16)(0, 16, 2, 18, 4, 20, 6, 22, 31, 15, 29, 13, 27, 11, 25, 9));
        w = w << 3 | w >> 29;
        n = (shuffle2(n, -n, (uint8)(7, 8, 6, 9, 5, 10, 4, 11)) ^ 0x55) >> 1;
        f = shuffle2(f, f * 0.5f, (uint4)(3, 4, 1, 6));
        d = shuffle2(d, d + 0.25, (ulong4)(7, 0, 5, 2));
    }
    *words = w;
    *ints = n;
    *floats = f;
    *doubles = d;
}

kernel void with_constants(int count, global uint4 *words) {
    uint4 w = *words;
    for (int i = 0; i < count; i++) w = shuffle2(w, (uint4)(10, 20, 30, 40), (uint4)(3, 7, 1, 6)) + (uint4)(i);
    *words = w;
}
