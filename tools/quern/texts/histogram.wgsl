struct Args { n: u32 }
@group(0) @binding(0) var<uniform> args: Args;
@group(0) @binding(1) var<storage> data: array<u32>; // four bytes each
@group(0) @binding(2) var<storage, read_write> bins: array<atomic<u32>>;
var<workgroup> counts: array<atomic<u32>, 256>;

@compute @workgroup_size(local_x, local_y)
fn histogram(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_id) local: vec3u,
             @builtin(num_workgroups) groups: vec3u) {
    // They are zeros, by the language; lavapipe 22.3 leaves that to us.
    for (var i = local.x; i < 256; i += local_x) { atomicStore(&counts[i], 0); }
    workgroupBarrier();
    let stride = groups.x * local_x;
    for (var i = id.x; i < args.n; i += stride) {
        atomicAdd(&counts[extractBits(data[i / 4], 8 * (i % 4), 8)], 1);
    }
    workgroupBarrier();
    for (var i = local.x; i < 256; i += local_x) {
        let count = atomicLoad(&counts[i]);
        if (count != 0) { atomicAdd(&bins[i], count); }
    }
}
