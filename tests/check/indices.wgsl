// Indices of WGSL that are outside: the nearest element is taken, and that is told; nested arrays, vectors, and indices that are inside.
// kernel: main
// global: 8
// arg: buf:int:4
// arg: buf:uint:8=0,1,2,3,4,5,6,9
struct pair {
    a: array<i32, 2>,
    b: i32,
}
@group(0) @binding(0) var<storage, read_write> x: array<atomic<i32>>;
@group(0) @binding(1) var<storage> at: array<u32>;
var<workgroup> rows: array<array<i32, 4>, 2>;
var<workgroup> sums: array<atomic<i32>, 4>;

@compute @workgroup_size(8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    let j = i32(i) - 1;
    var own = array<i32, 4>(1, 2, 3, 4);
    var few = vec4<i32>(1, 2, 3, 4);
    var p: pair;
    atomicAdd(&x[i], 1); // finds: out-of-bounds
    atomicAdd(&x[i & 3], 1);
    atomicAdd(&x[min(i, 3)], own[at[i]]); // finds: out-of-bounds
    atomicAdd(&x[0], few[at[i] % 4]);
    atomicAdd(&x[1], few[j]); // finds: out-of-bounds
    p.a[at[i] / 2] = 1;       // finds: out-of-bounds
    atomicAdd(&x[2], p.a[0] + p.b);
    if (i < 4) {
        rows[1][i] = 1;
        rows[0][at[i] + 1] = 1; // finds: out-of-bounds
    }
    atomicAdd(&sums[i % 4], own[i / 2]);
    if (i < arrayLength(&at) && i < 4) {
        atomicAdd(&x[i], 1);
    }
}
