// A global size that the local size does not divide: the last work-group is smaller.
// kernel: run
// global: 10
// local: 4
// arg: buf:int:10
// expect: 4, 4, 4, 4, 4, 4, 4, 4, 2, 2
// arg: buf:int:10
// expect: 0, 1, 2, 3, 0, 1, 2, 3, 0, 1
kernel void run(global int *sizes, global int *ids) {
    sizes[get_global_id(0)] = get_local_size(0);
    ids[get_global_id(0)] = get_local_id(0);
}
