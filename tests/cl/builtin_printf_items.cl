// printf by many work-items: every line comes, whatever the order.
// needs: printf
// kernel: run
// global: 4
// local: 2
// prints: "item 0 of group 0: 0.0\nitem 1 of group 0: 0.5\nitem 2 of group 1: 1.0\nitem 3 of group 1: 1.5\n"
// kernel: some
// global: 100
// prints: "only 42\n"
kernel void run(void) {
    int i = get_global_id(0);
    printf("item %d of group %d: %.1f\n", i, (int)get_group_id(0), i * 0.5f);
}
kernel void some(void) {
    if (get_global_id(0) == 42) printf("only %d\n", (int)get_global_id(0));
}
