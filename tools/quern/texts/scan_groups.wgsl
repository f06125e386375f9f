@group(0) @binding(1) var<storage> numbers: array<u32>;
@group(0) @binding(2) var<storage, read_write> result: array<u32>;
@group(0) @binding(3) var<storage, read_write> totals: array<u32>;
var<workgroup> rows: array<u32, words>;

@compute @workgroup_size(local_x, local_y)
fn scan_groups(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_id) local: vec3u,
               @builtin(workgroup_id) group: vec3u) {
    let lid = local.x;
    var row = 0u;
    var other = local_x;
    rows[lid] = numbers[id.x];
    workgroupBarrier();
    for (var reach = 1u; reach < local_x; reach *= 2) {
        var sum = rows[row + lid];
        if (lid >= reach) { sum += rows[row + lid - reach]; }
        rows[other + lid] = sum;
        workgroupBarrier();
        let last = row;
        row = other;
        other = last;
    }
    result[id.x] = rows[row + lid];
    if (lid == local_x - 1) { totals[group.x] = rows[row + lid]; }
}
