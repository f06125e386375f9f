// What small floats are not for: arithmetic on their vectors, functions of floats on these, integers' operators, _sat of bf16.
// error: 17: '+' is not for vectors of small floats such as 'qn_bf16x4'
// error: 18: '-' is not for vectors of small floats such as 'qn_bf16x4'
// error: 19: '<' is not for vectors of small floats such as 'qn_bf16x4'
// error: 20: '*' is not for vectors of small floats such as 'qn_bf16x4'
// error: 21: '++' is not for vectors of small floats such as 'qn_bf16x4'
// error: 22: invalid operands to '&': 'qn_bf16' and 'int'
// error: 23: invalid operands to '<<': 'qn_bf16' and 'int'
// error: 24: argument of 'sqrt' is of type 'qn_bf16x4', but half, float or double is needed
// error: 25: '_sat' is for conversions to integers and to 8-bit floats, not to 'qn_bf16'
// error: 26: cannot convert 'float4' to 'qn_bf16x4'
// error: 27: 'qn_bf16'
// error: 28: unknown type name 'qn_bf164'
// error: 29: '!' is not for vectors of small floats such as 'qn_bf16x4'
// error: 30: '&&' is not for vectors of small floats such as 'qn_bf16x4'
kernel void k(qn_bf16x4 v, float4 f, qn_bf16 s, global float *out, half2 h, qn_bf16x4 w) { w = v;
    w = v + v;
    w = -v;
    out[0] = any(v < w);
    w *= 2;
    v++;
    out[0] = s & 1;
    out[0] = s << 1;
    out[0] = sqrt(v).x;
    s = convert_qn_bf16_sat(1.0f);
    w = f;
    h = h * s;
    qn_bf164 old;
    out[1] = any(!v);
    out[1] = any(v && w);
}
