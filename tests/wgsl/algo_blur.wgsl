// A blur of 3 x 3, weighted, at the edges with the nearest pixels; the tile and its rim in work-group memory.
// kernel: main
// global: 8, 6
// local: 4, 3
// arg: buf:float:48=10, 9, 16, 0, 14, 11, 11, 4, 1, 0, 8, 14, 3, 6, 0, 13, 13, 15, 12, 15, 12, 6, 9, 14, 2,
//         9, 0, 13, 9, 15, 9, 4, 5, 15, 15, 10, 4, 13, 1, 2, 7, 8, 2, 2, 0, 10, 13, 2
// arg: buf:float:48
// expect: 7.5, 8.8125, 9.5625, 8.0625, 8.9375, 9.75, 8.125, 6.75, 6.1875, 7.3125, 9.6875, 10.125, 8.5, 6.875,
//         7.0625, 9.5, 7.875, 8.6875, 10, 11.375, 10.125, 8.0625, 8.25, 10.125, 7.125, 9.0625, 9.5625,
//         10.1875, 10.5, 10, 8.0625, 6.25, 6.5, 9.0625, 9.125, 7.4375, 7.5, 8.9375, 6.8125, 3.375, 7.3125,
//         7.8125, 6.0625, 3.5625, 4.1875, 8.125, 8.1875, 4
@group(0) @binding(0) var<storage, read> in: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
const size = vec2i(8, 6);
const tile = vec2i(4, 3);
var<workgroup> near: array<array<f32, tile.x + 2>, tile.y + 2>;
const weights = array(1.0, 2.0, 1.0);
@compute @workgroup_size(tile.x, tile.y)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) local: vec3u) {
    let corner = vec2i(group.xy) * tile - 1;
    for (var y = i32(local.y); y < tile.y + 2; y += tile.y) {
        for (var x = i32(local.x); x < tile.x + 2; x += tile.x) {
            let at = clamp(corner + vec2i(x, y), vec2i(), size - 1);
            near[y][x] = in[at.y * size.x + at.x];
        }
    }
    workgroupBarrier();
    var w = weights;
    var sum = 0.0;
    for (var y = 0u; y < 3; y++) {
        for (var x = 0u; x < 3; x++) { sum += near[local.y + y][local.x + x] * w[x] * w[y]; }
    }
    let at = corner + 1 + vec2i(local.xy);
    out[at.y * size.x + at.x] = sum / 16;
}
