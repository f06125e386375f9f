struct Args { n: u32 }
@group(0) @binding(0) var<uniform> args: Args;
@group(0) @binding(1) var<storage> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> result: array<f32>;
var<workgroup> partial: array<f32, words>;

@compute @workgroup_size(local_x, local_y)
fn sum(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_id) local: vec3u, @builtin(workgroup_id) group: vec3u,
       @builtin(num_workgroups) groups: vec3u) {
    let lid = local.x;
    let stride = groups.x * local_x;
    var total = 0.0;
    for (var i = id.x; i < args.n; i += stride) { total += x[i]; }
    partial[lid] = total;
    workgroupBarrier();
    for (var half = local_x / 2; half > 0; half /= 2) {
        if (lid < half) { partial[lid] += partial[lid + half]; }
        workgroupBarrier();
    }
    if (lid == 0) { result[group.x] = partial[0]; }
}
