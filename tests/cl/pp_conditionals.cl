// #ifdef, #ifndef, #elif, #else: nested, with dead branches that hold broken directives and unbalanced quotes.
// kernel: run
// arg: buf:int:4
// expect: 1, 2, 3, 4
#define YES
kernel void run(global int *out) {
#ifdef YES
    out[0] = 1;
#else
    this is not C
#endif
#ifndef YES
#if 1
#error not reached
#elif 0 1 2
#endif
    it's not text either
#elif 0
#bogus directive
#elif defined YES
    out[1] = 2;
#elif 1 / 0
#else
    out[1] = -1;
#endif
#if 0
#if 1
    out[2] = -1;
#else
    out[2] = -2;
#endif
#else
    out[2] = 3;
#endif
#if 1
#if 0
#else
    out[3] = 4;
#endif
#endif
}
