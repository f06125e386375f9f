// A 3-D range: ids and sizes in each dimension, and 1 or 0 outside of the three.
// kernel: run
// global: 4, 3, 2
// local: 2, 3, 1
// offset: 0, 10, 0
// arg: buf:int:24
// expect: 100, 101, 102, 103, 110, 111, 112, 113, 120, 121, 122, 123, 1100, 1101, 1102, 1103, 1110,
//         1111, 1112, 1113, 1120, 1121, 1122, 1123
// arg: buf:int:8
// expect: 3, 24, 4, 2, 1, 2, 1, 0
kernel void run(global int *out, global int *info) {
    int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    out[(z * 3 + y - 10) * 4 + x] = z * 1000 + y * 10 + x;
    if (x == 0 && y == 10 && z == 0) {
        info[0] = get_work_dim();
        info[1] = get_global_size(0) * get_global_size(1) * get_global_size(2);
        info[2] = get_num_groups(0) * get_num_groups(1) * get_num_groups(2);
        info[3] = get_local_size(0);
        info[4] = get_local_size(2);
        info[5] = get_num_groups(2);
        info[6] = get_global_size(3);
        info[7] = get_global_id(3);
    }
}
