// Loops in cases of switches in loops: break leaves the nearest one of either.
// kernel: main
// arg: buf:int:2
// expect: 33, 3
@group(0) @binding(0) var<storage, read_write> out: array<i32>;
@compute @workgroup_size(1)
fn main() {
    var sum = 0;
    var rounds = 0;
    loop {
        rounds++;
        switch rounds {
            case 1 {
                for (var i = 0; i < 10; i++) {
                    if i == 3 { break; }
                    sum += i;
                }
                sum += 10;
            }
            case 2 {
                loop { sum += 20; break; }
                break;
            }
            default { }
        }
        if rounds >= 3 { break; }
    }
    out[0] = sum;
    out[1] = rounds;
}
