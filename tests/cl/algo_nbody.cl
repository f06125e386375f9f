// One step of n-body forces in single precision, by float4 with the mass in w.
// kernel: forces
// global: 8
// arg: buf:float4:8=2, 0, -1, 1, 1.08060455, 2.52441287, -0.75, 2, -0.832293689, 2.7278924, -0.5, 3,
//         -1.979985, 0.42336002, -0.25, 1, -1.30728722, -2.27040744, 0, 2, 0.5673244, -2.87677288,
//         0.25, 3, 1.92034054, -0.838246524, 0.5, 1, 1.50780451, 1.97095978, 0.75, 2
// arg: buf:float4:8
// expect: -0.553321705, 0.159803663, 0.654564983, 0, -0.629560168, -0.551944406, 0.809702143, 0,
//         0.765535125, -0.503160049, 0.0863159713, 0, 0.706251176, 0.123326789, 0.0128465486, 0,
//         0.884586978, 0.19586794, 0.0705917343, 0, -0.385300986, 0.63410016, -0.0991265223, 0,
//         -0.605681684, 0.193407283, -0.434757203, 0, -0.599001912, -0.0786025673, -0.977405215, 0 ~1e-5
kernel void forces(global const float4 *bodies, global float4 *out) {
    size_t i = get_global_id(0), n = get_global_size(0);
    float4 me = bodies[i], sum = (float4)(0);
    for (size_t j = 0; j < n; j++) {
        float4 d = bodies[j] - me;
        float r = rsqrt(dot(d.xyz, d.xyz) + 0.01f);
        sum.xyz += d.xyz * (bodies[j].w * r * r * r);
    }
    out[i] = sum;
}
