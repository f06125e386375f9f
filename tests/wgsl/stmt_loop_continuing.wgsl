// loop with continuing: run after the body and after continue, and its break if at the end.
// kernel: main
// arg: buf:int:5
// expect: 10, 4, 20, 6, 3
@group(0) @binding(0) var<storage, read_write> out: array<i32>;
@compute @workgroup_size(1)
fn main() {
    var i = 0;
    var sum = 0;
    loop {
        if i == 5 { break; }
        sum += i;
        continuing { i++; }
    }
    out[0] = sum;
    var j = 0;
    loop {
        let next = j + 1;
        continuing {
            j = next;
            break if j == 4;
        }
    }
    out[1] = j;
    var evens = 0;
    var k = 0;
    loop {
        if k % 2 == 1 { continue; }
        evens += k;
        continuing {
            k++;
            break if k > 9;
        }
    }
    out[2] = evens;
    var n = 0;
    loop {
        n++;
        if n < 6 { continue; }
        break;
    }
    out[3] = n;
    out[4] = i - j + 2;
}
