struct Args { rows: u32 }
@group(0) @binding(0) var<uniform> args: Args;
@group(0) @binding(1) var<storage> starts: array<u32>;
@group(0) @binding(2) var<storage> columns: array<u32>;
@group(0) @binding(3) var<storage> values: array<f32>;
@group(0) @binding(4) var<storage> x: array<f32>;
@group(0) @binding(5) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(local_x, local_y)
fn spmv_rows(@builtin(global_invocation_id) id: vec3u) {
    let row = id.x;
    if (row >= args.rows) { return; }
    var sum = 0.0;
    for (var i = starts[row]; i < starts[row + 1]; i++) { sum += values[i] * x[columns[i]]; }
    y[row] = sum;
}
