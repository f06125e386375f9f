// A function whose pointers get a second address space is read again: statics, labels, loops, scopes and warnings are there once.
// options: -cl-std=CL3.0
// kernel: again
// global: 2
// local: 2
// arg: buf:int:4=1,2,3,4
// arg: local:8
// arg: buf:int:10
// expect: 1, 20, 11, 31, 3, 21, 4, 20, 22, 41
// warning: 59: result of the expression is not used
int before(int *p, int *q, int first);
int *later(global int *g, local int *l, int c);

int one_of(int *p, int *q, int first) {
    static global int calls = 3;
    constant int ten[2] = {10, 20};
    struct pair {
        int *p, *q;
    } pair = {p, q};
    enum { NONE };
    int *best = NULL;
    switch (first) {
    case 1: best = pair.p; break;
    default: best = pair.q;
    }
    p = first ? best : q;
    for (int *r = p; r; r = NULL) {
        if (*r < 0) goto out;
        if (!best) return NONE;
    }
    return ({ int n = *p; n + (calls == 3 ? ten[0] : 0); });
out:
    return -1;
}

// A parameter, and the result, get a second one.
int *moved(int *p, local int *l, int far) {
    if (far) p = l;
    if (far) return l + far;
    return p;
}

// The first is null; a name that it hides; one that is never given anything.
int hidden(global int *p, local int *l) {
    int sum = p[0];
    {
        int *p = NULL, *unused;
        p = l;
        sum += *p;
    }
    return sum;
}

kernel void again(global int *g, local int *l, global int *out) {
    const int i = get_local_id(0);
    l[i] = 20 + i;
    barrier(CLK_LOCAL_MEM_FENCE);
    int *p = g;
    g[0] + 1;
    if (i) p = l;
    out[i] = *p;
    out[2 + i] = one_of(p, l + 1, !i);
    out[4 + i] = *moved(g + 2, l, i);
    out[6 + i] = before(p, g + 3, i);
    out[8 + i] = hidden(g, l) + *later(g, l, i);
}

int before(int *p, int *q, int first) { return first ? *p : *q; }
int *later(global int *g, local int *l, int c) { return c ? l : g; }
