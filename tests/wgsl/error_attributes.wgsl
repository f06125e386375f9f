// Attributes that are not known, twice, or where they do not go.
// error: 10: nothing
// error: 11: compute
// error: 12: id
// error: 13: align
// error: 14: must_use
// error: 16: 3
// error: 17: id
// error: 18: id
@nothing const a = 1;
@compute const b = 1;
@id(1) const c = 1;
@align(16) var<private> d: i32;
@must_use fn e() { }
@id(3) override f = 1;
@id(3) override g = 2;
@id(-1) override h = 2;
@id(70000) override i = 2;
@compute @workgroup_size(1)
fn main() {
}
