// Barriers in control flow that is the same for all: constants, uniform buffers, group ids, loops with such bounds.
// skip: wgpu leaves zeros of work-group memory to lavapipe 22.3, which does not write them
// kernel: main
// global: 8
// arg: buf:uint:4=3, 1, 0, 0
// arg: buf:uint:8
// expect: 5, 5, 5, 5, 6, 6, 6, 6
@group(0) @binding(0) var<uniform> config: vec4u;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
var<workgroup> total: atomic<u32>;
fn rounds(n: u32) -> u32 {
    var done = 0u;
    for (var k = 0u; k < n; k++) {
        workgroupBarrier();
        done++;
    }
    return done;
}
@compute @workgroup_size(4)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(workgroup_id) group: vec3u,
        @builtin(local_invocation_index) i: u32, @builtin(num_workgroups) groups: vec3u) {
    var n = config.x;
    if config.y == 1 {
        n += group.x;
        workgroupBarrier();
    }
    let seen = rounds(n);
    if groups.x == 2 {
        if i == 0 { atomicAdd(&total, seen); }
        workgroupBarrier();
    }
    switch group.x {
        case 0, 1: { storageBarrier(); }
        default { }
    }
    out[id.x] = atomicLoad(&total) + groups.x;
}
