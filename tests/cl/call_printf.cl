// printf: the conversions, flags, widths and vectors.
// needs: printf
// kernel: run
// arg: buf:int:1=7
// prints: "int 7 [   7] [7   ] [007] +7\n"
// prints: "unsigned 255 ff FF 0xff 377 char A percent %\n"
// prints: "float 1.500000 1.50 1.5e+00 2.5 string text\n"
// prints: "long -5000000000 18446744073709551615\n"
// prints: "vector 1,2,3,4 1.5,2.5\n"
kernel void run(global int *p) {
    int i = *p;
    printf("int %d [%4d] [%-4d] [%03d] %+d\n", i, i, i, i, i);
    printf("unsigned %u %x %X %#x %o char %c percent %%\n", 255u, 255, 255, 255, 255, 'A');
    printf("float %f %.2f %.1e %g string %s\n", 1.5f, 1.5f, 1.5f, 2.5f, "text");
    printf("long %ld %lu\n", -5000000000L, 18446744073709551615UL);
    printf("vector %v4d %v2hlg\n", (int4)(1, 2, 3, 4), (float2)(1.5f, 2.5f));
}
