// Compound assignment with all operators, to variables, components, elements and members; ++ and --.
// kernel: main
// arg: buf:int:14
// expect: 7, 3, 10, 2, 1, 4, 7, 5, 20, 2, 8, 5, 2, 4
struct Pair { a: i32, b: vec2i }
@group(0) @binding(0) var<storage, read_write> out: array<i32>;
@compute @workgroup_size(1)
fn main() {
    for (var i = 0; i < 10; i++) {
        out[i] = 5;
    }
    out[0] += 2;
    out[1] -= 2;
    out[2] *= 2;
    out[3] /= 2;
    out[4] %= 2;
    out[5] &= 6;
    out[6] |= 2;
    out[7] ^= 0;
    out[8] <<= 2u;
    out[9] >>= 1u;
    var v = vec3i(2, 4, 6);
    v *= 2;
    v += vec3i(1);
    v.y -= 1;
    out[10] = v[1];
    v[0]++;
    v.x--;
    out[11] = v.x;
    var pair = Pair(1, vec2i(3, 4));
    pair.a++;
    pair.b[0]--;
    out[12] = pair.a;
    out[13] = pair.b.x * 2;
}
