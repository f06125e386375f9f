// Matrix fragments that no device has, and what is not done with one.
// error: 25: has 8, 16, 32 or 64 rows
// error: 26: is no element of the operands
// error: 27: is no element of accumulators
// error: 28: the use of a matrix fragment
// error: 29: cannot be in an address space
// error: 30: cannot be a member
// error: 31: cannot be in an address space
// error: 32: cannot be passed to a kernel
// error: 37: is a pointer to a qn_matrix, not 'qn_matrix(half, 16, 16, qn_use_a)'
// error: 38: 16 x 16 by 8 x 16 gives no
// error: 39: is a fragment for qn_use_b
// error: 40: no device sums products
// error: 41: a pointer to 'half' in global or local memory
// error: 42: a pointer to 'half' in global or local memory
// error: 43: the layout is
// error: 44: keeps the shape
// error: 45: has no size in bytes
// error: 46: no initializer in braces
// error: 47: takes 2 arguments, 1 given
// error: 48: which is const
// error: 49: which is const
// error: 50: cannot convert
typedef qn_matrix(half, 16, 16, qn_use_a) A;
typedef qn_matrix(half, 12, 16, qn_use_a) wrong_size;
typedef qn_matrix(int, 16, 16, qn_use_b) wrong_operand;
typedef qn_matrix(char, 16, 16, qn_use_accumulator) wrong_sum;
typedef qn_matrix(half, 16, 16, 7) wrong_use;
global A shared;
struct s { A a[2]; };
void far(local A *p) {}
kernel void passed(A a) {}
kernel void run(global half *h, global float *f, global const half *constant_h) {
    A a; qn_matrix(half, 16, 16, qn_use_b) b; qn_matrix(half, 8, 16, qn_use_b) thin; qn_matrix(char, 16, 16, qn_use_b) bytes;
    qn_matrix(float, 16, 16, qn_use_accumulator) c; const A fixed = a; A *p = &a;
    half near[256]; qn_matrix(float, 8, 8, qn_use_accumulator) small; int layout = (int)f[0];
    qn_matrix_fill(a, 0);
    qn_matrix_multiply_add(&c, &a, &thin);
    qn_matrix_multiply_add(&c, &a, &a);
    qn_matrix_multiply_add(&c, &a, &bytes);
    qn_matrix_load(&a, f, 16, qn_row_major);
    qn_matrix_load(p, near, 16, qn_row_major);
    qn_matrix_load(&a, h, 16, layout);
    qn_matrix_convert(&c, &small);
    f[0] = sizeof(a);
    A braced = {0};
    qn_matrix_fill(&a);
    qn_matrix_store(&a, constant_h, 16, qn_row_major);
    qn_matrix_fill(&fixed, 0);
    a = b;
}
