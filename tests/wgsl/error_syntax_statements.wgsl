// Mistakes of syntax in statements: each is told at its line, and the next one too.
// error: 16: ;
// error: 17: =
// error: 18: )
// error: 19: ;
// error: 20: {
// error: 21: ;
// error: 22: ;
// error: 23: ;
// error: 24: =
// error: 25: 3
// error: 26: else
@compute @workgroup_size(1)
fn main() {
    var a = 1;
    a = ;
    let b 2;
    a = (1 + 2;
    a = 1 +;
    if a > 1 return;
    a++ + 1;
    let c = a++;
    for (var i = 0; i < 3) { }
    a = = 2;
    var 3 = 4;
    else { }
}
