// __constant tables at program scope: scalars, arrays, two dimensions, indexed at run time.
// kernel: run
// global: 4
// arg: buf:int:4
// expect: 111, 222, 333, 444
__constant int offset = 100;
constant int row[4] = {1, 2, 3, 4};
constant int table[2][4] = {{10, 20, 30, 40}, {0, 100, 200, 300}};
kernel void run(global int *out) {
    size_t i = get_global_id(0);
    out[i] = row[i] + table[0][i] + table[1][i] + offset;
}
