// Where a constant expression is asked for: sizes, attributes, cases, const.
// error: 12: const
// error: 13: const
// error: 14: const
// error: 15: const
// error: 17: call
// error: 21: const
// error: 23: const
// error: 26: const
override late = 4;
var<private> runtime: i32;
const a = runtime;
const b = late;
var<private> list: array<i32, runtime>;
var<private> wrong: array<i32, late>;
fn call() -> i32 { return 1; }
const c = call();
@compute @workgroup_size(1)
fn main() {
    let local = 3;
    const d = local;
    switch 1 {
        case local { }
        default { }
    }
    const_assert local == 3;
}
