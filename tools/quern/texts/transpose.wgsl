struct Args { width: u32, height: u32 }
@group(0) @binding(0) var<uniform> args: Args;
@group(0) @binding(1) var<storage> matrix: array<f32>;
@group(0) @binding(2) var<storage, read_write> result: array<f32>;
var<workgroup> tile: array<array<f32, 17>, 16>;

@compute @workgroup_size(local_x, local_y)
fn transpose(@builtin(local_invocation_id) local: vec3u, @builtin(workgroup_id) group: vec3u) {
    let x = local.x;
    let y = local.y;
    let left = group.x * 16;
    let top = group.y * 16;
    tile[y][x] = matrix[(top + y) * args.width + left + x];
    workgroupBarrier();
    result[(left + y) * args.height + top + x] = tile[x][y];
}
