// Every work-item prints; in which order is open.
// needs: printf
// kernel: run
// global: 3
// arg: buf:int:1
// prints: "item 0\n"
// prints: "item 1\n"
// prints: "item 2\n"
kernel void run(global int *p) {
    if (get_global_id(0) < 3 && *p == 0) printf("item %d\n", (int)get_global_id(0));
}
