// Writing through a pointer to const, to a const variable and to __constant memory.
// error: 6: const
// error: 8: const
// error: 9: const
kernel void run(global const int *in, constant int *table, global int *out) {
    in[0] = 1;
    const int x = 2;
    x = 3;
    table[0] = 4;
    out[0] = x;
}
