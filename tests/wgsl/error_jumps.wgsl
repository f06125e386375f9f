// break, continue and return where they do not go.
// error: 14: break
// error: 15: continue
// error: 16: break
// error: 17: return
// error: 18: continue
// error: 19: continuing
// error: 20: break
// error: 21: continue
// error: 22: break
@compute @workgroup_size(1)
fn main() {
    var i = 1;
    break;
    continue;
    loop { break; continuing { break; } }
    loop { break; continuing { return; } }
    loop { break; continuing { continue; } }
    loop { if i > 1 { break; } continuing { i++; } i++; }
    break if i > 0;
    switch i { default { continue; } }
    loop { break if i > 0; }
}
