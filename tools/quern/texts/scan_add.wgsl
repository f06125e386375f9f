@group(0) @binding(1) var<storage, read_write> result: array<u32>;
@group(0) @binding(2) var<storage> totals: array<u32>;

@compute @workgroup_size(local_x, local_y)
fn scan_add(@builtin(global_invocation_id) id: vec3u, @builtin(workgroup_id) group: vec3u) {
    if (group.x > 0) { result[id.x] += totals[group.x - 1]; }
}
