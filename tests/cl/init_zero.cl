// {0} clears whole arrays and structs, in a loop as well.
// kernel: run
// arg: buf:int:2
// expect: 0, 64
typedef struct { int a[8]; float b; long c; } big;
kernel void run(global int *out) {
    int sum = 0;
    for (int i = 0; i < 2; i++) {
        big b = {0};
        uchar bytes[64] = {0};
        for (int j = 0; j < 8; j++) sum += b.a[j];
        for (int j = 0; j < 64; j++) sum += bytes[j];
        sum += b.b + b.c;
        b.a[i] = bytes[i] = 9;
        b.c = b.a[i] + bytes[i];
        out[1] = (int)b.c + 46;
    }
    out[0] = sum;
}
