/* Integer functions (OpenCL C 6.12.3), for any integer type, scalar or vector. Scalars narrower than int are
   promoted by every operator, hence the conversions back to T. */

/* The least number's negative is itself, which as an unsigned one is right. */
U abs(T x) {
    const U u = as_U(x), negated = (U)((U)0 - u);
    return x < (T)0 ? negated : u;
}

U abs_unsigned(T x) { return x; }
U abs_diff(T x, T y) { return x > y ? (U)(as_U(x) - as_U(y)) : (U)(as_U(y) - as_U(x)); }

/* Signed overflow shows in the signs: of both operands the same, of the result different. */
T add_sat(T x, T y) {
    T sum = as_T((U)(as_U(x) + as_U(y)));
    T largest = as_T((U)((U) ~(U)0 >> (U)1));
    T overflow = (T)((x ^ sum) & (y ^ sum));
    return overflow < (T)0 ? (x < (T)0 ? (T)~largest : largest) : sum;
}

T add_sat_unsigned(T x, T y) {
    T sum = (T)(x + y);
    return sum < x ? (T) ~(T)0 : sum;
}

/* Integer dot products (cl_khr_integer_dot_product): no product overflows, so that the last sum alone saturates. */
uint dot_acc_sat_uu(T a, T b, uint c) { return add_sat(dot(a, b), c); }
int dot_acc_sat_ss(T a, T b, int c) { return add_sat(dot(a, b), c); }
int dot_acc_sat_su(T a, U b, int c) { return add_sat(dot(a, b), c); }
int dot_acc_sat_us(U a, T b, int c) { return add_sat(dot(a, b), c); }
uint dot_acc_sat_4x8packed_uu_uint(uint a, uint b, uint c) { return add_sat(dot_4x8packed_uu_uint(a, b), c); }
int dot_acc_sat_4x8packed_ss_int(uint a, uint b, int c) { return add_sat(dot_4x8packed_ss_int(a, b), c); }
int dot_acc_sat_4x8packed_su_int(uint a, uint b, int c) { return add_sat(dot_4x8packed_su_int(a, b), c); }
int dot_acc_sat_4x8packed_us_int(uint a, uint b, int c) { return add_sat(dot_4x8packed_us_int(a, b), c); }

T sub_sat(T x, T y) {
    T difference = as_T((U)(as_U(x) - as_U(y)));
    T largest = as_T((U)((U) ~(U)0 >> (U)1));
    T overflow = (T)((x ^ y) & (x ^ difference));
    return overflow < (T)0 ? (x < (T)0 ? (T)~largest : largest) : difference;
}

T sub_sat_unsigned(T x, T y) { return x < y ? (T)0 : (T)(x - y); }

/* Half sums without overflow: Warren, Hacker's Delight, 2-5. */
T hadd(T x, T y) { return (T)((x & y) + ((x ^ y) >> (T)1)); }
T rhadd(T x, T y) { return (T)((x | y) - ((x ^ y) >> (T)1)); }

T clamp(T x, T low, T high) { return min(max(x, low), high); }

T mad_hi(T a, T b, T c) { return as_T((U)(as_U(mul_hi(a, b)) + as_U(c))); }

/* The sum is carried out in twice the width; it fits where the upper half repeats the lower one's sign. */
T mad_sat(T a, T b, T c) {
    U low = (U)(as_U(a) * as_U(b));
    U sum = (U)(low + as_U(c));
    T carry = sum < low ? (T)1 : (T)0;
    T high = as_T((U)(as_U(mul_hi(a, b)) + as_U(carry) - (c < (T)0 ? (U)1 : (U)0)));
    T largest = as_T((U)((U) ~(U)0 >> (U)1));
    T sign = as_T(sum) < (T)0 ? (T)-1 : (T)0;
    return high == sign ? as_T(sum) : high < (T)0 ? (T)~largest : largest;
}

T mad_sat_unsigned(T a, T b, T c) {
    T low = (T)(a * b);
    T sum = (T)(low + c);
    return (mul_hi(a, b) != (T)0) | (sum < low) ? (T) ~(T)0 : sum;
}

W upsample(T high, U low) { return (W)((convert_W(high) << (W)(8 * sizeof(S))) | convert_W(low)); }

/* Undefined where an operand has more than 24 bits, so that the full product serves; of it and the sum the low half. */
T mad24(T x, T y, T z) { return as_T((U)(as_U(x) * as_U(y) + as_U(z))); }
T mul24(T x, T y) { return as_T((U)(as_U(x) * as_U(y))); }
