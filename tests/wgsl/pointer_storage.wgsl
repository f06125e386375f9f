// Pointers into storage buffers kept in let, with an element's own index.
// kernel: main
// global: 4
// arg: buf:int:8=1, 2, 3, 4, 5, 6, 7, 8
// expect: 3, 2, 7, 12, 11, 30, 15, 56
struct Pair { a: i32, b: i32 }
@group(0) @binding(0) var<storage, read_write> pairs: array<Pair>;
@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    let p = &pairs[i];
    let a = (*p).a;
    let b = &(*p).b;
    (*p).a = a + *b;
    *b *= a;
}
