// Comments are white space, also within directives; a backslash at the end of a line joins it to the next.
// kernel: run
// arg: buf:int:3
// expect: 12, 34, 5
#define /* here */ TWELVE /* and
here */ 12 // and here
kernel void run(global int *out) {
    out[0] = TWELVE;
    out[1] = 3\
4;
    // this comment goes on \
    out[2] = 6;
    out[2] /* // */ = /* "quote */ 5;
}
