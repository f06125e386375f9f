// A Fourier transform of 16 complex numbers in one work-group: bits reversed, then four rounds of butterflies.
// kernel: main
// global: 8
// arg: buf:float2:16=0, -1, 0, 2, 0, 0, 3, -2, 1, 1, -1, 2, -1, 0, -1, 0, -3, -1, -1, 0, -1, -2, 0, -3, -3,
//         2, 1, 0, -2, -1, -3, 3
// expect: -11, 0, 7.49981314, -2.54232238, -13.3137085, -5.58578644, -0.952690581, 2.32702119, 5, 4,
//         2.80883092, -8.51914508, 0, -12.8994949, 3.27809719, -0.187323716, -7, -4, 0.742827549,
//         -6.87189118, 9.3137085, -8.41421356, 13.1953313, 1.43033813, -7, 4, -3.05147161, 1.93335864, 0,
//         6.89949494, 0.479262121, 12.4299644 ~1e-4
@group(0) @binding(0) var<storage, read_write> data: array<vec2f, 16>;
var<workgroup> z: array<vec2f, 16>;
const tau = 6.283185307179586;
fn times(a: vec2f, b: vec2f) -> vec2f {
    return vec2f(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}
@compute @workgroup_size(8)
fn main(@builtin(local_invocation_index) i: u32) {
    for (var k = i; k < 16; k += 8) { z[reverseBits(k) >> 28u] = data[k]; }
    workgroupBarrier();
    for (var half_ = 1u; half_ < 16; half_ *= 2) {
        let place = i % half_;
        let low = (i / half_) * 2 * half_ + place;
        let angle = -tau * f32(place) / f32(2 * half_);
        let t = times(z[low + half_], vec2f(cos(angle), sin(angle)));
        z[low + half_] = z[low] - t;
        z[low] += t;
        workgroupBarrier();
    }
    for (var k = i; k < 16; k += 8) { data[k] = z[k]; }
}
