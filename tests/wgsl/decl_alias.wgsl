// Names for types: of scalars, vectors, arrays, structs, pointers, and of other names.
// kernel: main
// arg: buf:float:6
// expect: 1, 2, 6, 9, 4, 8
@group(0) @binding(0) var<storage, read_write> out: Floats;
alias Float = f32;
alias Floats = array<Float>;
alias Pair = vec2<Float>;
alias Pairs = array<Pair, 3>;
alias Point = Position;
alias Place = ptr<function, Float>;
struct Position { at: Pair }
fn double_it(p: Place) { *p *= 2; }
@compute @workgroup_size(1)
fn main() {
    let p = Point(Pair(1, 2));
    out[0] = p.at.x;
    out[1] = Position(Pair(Float(1), Float(2))).at.y;
    let all = Pairs(Pair(1, 2), Pair(3, 4), Pair(5, 6));
    out[2] = all[2][1];
    out[3] = dot(all[0], all[1]) - 2;
    var x: Float = 4;
    out[4] = x;
    double_it(&x);
    out[5] = x;
}
