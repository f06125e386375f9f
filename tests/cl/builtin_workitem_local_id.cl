// get_local_id and get_local_size in three dimensions.
// kernel: run
// global: 4, 2, 2
// local: 2, 1, 2
// arg: buf:uint:16
// expect: 212000, 212001, 212000, 212001, 212000, 212001, 212000, 212001, 212100, 212101, 212100, 212101,
//   212100, 212101, 212100, 212101
kernel void run(global uint *out) {
    uint sizes = get_local_size(0) * 100 + get_local_size(1) * 10 + get_local_size(2);
    uint ids = get_local_id(2) * 100 + get_local_id(1) * 10 + get_local_id(0);
    out[(get_global_id(2) * 2 + get_global_id(1)) * 4 + get_global_id(0)] = sizes * 1000 + ids;
}
