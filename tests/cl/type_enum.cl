// Enumerators: implicit and explicit values, negative ones, use as constants and case labels.
// kernel: run
// arg: buf:int:7
// expect: 0, 5, 6, -1, 0, 11, 4
enum { ZERO, FIVE = 5, SIX, MINUS = -1, AGAIN };
typedef enum kind { A = FIVE + SIX, B } kind;
kernel void run(global int *out) {
    kind k = A;
    int array[B - 8];
    array[0] = k;
    out[0] = ZERO;
    out[1] = FIVE;
    out[2] = SIX;
    out[3] = MINUS;
    out[4] = AGAIN;
    out[5] = array[0];
    out[6] = sizeof array / sizeof array[0];
}
