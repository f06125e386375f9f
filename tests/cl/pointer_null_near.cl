// No object's address is null, wherever a target's private and local memory begin: lists of nodes there end where they should.
// kernel: near
// global: 2
// local: 2
// arg: buf:int:2=0,1
// arg: local:64
// arg: buf:int:6
// expect: 60, 60, 60, 60, 60, 60
struct node {
    int value;
    private struct node *next;
};
struct far {
    int value;
    local struct far *next;
};

kernel void near(global const int *order, local struct far *shared, global int *out) {
    const int i = get_local_id(0), first = order[i];
    struct node own[3];
    for (int n = 0; n < 3; n++) own[n] = (struct node){10 * (n + 1), NULL};
    private struct node *list = NULL;
    for (int n = 0; n < 3; n++) {
        own[(n + first) % 3].next = list;
        list = &own[(n + first) % 3];
    }
    int sum = 0;
    for (; list; list = list->next) sum += list->value;
    out[i] = sum;

    local struct far nodes[3];
    for (int pass = 0; pass < 2; pass++) {
        barrier(CLK_LOCAL_MEM_FENCE);
        local struct far *all = pass ? shared : nodes, *at = NULL;
        for (int n = 0; i == 0 && n < 3; n++) {
            all[n].value = 10 * (n + 1);
            all[n].next = n ? all + n - 1 : NULL;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        sum = 0;
        for (at = all + 2; at; at = at->next) sum += at->value;
        out[2 + 2 * pass + i] = sum;
    }
}
