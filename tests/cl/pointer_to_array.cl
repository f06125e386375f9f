// Pointers to rows of a two-dimensional array, in private and global memory.
// kernel: run
// arg: buf:int:6=1,2,3,4,5,6
// arg: buf:int:3
// expect: 6, 5, 60
kernel void run(global int *v, global int *out) {
    global int(*rows)[3] = (global int(*)[3])v;
    out[0] = rows[1][2];
    out[1] = (*(rows + 1))[1];
    int table[2][3] = {{10, 20, 30}, {40, 50, 60}};
    int(*row)[3] = table;
    row++;
    out[2] = (*row)[2];
}
