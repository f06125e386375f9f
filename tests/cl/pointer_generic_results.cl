// Results whose returns have several address spaces, in every order of them.
// options: -cl-std=CL3.0
// kernel: results
// global: 1
// arg: buf:int:4=9,8,7,6
// arg: buf:int:9
// expect: 9, 3, 3, 9, 4, 3, 0, 9, 3
int *first(int w, int *a, int *b) {
    if (w) return a;
    return b;
}
int *second(int *p, int *l, int w) {
    if (w) return l;
    return p;
}
int *maybe(int w, int *a, int *b) {
    if (w == 1) return 0;
    if (w == 0) return b;
    return a;
}
generic int *named(int w, int *a, int *b) {
    if (w) return a;
    return b;
}
int *of_named(int w, generic int *a, generic int *b) {
    if (w) return a;
    return b;
}
kernel void results(global int *d, global int *out) {
    local int l[2];
    int own[2] = {3, 5};
    l[0] = 4;
    out[0] = *first(d[0], d, own);
    out[1] = *first(d[0] - 9, d, own);
    out[2] = *first(d[0], own, d);
    out[3] = *first(d[0] - 9, own, d);
    out[4] = *second(own, l, d[0]);
    out[5] = *second(own, l, d[0] - 9);
    int *p = maybe(d[0] - 8, d, own);
    out[6] = p ? *p : 0;
    out[7] = *named(d[0], d, own);
    out[8] = *of_named(d[0] - 9, d, own);
}
