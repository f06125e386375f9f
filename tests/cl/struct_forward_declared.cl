// A struct used by pointer before it is defined; a scope's own struct of the same name.
// kernel: run
// arg: buf:int:2
// expect: 8, 4
struct late;
int value_of(private struct late *p);
struct late { int a, b; };
int value_of(private struct late *p) { return p->a + p->b; }
kernel void run(global int *out) {
    struct late l = {3, 5};
    out[0] = value_of(&l);
    {
        struct late { int only; };
        out[1] = sizeof(struct late);
    }
}
