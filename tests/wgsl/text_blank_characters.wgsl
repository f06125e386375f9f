// Blank characters other than spaces: tabs, form feeds, next line, left-to-right marks, line separators.
// kernel: main
// arg: buf:int:2
// expect: 3, 4
@group(0) @binding(0) var<storage, read_write> out: array<i32>;
@compute	@workgroup_size(1)
fn main() {
	out[0]=‎3‏;
    out[1] = 4; // ends at a line separator }
