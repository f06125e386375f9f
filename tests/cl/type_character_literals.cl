// Character literals have type int; escapes; a char of 128 and more is negative.
// kernel: run
// arg: buf:int:12
// expect: 65, 10, 9, 0, 92, 39, 34, 127, 7, 11, -1, 4
kernel void run(global int *out) {
    out[0] = 'A';
    out[1] = '\n';
    out[2] = '\t';
    out[3] = '\0';
    out[4] = '\\';
    out[5] = '\'';
    out[6] = '"';
    out[7] = '\177';
    out[8] = '\a';
    out[9] = '\v';
    out[10] = '\xff';
    out[11] = sizeof('a');
}
