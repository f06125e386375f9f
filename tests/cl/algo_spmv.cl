// A sparse matrix in CSR form times a vector; rows of different length, one of them empty.
// kernel: spmv
// global: 5
// arg: buf:int:6=0,2,2,5,6,9
// arg: buf:int:9=0,3,1,2,4,4,0,2,3
// arg: buf:float:9=1,2,3,4,5,6,7,8,9
// arg: buf:float:5=1,10,100,1000,10000
// arg: buf:float:5
// expect: 2001, 0, 50430, 60000, 9807
kernel void spmv(global const int *rows, global const int *columns, global const float *values,
                 global const float *x, global float *y) {
    size_t r = get_global_id(0);
    float sum = 0;
    for (int i = rows[r]; i < rows[r + 1]; i++) sum += values[i] * x[columns[i]];
    y[r] = sum;
}
