// Every way to spell the integer types.
// kernel: run
// arg: buf:int:12
// expect: 1, 1, 2, 2, 4, 4, 8, 8, 4, 2, 8, 1
kernel void run(global int *out) {
    signed char a = 1;
    unsigned char b = 1;
    short int c = 1;
    unsigned short int d = 1;
    signed e = 1;
    unsigned f = 1;
    long int g = 1;
    int unsigned long h = 1;
    unsigned int i = 1;
    signed short j = 1;
    long unsigned k = 1;
    char l = 1;
    out[0] = sizeof a;
    out[1] = sizeof b;
    out[2] = sizeof c;
    out[3] = sizeof d;
    out[4] = sizeof e;
    out[5] = sizeof f;
    out[6] = sizeof g;
    out[7] = sizeof h;
    out[8] = sizeof i;
    out[9] = sizeof j;
    out[10] = sizeof k;
    out[11] = sizeof l;
}
