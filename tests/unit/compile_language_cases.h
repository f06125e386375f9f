/* Rows of compile_language.c: name, kernel body (or "!" and a whole file), the numbers it leaves. */

/* ---- expressions ---- */
{"ids", "out[i] = i * 10 + (int)get_local_id(0) + (int)get_group_id(0) * 100;", "0 11 22 33 140 151 162 173"},
    {"query_dynamic", "int s = 0; for (uint d = 0; d < 5; d++) s += (int)get_global_size(d); out[i] = s;",
     "12 12"},
    {"arith", "out[i] = (i + 3) * (i - 2) / 2 % 5;", "-3 -2 0 3 2 2 3 0"},
    {"unsigned_arith", "uint u = (uint)i - 5u; out[i] = (int)(u / 1000000000u) + (int)(u >> 31);",
     "5 5 5 5 5 0 0 0"},
    {"shifts", "int m = -16 >> (i & 3); uint s = 1u << (i + 32); out[i] = m + (int)s;",
     "-15 -6 0 6 0 24 60 126"},
    {"small_ints", "char c = (char)(i * 50); uchar u = (uchar)(i * 50); short s = c; out[i] = c + u + s;",
     "0 150 300 -62 88 238 132 282"},
    {"long_math", "long a = (long)i << 33; ulong b = (ulong)a * 3; out[i] = (int)(b >> 33);",
     "0 3 6 9 12 15 18 21"},
    {"float_math", "float x = in[i] * 2.0f - 1.0f; out[i] = (int)(x * x);", "4 16 36 64 100 144 196 256"},
    {"float_compare",
     "float n = 0.0f / (float)(i - i); out[i] = (n == n) + 2 * (n != n) + 4 * (in[i] > 3.0f);", "2 2 6 6"},
    {"double_math", "double x = in[i]; x = x / 3.0; out[i] = (int)(x * 6.0 + 0.5);", "3 5 7 9"},
    {"logic", "out[i] = (i > 2 && i < 6) + 2 * (i == 0 || in[i] > 7.0f) + 4 * !i;", "6 0 0 1 1 1 2 2"},
    {"short_circuit", "int n = 0; if (i > 3 && (n = i)) n += 100; if (i < 2 || (n += 1000)) n++; out[i] = n;",
     "1 1 1001 1001 1105 1106 1107 1108"},
    {"ternary", "out[i] = i & 1 ? in[i] > 4.0f ? 7 : 8 : -i;", "0 8 -2 7 -4 7 -6 7"},
    {"comma", "int a; int b = (a = i, a + 1); out[i] = a * 10 + b;", "1 12 23 34"},
    {"increments",
     "int a = i; int b = a++ + ++a; b -= a--; out[i] = b * 100 + a; uchar c = 255; c++; out[i] += c;",
     "1 102 203"},
    {"bool_values", "bool b = i & 2; b |= i == 5; bool c = b; c++; out[i] = b + 2 * !b + 4 * (c && !b);",
     "6 6 1 1 6 1 1 1"},
    {"sizeof", "out[i] = sizeof(int) + sizeof(float3) + sizeof(long);", "28"},
    {"negate", "float f = -in[i]; int n = -i; out[i] = (int)f + n + ~i + !f;", "-2 -5 -8"},
    {"pointer_math",
     "global int *p = out + i; *p = 5; p[0] += (int)(p - out); if (p != out && p >= out) *p += 10;",
     "5 16 17 18"},
    {"compound_assign", "short s = 10; s *= 3.7f; s -= 1; s <<= 1; s |= 1; s ^= i; out[i] = s;",
     "73 72 75 74"},

    /* ---- conversions ---- */
    {"convert_sat",
     "out[0] = convert_uchar_sat(300) + convert_char_sat(-200.5f); out[1] = convert_uint_sat(-5.0f); out[2] "
     "= convert_short_sat(70000u); out[3] = convert_int_sat(3000000000u) == 0x7fffffff;",
     "127 0 32767 1"},
    {"convert_round",
     "float x = 2.5f + (float)i * 0.0f; out[0] = convert_int_rte(x); out[1] = convert_int_rtp(x); out[2] = "
     "convert_int_rtn(-x); out[3] = convert_int_rtz(-x);",
     "2 3 -3 -2"},
    {"convert_vector",
     "float4 f = (float4)(1.9f, -1.9f, 300.0f, -300.0f); char4 c = convert_char4_sat(f); out[0] = c.x; "
     "out[1] = c.y; out[2] = c.z; out[3] = c.w;",
     "1 -1 127 -128"},
    {"as_type",
     "out[0] = as_int(1.0f); out[1] = as_int((uchar4)(1, 2, 3, 4)); float3 f = as_float3((int4)(0, "
     "0x40000000, 0, 9)); out[2] = (int)f.y; out[3] = (int)as_short2(0x00050007).y;",
     "0x3f800000 0x04030201 2 5"},
    {"half_memory",
     "local ushort h[4]; vstore_half(in[0], get_local_id(0), (local half *)h); out[i] = "
     "(int)(vload_half(get_local_id(0), (local half *)h) * 2.0f);",
     "3 3 3 3 3"},

    /* ---- vectors ---- */
    {"swizzle",
     "int4 v = (int4)(1, 2, 3, 4); v.xz = v.zx; int2 w = v.hi; w += v.even; out[0] = v.x * 1000 + v.y * 100 "
     "+ v.z * 10 + v.w; out[1] = w.x * 10 + w.y; out[2] = v.s3; out[3] = v.wzyx.s0;",
     "3214 45 4 4"},
    {"swizzle_global",
     "global int4 *p = (global int4 *)out; if (i == 0) { p[0] = (int4)(9); p[0].yw = (int2)(1, 2); p[0].x += "
     "5; }",
     "14 1 9 2"},
    {"vector_ops",
     "int4 a = (int4)(i, 1, 2, 3), b = a < 2; b = b ? a + 10 : -a; out[i] = b.x * 1000 + b.y * 100 + b.z * "
     "10 + b.w; ",
     "11077 12077 -923 -1923"},
    {"vector_logic",
     "int2 a = (int2)(0, 7); int2 n = !a; int2 o = a || (int2)(0, 0); out[0] = n.x; out[1] = n.y; out[2] = "
     "o.x; out[3] = o.y;",
     "-1 0 0 -1"},
    {"vector3",
     "float3 a = (float3)(1, 2, 3); float3 t[2]; t[0] = a; t[1] = a * 2.0f; float3 s = t[0] + t[1]; out[i] = "
     "(int)(s.x + s.y * 10 + s.z * 100);",
     "963"},
    {"vector_shift",
     "uint4 v = (uint4)(1, 2, 3, 4) << (uint4)(1); v >>= 1; out[0] = v.w; char4 c = (char4)(-8) >> "
     "(char4)(1); out[1] = c.y;",
     "4 -4"},
    {"vload",
     "if (i) return; int3 v = vload3(0, out); float4 f = vload4(1, in); vstore2((int2)(4, 5), 1, out); "
     "out[0] = v.x + (int)f.x; out[1] = (int)f.w;",
     "5 8 4 5"},
    {"shuffle",
     "int4 v = (int4)(10, 20, 30, 40); uint4 m = (uint4)(3, (uint)i, 1, 0); int4 r = shuffle(v, m); out[i] = "
     "r.x + r.y + r.w; int8 q = shuffle2(v, v + 1, (uint8)(0, 4, 1, 5, 2, 6, 3, 7)); out[i] += q.s7 * 1000;",
     "41060 41070 41080 41090"},
    {"select",
     "out[i] = select(1, 2, i > 3); int2 s = select((int2)(1), (int2)(2), (int2)(-1, 1)); out[i] += 10 * s.x "
     "+ 100 * s.y;",
     "121 121 121 121 122"},
    {"vector_increment", "int2 v = (int2)(1, 2); v++; --v.y; v += 1; out[i] = v.x * 10 + v.y;", "33"},

    /* ---- memory ---- */
    {"array", "int a[8]; for (int k = 0; k < 8; k++) a[k] = k * k; out[i] = a[i] + a[7 - i];",
     "49 37 29 25 25 29 37 49"},
    {"array_init", "int a[6] = {1, 2, [4] = 9, 10}; out[i] = a[i % 6];", "1 2 0 0 9 10 1 2"},
    {"array_2d",
     "int m[3][4] = {{1, 2}, {3}}; m[2][3] = 7; int s = 0; for (int r = 0; r < 3; r++) for (int c = 0; c < "
     "4; c++) s = s * 2 + m[r][c]; out[i] = s + m[i % 3][0];",
     "4488 4490 4487"},
    {"big_zero",
     "int a[500] = {0}; a[i * 7] = 3; int s = 0; for (int k = 0; k < 500; k++) s += a[k]; out[i] = s;",
     "3 3 3"},
    {"big_table",
     "const short t[40] = "
     "{1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36}; "
     "out[i] = t[i * 5];",
     "1 6 11 16 21 26 31 36"},
    {"struct",
     "!typedef struct { int a; float b; char c[3]; } S; S make(int n) { S s = {n, 2.5f, {1, 2, 3}}; return "
     "s; } int sum(S s) { s.a++; return s.a + (int)s.b + s.c[2]; } kernel void k(global int *out, global "
     "float *in) { int i = get_global_id(0); S s = make(i), t; t = s; t.c[2] = 10; out[i] = sum(t) * 100 + "
     "sum(s) + t.a; out[i] += make(3).a; }",
     "1309 1411 1513"},
    {"struct_pointer",
     "!struct P { int x, y; }; void swap(struct P *p) { int t = p->x; p->x = p->y; p->y = t; } kernel void "
     "k(global int *out, global float *in) { int i = get_global_id(0); struct P p[2] = {{1, 2}, {.y = 4}}; "
     "swap(&p[1]); swap(p); out[i] = p[0].x * 1000 + p[0].y * 100 + p[1].x * 10 + p[1].y; }",
     "2140"},
    {"struct_choice",
     "!typedef struct { int a, b; } P; kernel void k(global int *out, global float *in) { int i = "
     "get_global_id(0); P p = {1, 2}, q = {3, 4}; P r = i & 1 ? p : q; (i & 2 ? &p : &q)->a = 9; out[i] = "
     "r.a * 10 + r.b + p.a * 100 + q.a * 1000; }",
     "9134 9112 3934 3912"},
    {"union",
     "union { float f; int n; uchar b[4]; } u; u.f = 1.0f; out[0] = u.n; u.n = 0x01020304; out[1] = u.b[0] * "
     "10 + u.b[3];",
     "0x3f800000 41"},
    {"bit_fields",
     "struct { int a : 4; uint b : 7; int : 0; int c : 20; bool d : 1; } s = {-3, 100, -1000, 1}; s.a += 2; "
     "s.b += 50; s.c--; out[0] = s.a; out[1] = s.b; out[2] = s.c; out[3] = s.d; out[4] = s.a++ + (s.b = "
     "200);",
     "-1 22 -1001 1 71"},
    {"compound_literal",
     "!struct P { int x, y; }; int f(struct P p) { return p.x * 10 + p.y; } kernel void k(global int *out, "
     "global float *in) { int i = get_global_id(0); int *p = (int[]){i, 2, 3}; p[0]++; out[i] = f((struct "
     "P){.y = 3, .x = p[0]}) + p[2]; }",
     "16 26 36"},
    {"constant_table",
     "!constant int T[4] = {5, 6, 7, 8}; constant float F = 2.5f; constant char *constant S = \"hello\"; "
     "constant int *constant P = &T[1]; kernel void k(global int *out, global float *in) { int i = "
     "get_global_id(0); out[i] = T[i & 3] + (int)F + S[1] + P[1]; }",
     "115 116 117 118"},
    {"string",
     "constant char *s = \"ab\" \"c\"; int n = 0; while (s[n]) n++; out[i] = n * 1000 + s[2] + \"xyz\"[1];",
     "3220"},
    {"local_memory",
     "local int t[4]; int l = get_local_id(0); t[l] = i * 2; barrier(CLK_LOCAL_MEM_FENCE); out[i] = t[3 - "
     "l];",
     "6 4 2 0 14 12 10 8"},
    {"volatile", "volatile int v = 3; v += i; out[i] = v + v;", "6 8 10"},
    {"param_struct",
     "!typedef struct { int a[3]; float f; } S; int g(const S *s) { return s->a[1]; } int h(S s, int n) { "
     "int *p = s.a; p[0] += n; return p[0] + s.a[n % 3]; } kernel void k(global int *out, global float *in) "
     "{ int i = get_global_id(0); S s = {{1, 2, 3}, 4}; out[i] = g(&s) * 100 + h(s, i); }",
     "202 204 206 208"},

    {"kernel_call",
     "!typedef struct { int a, b; } S; kernel void sub(global int *p, S s) { local int t; s.a += 5; t = s.a; "
     "barrier(CLK_LOCAL_MEM_FENCE); *p = s.a + s.b; } kernel void k(global int *out, global float *in) { int "
     "i = get_global_id(0); S s = {i, 100}; sub(out + i, s); out[i] += s.a; }",
     "105 107 109"},
    {"library",
     "float4 v = (float4)(0.0f, 1.0f, 2.0f, 3.0f); float4 e = exp2(v), p = pow(v, 2.0f); int4 x; float4 m = "
     "frexp(e, &x); out[0] = (int)e.w; out[1] = (int)(p.z + 0.5f); out[2] = x.w; out[3] = (int)(m.w * 4.0f); "
     "out[4] = (int)(dot(v, v) + length(v.yz) * 0.0f); out[5] = (int)round(sin(1.5707964f) * 1000.0f);",
     "8 4 4 2 14 1000"},

    /* ---- control ---- */
    {"while",
     "int n = i, s = 0; while (n > 0) { if (n == 3) { n--; continue; } s += n--; if (s > 20) break; } out[i] "
     "= s;",
     "0 1 3 3 7 12 18 22"},
    {"do", "int n = 0; do { n++; if (n == 5) continue; if (n > 6) break; } while (n < i); out[i] = n;",
     "1 1 2 3 4 5 6 7"},
    {"do_once",
     "int n = 0; do { n++; if (i == 1) break; if (i == 2) continue; n += 10; } while (0); out[i] = n;",
     "11 1 1 11"},
    {"for",
     "int s = 0; for (int a = 0, b = 10; a < b; a++, b--) { if (a == i) continue; s += b; } out[i] = s;",
     "30 31 32 33 34 40"},
    {"nested_loops",
     "int s = 0; for (int a = 0; a < 5; a++) { for (int b = 0; ; b++) { if (b > a) break; if (b == i) "
     "continue; s++; } if (s > 7) break; } out[i] = s;",
     "10 11 8 9 10 10"},
    {"infinite_return", "int n = 0; for (;;) { n += 3; if (n > i * 2) { out[i] = n; return; } }",
     "3 3 6 9 9"},
    {"early_return",
     "out[i] = 1; if (i & 1) return; out[i] = 2; if (i == 4) { out[i] = 3; return; } out[i] += 10;",
     "12 1 12 1 3 1 12 1"},
    {"switch_chain",
     "int r; switch (i) { case 0: r = 5; break; case 1: case 2: r = 6; break; default: r = 7; break; case 4: "
     "r = 8; } out[i] = r;",
     "5 6 6 7 8 7"},
    {"switch_fall",
     "int r = 0; switch (i) { case 1: r += 1; case 2: r += 10; break; case 3: r += 100; default: r += 1000; "
     "case 5: if (i == 6) break; r += 5; } out[i] = r;",
     "1005 11 10 1105 1005 5 1000 1005"},
    {"switch_many",
     "int r = 0; switch (i * 3 - 6) { case -6: r = 1; break; case -3: r = 2; break; case 0: r = 3; break; "
     "case 3: r = 4; break; case 6: r = 5; break; case 9: r = 6; break; case 12: r = 7; break; case 100: r = "
     "8; break; case 101: r = 9; break; case 102: r = 10; } out[i] = r;",
     "1 2 3 4 5 6 7 0"},
    {"switch_return",
     "!int f(uint n) { switch (n) { case 0u: return 4; case 0xffffffffu: return 5; default: return 6; } } "
     "kernel void k(global int *out, global float *in) { int i = get_global_id(0); out[i] = f((uint)i - 1u); "
     "}",
     "5 4 6 6"},
    {"switch_in_loop",
     "int s = 0; for (int n = 0; n < 6; n++) { switch (n & 3) { case 0: continue; case 1: s += i; break; "
     "case 2: if (i > 3) break; s += 100; } s++; } out[i] = s;",
     "104 106 108 110 12 14"},
    {"goto_out",
     "int s = 0; for (int a = 0; a < 4; a++) for (int b = 0; b < 4; b++) { if (a * b == i) goto done; s++; } "
     "s += 100; done: out[i] = s;",
     "0 5 6 7 10 116 11 116"},
    {"goto_back", "int n = 0; again: n++; if (n < i) goto again; out[i] = n;", "1 1 2 3 4"},
    {"goto_mixed",
     "int n = 0; retry: n++; if (n == 2) goto skip; if (n > 5) goto end; n += 10; skip: if (n < i) goto "
     "retry; n += 1000; end: out[i] = n;",
     "1011 1011"},
    {"calls",
     "!int helper(int n); int twice(int n) { return helper(n) * 2; } int helper(int n) { if (n > 3) return n "
     "- 3; return n; } void put(global int *p, int v) { *p = v; } kernel void k(global int *out, global "
     "float *in) { int i = get_global_id(0); put(out + i, twice(i) + 1); }",
     "1 3 5 7 3 5 7 9"},
    {"unroll",
     "int s = 0; __attribute__((opencl_unroll_hint(4))) for (int n = 0; n < 10; n++) s += n * i; out[i] = s;",
     "0 45 90"},

    /* ---- work-items together ---- */
    {"atomics",
     "local int sum; if (get_local_id(0) == 0) sum = 0; barrier(CLK_LOCAL_MEM_FENCE); atomic_add(&sum, i); "
     "barrier(CLK_LOCAL_MEM_FENCE); out[i] = sum; atomic_inc(&out[8]); atomic_sub(out + 9, 2); "
     "atomic_cmpxchg(&out[10], 0, 7);",
     "6 6 6 6 22 22 22 22 8 -16 7"},
    {"c11_atomics",
     "volatile global atomic_int *p = (volatile global atomic_int *)(out + 8); atomic_fetch_add_explicit(p, "
     "i, memory_order_relaxed, memory_scope_device); int e = 28; barrier(CLK_GLOBAL_MEM_FENCE); if (i == 4) "
     "{ bool ok = atomic_compare_exchange_strong(p, &e, 50); out[0] = ok; out[1] = e; ok = "
     "atomic_compare_exchange_strong(p, &e, 60); out[2] = ok; out[3] = e; out[4] = atomic_load(p); }",
     "1 28 0 50 50"},
    {"collectives",
     "out[i] = work_group_reduce_add(i) + 100 * work_group_scan_exclusive_max(i + 1 > 2 ? i : 1) * "
     "(get_local_id(0) != 0) + 10000 * work_group_any(i == 5) + 100000 * work_group_broadcast(i, 2);",
     "200006 200106 200106 200206 610022 610422 610522 610622"},
    {"sub_groups",
     "out[i] = sub_group_reduce_max(i) + 10 * sub_group_shuffle_xor(i, 1) + 100 * sub_group_all(i < 4) + "
     "1000 * sub_group_elect() + 10000 * (int)sub_group_ballot(i & 1).x;",
     "101113 100103 100133 100123 101057 100047 100077 100067"},
    {"math",
     "out[0] = (int)(sqrt(in[1] + 1.5f) * 4.0f); out[1] = max(3, i - i) + min(2u, 9u) + (int)clz(1); out[2] "
     "= (int)fma(2.0f, 3.0f, 4.0f) + (int)floor(-1.5f); out[3] = abs(-7) + mul_hi(1 << 30, 8);",
     "8 36 8 9"},
