// A `<` opens a template list where a `>` closes it: types in types, sizes that are expressions, `>>` and `>=` behind them.
// kernel: main
// arg: buf:int:8
// expect: 4, 2, 3, 12, 1, 6, 7, 5
@group(0) @binding(0) var<storage, read_write> out: array<i32>;
const n = 3;
alias Row = array<vec4<i32>, n>;
alias Grid = array<array<i32, n + 1>, (n - 1)>;
alias Shifted = array<i32, (1 << 2)>;
alias Chosen = array<i32, select(2, 5, (n > 2))>;
var<private> rows: array<array<vec2<f32>,2>,3>;
@compute @workgroup_size(1)
fn main() {
    var shifted: Shifted;
    var grid: Grid;
    var row: Row;
    var chosen = Chosen(1, 2, 3, 4, 5);
    let i: i32=n;
    shifted[3] = 4;
    grid[1][3] = 2;
    row[2].w = i;
    out[0] = shifted[3];
    out[1] = grid[1][3];
    out[2] = row[2].w;
    out[3] = vec2<i32>(3, 4).x * vec2<i32>(3, 4).y;
    out[4] = i32(i<4);
    rows[2][1].y = 6;
    out[5] = i32(rows[2][1].y);
    var wide: array<i32,4>= array<i32,4>(7, 7, 7, 7);
    out[6] = wide[i];
    out[7] = chosen[4];
}
