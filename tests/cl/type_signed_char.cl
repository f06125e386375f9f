// char is signed: it sign-extends, compares below zero, wraps on assignment.
// kernel: run
// arg: buf:char:2=-1,127
// arg: buf:int:6
// expect: -1, 255, 1, -128, 254, -56
kernel void run(global char *in, global int *out) {
    char c = in[0], d = in[1];
    out[0] = c;
    out[1] = (uchar)c;
    out[2] = c < 0;
    d++;
    out[3] = d;
    out[4] = (uchar)c + c;
    out[5] = (char)200;
}
