// printf of vectors: %vN with hl for int and float, hh, h and l for the others; flags apply to each component.
// needs: f64
// needs: printf
// kernel: run
// prints: "1,2,3,4 a,b 1.50,-2.50,0.25\n"
// prints: "-1,0,1,2,3,4,5,6 1,65535 -5000000000,5\n"
// prints: "[  1,  2] 0x01,0xff 0.5,0.25\n"
// prints: "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16\n"
kernel void run(void) {
    printf("%v4hld %v2hlx %.2v3hlf\n", (int4)(1, 2, 3, 4), (uint2)(10, 11), (float3)(1.5f, -2.5f, 0.25f));
    printf("%v8hhd %v2hu %v2ld\n", (char8)(-1, 0, 1, 2, 3, 4, 5, 6), (ushort2)(1, 65535), (long2)(-5000000000L, 5));
    printf("[%3v2hld] %#04v2hhx %v2lg\n", (int2)(1, 2), (uchar2)(1, 255), (double2)(0.5, 0.25));
    printf("%v16hlu\n", (uint16)(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16));
}
