/* Common functions (OpenCL C 6.12.4). */

/* Comparison and choice, which processors have as one instruction; undefined for NaN anyway. */
T max(T x, T y) { return x < y ? y : x; }
T min(T x, T y) { return y < x ? y : x; }

T degrees(T radians) { return (T)57.295779513082320876798 * radians; }
T radians(T degrees) { return (T)0.017453292519943295769237 * degrees; }
T mix(T x, T y, T a) { return fma(y - x, a, x); }
T step(T edge, T x) { return x < edge ? (T)0 : (T)1; }

T smoothstep(T edge0, T edge1, T x) {
    T t = clamp((x - edge0) / (edge1 - edge0), (T)0, (T)1);
    return t * t * fma((T)-2, t, (T)3);
}

/* Zero keeps its sign, NaN gives zero. */
T sign(T x) { return x > (T)0 ? (T)1 : x < (T)0 ? (T)-1 : x == (T)0 ? x : (T)0; }
