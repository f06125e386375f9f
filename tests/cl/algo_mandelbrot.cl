// Iteration counts of the Mandelbrot set on a small grid of exact coordinates.
// needs: f64
// kernel: mandelbrot
// global: 12, 8
// arg: buf:int:96
// expect: 1, 1, 2, 3, 3, 3, 4, 6, 40, 4, 2, 2, 1, 2, 3, 3, 3, 4, 6, 22, 34, 5, 3, 2, 1, 3, 3, 4, 5,
//         6, 40, 40, 40, 40, 5, 3, 1, 4, 5, 9, 40, 13, 40, 40, 40, 40, 5, 3, 40, 40, 40, 40, 40,
//         40, 40, 40, 40, 40, 5, 3, 1, 4, 5, 9, 40, 13, 40, 40, 40, 40, 5, 3, 1, 3, 3, 4, 5, 6, 40,
//         40, 40, 40, 5, 3, 1, 2, 3, 3, 3, 4, 6, 22, 34, 5, 3, 2
kernel void mandelbrot(global int *out) {
    double cx = -2 + get_global_id(0) * 0.25, cy = -1 + get_global_id(1) * 0.25, x = 0, y = 0;
    int n = 0;
    while (n < 40 && x * x + y * y <= 4) {
        double t = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = t;
        n++;
    }
    out[get_global_id(1) * get_global_size(0) + get_global_id(0)] = n;
}
