// Assertions that do not hold, or are no bools.
// error: 7: const_assert
// error: 8: bool
// error: 11: const_assert
// error: 12: const_assert
const n = 3;
const_assert n > 3;
const_assert n;
@compute @workgroup_size(1)
fn main() {
    const_assert n == 4;
    const_assert false || n < 3;
}
