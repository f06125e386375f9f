// any and all look at the highest bit of each component.
// kernel: run
// arg: int4:-1, 0, 1, -2147483648
// arg: buf:int:24
// expect: 1, 0, 0, 1, 1, 0, 0, 0, 1, 1, 0, 0, 1, 0, 1, 0, 1, 1, 1, 0, 1, 1, 0, 1
kernel void run(int4 x, global int *out) {
    out[0] = any(x.x) != 0;
    out[1] = any(x.y) != 0;
    out[2] = any(x.z) != 0; /* 1 has its highest bit clear */
    out[3] = all(x.w) != 0;
    out[4] = any(x.xy);
    out[5] = all(x.xy);
    out[6] = any(x.yz);
    out[7] = all(x.yz);
    out[8] = any(x);
    out[9] = all(x.xw);
    out[10] = all(x);
    out[11] = any(x.zyz);
    out[12] = all(x.xwx);
    out[13] = all(x.xwz);
    out[14] = any((char3)(0, 0, -1));
    out[15] = any((char8)(127));
    out[16] = all((char8)(-128));
    out[17] = any((short16)(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -5));
    out[18] = all((short16)(-5));
    out[19] = all((short16)(-5, -5, -5, -5, -5, -5, -5, 5, -5, -5, -5, -5, -5, -5, -5, -5));
    out[20] = any((long2)(0, -1));
    out[21] = all((long3)(-1, -2, -3));
    out[22] = all((long4)(-1, -2, 0, -3));
    out[23] = any((long)1 << 63) != 0;
}
