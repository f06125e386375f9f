// typedef of scalars, vectors, arrays, pointers and structs; names shadowed in inner scopes.
// kernel: run
// arg: buf:int:5
// expect: 3, 10, 6, 4, 9
typedef int number;
typedef number number_pair __attribute__((aligned(8)));
typedef int row[3];
typedef row table[2];
typedef global int *out_pointer;
typedef struct {
    number a, b;
} pair;
typedef float4 colour;
kernel void run(out_pointer out) {
    number_pair three = 3;
    table t = {{1, 2, 3}, {4, 5, 6}};
    pair p = {4, 6};
    colour c = (colour)(1.0f);
    out[0] = three;
    out[1] = p.a + p.b;
    out[2] = t[1][2];
    out[3] = (int)(c.x + c.y + c.z + c.w);
    {
        int number = 9;
        out[4] = number;
    }
}
