// A struct with a pointer to its own type, in a list built in private memory.
// kernel: run
// arg: buf:int:1
// expect: 60
struct node { int value; private struct node *next; };
kernel void run(global int *out) {
    struct node c = {30, 0}, b = {20, &c}, a = {10, &b};
    int sum = 0;
    for (private struct node *n = &a; n; n = n->next) sum += n->value;
    out[0] = sum;
}
