// Constants made of constants: arrays, structs, matrices and calls of built-in functions, computed while compiling.
// kernel: main
// arg: buf:float:8
// expect: 3, 20, 5, 8, 2, 24, 1.5, 6
@group(0) @binding(0) var<storage, read_write> out: array<f32>;
struct Config {
    size: vec2<i32>,
    scale: f32,
}
const table = array(1, 2, 3, 5);
const third = table[2];
const config = Config(vec2(4, 5), 1.5);
const area = config.size.x * config.size.y;
const longest = max(config.size.x, config.size.y);
const m = mat2x2(1.0, 2.0, 3.0, 4.0);
const product = m * vec2(2.0, 1.0);
const power = 1 << u32(third - 2);
const factorial = third * (third + 1) * power;
@compute @workgroup_size(1)
fn main() {
    out[0] = f32(third);
    out[1] = f32(area);
    out[2] = f32(longest);
    out[3] = product.y;
    out[4] = f32(power);
    out[5] = f32(factorial);
    out[6] = config.scale;
    out[7] = f32(table[0] + table[3]);
}
