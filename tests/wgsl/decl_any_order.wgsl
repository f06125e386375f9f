// Declarations of module scope in any order: each is used in front of where it stands.
// kernel: main
// local: 1
// arg: buf:int:5
// expect: 14, 3, 2, 30, 5
@compute @workgroup_size(size)
fn main() {
    out[0] = twice(add(three, four));
    var p: Pair;
    p.b = three;
    out[1] = p.b;
    out[2] = two;
    seen = 30;
    out[3] = seen;
    var list: List;
    list[4] = 5;
    out[4] = list[4];
}
fn twice(x: Number) -> Number { return two * x; }
const two = four / (three - 1);
fn add(a: Number, b: Number) -> Number { return a + b; }
const four = three + 1;
const three: Number = 3;
alias List = array<Number, four + 1>;
alias Number = i32;
struct Pair { a: Nested, b: Number }
struct Nested { list: List }
var<private> seen: Number;
const size = 1;
@group(0) @binding(0) var<storage, read_write> out: array<Number>;
