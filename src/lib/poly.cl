/* Polynomials of the maths library: written by scripts/minimax.py, which tells what they stand for. */

float poly_exp_f32(float x) {
    float p = 0x1.6d1606p-10f;
    p = fma(p, x, 0x1.12106cp-7f);
    p = fma(p, x, 0x1.555516p-5f);
    p = fma(p, x, 0x1.5554d8p-3f);
    p = fma(p, x, 0x1p-1f);
    return p;
}

double poly_exp_f64(double x) {
    double p = 0x1.1f7579064b031p-29;
    p = fma(p, x, 0x1.af52906239de4p-26);
    p = fma(p, x, 0x1.27e4da3c55edap-22);
    p = fma(p, x, 0x1.71ddffef9e7b1p-19);
    p = fma(p, x, 0x1.a01a01a730fd1p-16);
    p = fma(p, x, 0x1.a01a01aca0134p-13);
    p = fma(p, x, 0x1.6c16c16c1624bp-10);
    p = fma(p, x, 0x1.111111110ff87p-7);
    p = fma(p, x, 0x1.5555555555556p-5);
    p = fma(p, x, 0x1.5555555555557p-3);
    p = fma(p, x, 0x1p-1);
    return p;
}

float poly_log_f32(float x) {
    float p = 0x1.1d8ea6p-4f;
    p = fma(p, x, -0x1.d635bcp-4f);
    p = fma(p, x, 0x1.dea282p-4f);
    p = fma(p, x, -0x1.fcf4c6p-4f);
    p = fma(p, x, 0x1.23d21ap-3f);
    p = fma(p, x, -0x1.555b4ap-3f);
    p = fma(p, x, 0x1.999d5ap-3f);
    p = fma(p, x, -0x1.fffffcp-3f);
    p = fma(p, x, 0x1.555554p-2f);
    return p;
}

float poly_atanh_f32(float x) {
    float p = 0x1.ddcf66p-4f;
    p = fma(p, x, 0x1.245c4p-3f);
    p = fma(p, x, 0x1.9999ecp-3f);
    p = fma(p, x, 0x1.555556p-2f);
    return p;
}

double poly_atanh_f64(double x) {
    double p = 0x1.bedc792bacafdp-5;
    p = fma(p, x, 0x1.ab83b1549732p-5);
    p = fma(p, x, 0x1.e2029886fadb8p-5);
    p = fma(p, x, 0x1.1110b8c856d25p-4);
    p = fma(p, x, 0x1.3b13b261341c9p-4);
    p = fma(p, x, 0x1.745d17437dda5p-4);
    p = fma(p, x, 0x1.c71c71c71f25dp-4);
    p = fma(p, x, 0x1.2492492492486p-3);
    p = fma(p, x, 0x1.999999999999ap-3);
    p = fma(p, x, 0x1.5555555555555p-2);
    return p;
}

float poly_sin_f32(float x) {
    float p = 0x1.6d939ap-19f;
    p = fma(p, x, -0x1.a01322p-13f);
    p = fma(p, x, 0x1.11110ep-7f);
    p = fma(p, x, -0x1.555556p-3f);
    return p;
}

double poly_sin_f64(double x) {
    double p = -0x1.aaf4c3626bdd9p-41;
    p = fma(p, x, 0x1.6121425bdd148p-33);
    p = fma(p, x, -0x1.ae6453c4a3e65p-26);
    p = fma(p, x, 0x1.71de3a5432adep-19);
    p = fma(p, x, -0x1.a01a01a0197b6p-13);
    p = fma(p, x, 0x1.111111111111p-7);
    p = fma(p, x, -0x1.5555555555555p-3);
    return p;
}

float poly_cos_f32(float x) {
    float p = -0x1.2507fap-22f;
    p = fma(p, x, 0x1.a0156cp-16f);
    p = fma(p, x, -0x1.6c16cp-10f);
    p = fma(p, x, 0x1.555556p-5f);
    return p;
}

double poly_cos_f64(double x) {
    double p = 0x1.ab592986a2b71p-45;
    p = fma(p, x, -0x1.93948410a19d2p-37);
    p = fma(p, x, 0x1.1eed8dc8d73cdp-29);
    p = fma(p, x, -0x1.27e4fb76fe6b5p-22);
    p = fma(p, x, 0x1.a01a01a019c5fp-16);
    p = fma(p, x, -0x1.6c16c16c16c16p-10);
    p = fma(p, x, 0x1.5555555555555p-5);
    return p;
}

float poly_asin_f32(float x) {
    float p = 0x1.13fed4p-5f;
    p = fma(p, x, 0x1.18f91ep-6f);
    p = fma(p, x, 0x1.fd8da2p-6f);
    p = fma(p, x, 0x1.6d5bbap-5f);
    p = fma(p, x, 0x1.33343p-4f);
    p = fma(p, x, 0x1.555554p-3f);
    return p;
}

double poly_asin_f64(double x) {
    double p = 0x1.e529c6fce9bb4p-6;
    p = fma(p, x, -0x1.3b416bb7d9257p-6);
    p = fma(p, x, 0x1.406192d124629p-6);
    p = fma(p, x, 0x1.8f193743418ffp-9);
    p = fma(p, x, 0x1.31622469ce5adp-7);
    p = fma(p, x, 0x1.3b49de7121487p-7);
    p = fma(p, x, 0x1.7b027ee1dd585p-7);
    p = fma(p, x, 0x1.c990ad3d8fdcap-7);
    p = fma(p, x, 0x1.1c4efce23019fp-6);
    p = fma(p, x, 0x1.6e8ba123e494cp-6);
    p = fma(p, x, 0x1.f1c71c7a52ba3p-6);
    p = fma(p, x, 0x1.6db6db6dac1ep-5);
    p = fma(p, x, 0x1.3333333333388p-4);
    p = fma(p, x, 0x1.5555555555555p-3);
    return p;
}

float poly_atan_f32(float x) {
    float p = -0x1.0841e6p-4f;
    p = fma(p, x, 0x1.b80f24p-4f);
    p = fma(p, x, -0x1.242028p-3f);
    p = fma(p, x, 0x1.99973p-3f);
    p = fma(p, x, -0x1.555554p-2f);
    return p;
}

double poly_atan_f64(double x) {
    double p = 0x1.0aca40aeebcep-6;
    p = fma(p, x, -0x1.1b2f96cc7eca8p-5);
    p = fma(p, x, 0x1.74dc387c1a6f4p-5);
    p = fma(p, x, -0x1.ac7a3950dffbap-5);
    p = fma(p, x, 0x1.e19a07798598ep-5);
    p = fma(p, x, -0x1.110e878213482p-4);
    p = fma(p, x, 0x1.3b1392d24f335p-4);
    p = fma(p, x, -0x1.745d165db0b8dp-4);
    p = fma(p, x, 0x1.c71c71c3035c8p-4);
    p = fma(p, x, -0x1.249249248d7d1p-3);
    p = fma(p, x, 0x1.9999999999953p-3);
    p = fma(p, x, -0x1.5555555555555p-2);
    return p;
}

float poly_sinh_f32(float x) {
    float p = 0x1.78a70ep-19f;
    p = fma(p, x, 0x1.a009p-13f);
    p = fma(p, x, 0x1.11111ep-7f);
    p = fma(p, x, 0x1.555556p-3f);
    return p;
}

double poly_sinh_f64(double x) {
    double p = 0x1.99f0806c2628dp-49;
    p = fma(p, x, 0x1.ae777c36fd5b6p-41);
    p = fma(p, x, 0x1.612467ccb226p-33);
    p = fma(p, x, 0x1.ae6456792a77fp-26);
    p = fma(p, x, 0x1.71de3a556f96cp-19);
    p = fma(p, x, 0x1.a01a01a01a001p-13);
    p = fma(p, x, 0x1.1111111111111p-7);
    p = fma(p, x, 0x1.5555555555555p-3);
    return p;
}

float poly_erf_f32(float x) {
    float p = -0x1.445f48p-17f;
    p = fma(p, x, 0x1.d8875p-14f);
    p = fma(p, x, -0x1.bccf66p-11f);
    p = fma(p, x, 0x1.562a6p-8f);
    p = fma(p, x, -0x1.b829c8p-6f);
    p = fma(p, x, 0x1.ce2f08p-4f);
    p = fma(p, x, -0x1.812746p-2f);
    p = fma(p, x, 0x1.20dd76p+0f);
    return p;
}

double poly_erf_f64(double x) {
    double p = -0x1.3aa422cc5d833p-46;
    p = fma(p, x, 0x1.cf915d8f3c685p-42);
    p = fma(p, x, -0x1.d332e777f7344p-38);
    p = fma(p, x, 0x1.9df7fd0b39a12p-34);
    p = fma(p, x, -0x1.51cfe00be885fp-30);
    p = fma(p, x, 0x1.fcc4c8ec29638p-27);
    p = fma(p, x, -0x1.5f74291398641p-23);
    p = fma(p, x, 0x1.b9e6c9944bd7ep-20);
    p = fma(p, x, -0x1.f4d25c3b729a6p-17);
    p = fma(p, x, 0x1.f9a326f9a7769p-14);
    p = fma(p, x, -0x1.c02db400406a3p-11);
    p = fma(p, x, 0x1.565bcd0e6a53p-8);
    p = fma(p, x, -0x1.b82ce31288b51p-6);
    p = fma(p, x, 0x1.ce2f21a042be2p-4);
    p = fma(p, x, -0x1.812746b0379e7p-2);
    p = fma(p, x, 0x1.20dd750429b6dp+0);
    return p;
}

float poly_erfc_f32(float x) {
    float p = 0x1.e916e2p-14f;
    p = fma(p, x, -0x1.04b5bap-12f);
    p = fma(p, x, -0x1.779174p-11f);
    p = fma(p, x, 0x1.4d1b64p-8f);
    p = fma(p, x, -0x1.09c926p-6f);
    p = fma(p, x, 0x1.30400ep-5f);
    p = fma(p, x, -0x1.0fa8fap-4f);
    p = fma(p, x, 0x1.7ff5fap-4f);
    p = fma(p, x, -0x1.9ddc12p-4f);
    p = fma(p, x, 0x1.16ebf8p-4f);
    p = fma(p, x, 0x1.f7f624p-7f);
    p = fma(p, x, -0x1.1df1a8p-3f);
    p = fma(p, x, 0x1.3ba592p+0f);
    return p;
}

double poly_erfc_f64(double x) {
    double p = 0x1.9f3a824329015p-36;
    p = fma(p, x, 0x1.6f4b2c594b8f3p-35);
    p = fma(p, x, -0x1.46551477da1c3p-32);
    p = fma(p, x, -0x1.276d07fd3fd0ap-31);
    p = fma(p, x, 0x1.37c31c710d399p-29);
    p = fma(p, x, 0x1.0f6f8cf940387p-28);
    p = fma(p, x, -0x1.0b2374ec65be9p-26);
    p = fma(p, x, -0x1.77ab5f11dc2d1p-26);
    p = fma(p, x, 0x1.dcfb7c98a8956p-24);
    p = fma(p, x, 0x1.52c97e7ca5ff3p-24);
    p = fma(p, x, -0x1.bb468cf4dff69p-21);
    p = fma(p, x, 0x1.38669fea939c7p-22);
    p = fma(p, x, 0x1.7f2a52ef41159p-18);
    p = fma(p, x, -0x1.7881b584b07b2p-17);
    p = fma(p, x, -0x1.9959511d5ab6dp-16);
    p = fma(p, x, 0x1.3be033ce3982ap-13);
    p = fma(p, x, -0x1.a1df256980c3cp-13);
    p = fma(p, x, -0x1.8d4a999e8c9a9p-11);
    p = fma(p, x, 0x1.49c6728655506p-8);
    p = fma(p, x, -0x1.0962388538971p-6);
    p = fma(p, x, 0x1.3079edf68211p-5);
    p = fma(p, x, -0x1.0fb06dfe490c3p-4);
    p = fma(p, x, 0x1.7fee004e1257bp-4);
    p = fma(p, x, -0x1.9ddb23c3e90c3p-4);
    p = fma(p, x, 0x1.16ecefcfa5395p-4);
    p = fma(p, x, 0x1.f7f5df66fd7b4p-7);
    p = fma(p, x, -0x1.1df1ad154a28ep-3);
    p = fma(p, x, 0x1.3ba5916e9fd7fp+0);
    return p;
}

float poly_lgamma_f32(float x) {
    float p = 0x1.6a137cp-12f;
    p = fma(p, x, -0x1.06f3f6p-10f);
    p = fma(p, x, 0x1.ff25aep-11f);
    p = fma(p, x, -0x1.67de94p-11f);
    p = fma(p, x, 0x1.a4becep-10f);
    p = fma(p, x, -0x1.bbd05ep-9f);
    p = fma(p, x, 0x1.6d9944p-8f);
    p = fma(p, x, -0x1.33eb64p-7f);
    p = fma(p, x, 0x1.12d48ap-6f);
    p = fma(p, x, -0x1.007e9cp-5f);
    p = fma(p, x, 0x1.01b0d6p-4f);
    p = fma(p, x, -0x1.2aed02p-3f);
    p = fma(p, x, 0x1.eeb95ap-2f);
    return p;
}

double poly_lgamma_f64(double x) {
    double p = 0x1.32cee3b5650c6p-24;
    p = fma(p, x, -0x1.7347e83fc3a2p-22);
    p = fma(p, x, 0x1.d08aad1158018p-22);
    p = fma(p, x, 0x1.c5ebeef695b5bp-22);
    p = fma(p, x, -0x1.2e6b654ff12ap-20);
    p = fma(p, x, -0x1.0a35274114e49p-21);
    p = fma(p, x, 0x1.5a730b5ac48b5p-19);
    p = fma(p, x, -0x1.69787ae34fd72p-20);
    p = fma(p, x, -0x1.cef72420a7c04p-21);
    p = fma(p, x, -0x1.63498ea903f4cp-21);
    p = fma(p, x, 0x1.0b382c5e7abebp-18);
    p = fma(p, x, -0x1.6141e356aa766p-18);
    p = fma(p, x, 0x1.a43c634c2733ep-18);
    p = fma(p, x, -0x1.532d867b57dddp-17);
    p = fma(p, x, 0x1.1af0eb16b4cdcp-16);
    p = fma(p, x, -0x1.be2a33f034adcp-16);
    p = fma(p, x, 0x1.5e43b61cd48fbp-15);
    p = fma(p, x, -0x1.15ece0610c745p-14);
    p = fma(p, x, 0x1.bb05de71c1384p-14);
    p = fma(p, x, -0x1.62378561dad59p-13);
    p = fma(p, x, 0x1.1c7477cef05e7p-12);
    p = fma(p, x, -0x1.cb45184593f56p-12);
    p = fma(p, x, 0x1.750ae416f034ep-11);
    p = fma(p, x, -0x1.313e8a207e423p-10);
    p = fma(p, x, 0x1.f814b7e01ea63p-10);
    p = fma(p, x, -0x1.a503522df3173p-9);
    p = fma(p, x, 0x1.64f06651d0454p-8);
    p = fma(p, x, -0x1.34dbda14a78a1p-7);
    p = fma(p, x, 0x1.1334235279c08p-6);
    p = fma(p, x, -0x1.007aa83cee078p-5);
    p = fma(p, x, 0x1.01af62a2929ep-4);
    p = fma(p, x, -0x1.2aed059bd608ap-3);
    p = fma(p, x, 0x1.eeb95b094c191p-2);
    return p;
}

float poly_stirling_f32(float x) {
    float p = -0x1.217c4ep-11f;
    p = fma(p, x, 0x1.9fb822p-11f);
    p = fma(p, x, -0x1.6c169ep-9f);
    p = fma(p, x, 0x1.555556p-4f);
    return p;
}

double poly_stirling_f64(double x) {
    double p = 0x1.243dc046fbc1ep-3;
    p = fma(p, x, -0x1.dcb3e860908f2p-6);
    p = fma(p, x, 0x1.a3e616740df2fp-8);
    p = fma(p, x, -0x1.f6aa365b7275ep-10);
    p = fma(p, x, 0x1.b951e1ab3014bp-11);
    p = fma(p, x, -0x1.38138137b95cbp-11);
    p = fma(p, x, 0x1.a01a01a019f21p-11);
    p = fma(p, x, -0x1.6c16c16c16c17p-9);
    p = fma(p, x, 0x1.5555555555555p-4);
    return p;
}

float poly_cbrt_f32(float x) {
    float p = -0x1.2e3874p-12f;
    p = fma(p, x, 0x1.ca0acep-8f);
    p = fma(p, x, -0x1.166aa6p-4f);
    p = fma(p, x, 0x1.a612e6p-2f);
    p = fma(p, x, 0x1.4ecb7ep-1f);
    return p;
}

double poly_cbrt_f64(double x) {
    double p = -0x1.2e387317adddep-12;
    p = fma(p, x, 0x1.ca0ace5bab84ep-8);
    p = fma(p, x, -0x1.166aa5a8ad33cp-4);
    p = fma(p, x, 0x1.a612e6bf7887cp-2);
    p = fma(p, x, 0x1.4ecb7ee28e2bbp-1);
    return p;
}
