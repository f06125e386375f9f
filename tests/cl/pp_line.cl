// __LINE__ counts physical lines, over continuations and comments; #line sets it.
// kernel: run
// arg: buf:int:4
// expect: 8, 12, 14, 501
kernel void run(global int *out) {

    /* a comment
       of two lines */ out[0] = __LINE__;
#define TWO_LINES \
    __LINE__

    out[1] = TWO_LINES;
    out[2] = \
        __LINE__;
#line 500
    ;
    out[3] = __LINE__;
}
