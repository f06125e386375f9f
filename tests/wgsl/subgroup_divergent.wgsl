// Sub-groups in branches: those that take it take part.
// needs: sub_groups
// skip: opencl its drivers lack sub-groups; where work-items diverge, local memory cannot serve
// kernel: main
// global: 32
// arg: buf:uint:32
// expect: 1
enable subgroups;
diagnostic(off, subgroup_uniformity);
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) i: u32, @builtin(subgroup_size) size: u32) {
    var count = 0u;
    if i % 4 == 1 {
        count = subgroupAdd(4u);
    } else {
        count = subgroupAdd(1u) + (min(size, 32) + 3) / 4;
    }
    out[i] = u32(count == min(size, 32) || size < 4);
}
