// Constant expressions in array sizes, enumerators, case labels and program-scope initialisers.
// kernel: run
// global: 2
// arg: buf:int:2
// expect: 24, 40
#define N 4
enum { SIZE = N * 2 + (1 << 3) - sizeof(int) * 2, BIG = SIZE > 4 ? 40 : 4 };
constant float half_pi = 3.0f / 2.0f;
constant int sizes[sizeof(int[SIZE])] = {[SIZE - 1] = SIZE * 2, [N] = (int)1.9f + 'A' - 65};
kernel void run(global int *out) {
    int g = get_global_id(0), n = 0;
    int local_array[SIZE - 6] = {1, 2};
    switch (g) {
    case SIZE - 8: n = sizes[SIZE - 1] + sizes[4] + local_array[1] + (int)(half_pi * 4) - 1; break;
    case 1 + 0: n = BIG; break;
    }
    out[g] = n;
}
