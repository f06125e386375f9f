// Lines that end in carriage returns, with and without line feeds.
// kernel: main
// arg: buf:int:2
// expect: 1, 2
@group(0) @binding(0) var<storage, read_write> out: array<i32>;
@compute @workgroup_size(1) // a commentfn main() {
    out[0] = 1; // one    out[1] = 2;
}
