// Comments: to the end of a line, between marks, nested, and where a token ends.
// kernel: main
// arg: buf:int:5
// expect: 1, 2, 3, 4, 5
/* A comment /* in a comment /* and one more */ of it */ still the first. // not a line's */
@group(0) @binding(0) var<storage, read_write> out: array<i32>; // */ of no meaning here
@compute /* between */ @workgroup_size(/* one */ 1 /**/)
fn main(/**/) {
    out[0] = 1; // /* not opened
    out[1]/**/=/***/2;
    out[2] = 6/* six *//2; /* a quotient of 6 by */
    out[3] = 4; /* // */ out[4] = 5;
}
