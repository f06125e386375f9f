// A filter takes the uniformity errors of derivatives away; those of barriers need control flow that is uniform.
// skip: naga has no such attributes
// kernel: main
// global: 4
// arg: buf:uint:4
// expect: 3, 2, 1, 0
diagnostic(off, derivative_uniformity);
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
var<workgroup> tile: array<u32, 4>;
@compute @workgroup_size(4) @diagnostic(warning, derivative_uniformity)
fn main(@builtin(local_invocation_index) i: u32) {
    @diagnostic(info, derivative_uniformity) if i < 4 {
        tile[i] = i;
    }
    workgroupBarrier();
    @diagnostic(off, derivative_uniformity) for (var k = 0; k < 1; k++) { }
    out[i] = tile[3 - i];
}
