// Constant expressions that have no value: overflow, division by zero, shifts too far, functions outside of their domain.
// error: 20: 9223372036854775807
// error: 21: 1 / 0
// error: 22: -1
// error: 23: 32
// error: 24: 1.0 / 0.0
// error: 25: sqrt
// error: 26: log
// error: 27: 5 % 0
// error: 28: i32
// error: 29: acos
// error: 30: normalize
// error: 31: clamp
// error: 32: -1
// error: 33: 1
// error: 34: 2
// error: 35: 0
// error: 36: inverseSqrt
// error: 37: pow
const a = 9223372036854775807 + 1;
const b = 1 / 0;
const c: u32 = 1 - 2;
const d = 1i << 32;
const e = 1.0 / 0.0;
const f = sqrt(-1.0);
const g = log(0.0);
const h = 5 % 0;
const i = -2147483648i / -1i;
const j = acos(2.0);
const k = normalize(vec2(0.0, 0.0));
const l = clamp(1, 3, 2);
const m = u32(-1);
const n = f32(1e39);
const o = 0x7fffffffu << 2;
const p = vec2(1, 2) / vec2(1, 0);
const q = inverseSqrt(0.0);
const r = pow(-1.0, 0.5);
@compute @workgroup_size(1)
fn main() {
}
