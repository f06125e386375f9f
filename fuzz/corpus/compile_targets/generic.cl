//~ 2 0 8 -cl-std=CL3.0
struct node { int value; struct node *next; };
int sum(struct node *n) { int s = 0; for (; n; n = n->next) s += n->value; return s; }
int *either(int *a, int *b, int c) { if (c) return a; return b; }
kernel void generic_(global int *x, local int *l, int c) {
    int own[4] = {c, 2, 3, 4}, *p = x, *all[3] = {x, l, own}, **pp = &p;
    local struct node first;
    struct node last = {c, NULL};
    first.value = 1;
    first.next = &last;
    if (c) *pp = l;
    p += either(p, own, c > 1)[1];
    atomic_add(all[c % 3], 1);
    vstore4(vload4(0, all[c & 1]), 1, p);
    x[c] = sum(&first) + (p == l) + (int)(p - all[1]) + (to_private(p) ? *to_private(p) : get_fence(p));
    printf("%p", p);
    *(int4 *)p = *(int4 *)(c ? x : l);
    barrier(get_fence(p));
}
