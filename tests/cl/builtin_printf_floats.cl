// printf of floats: %f %e %g %a, precisions, special values; a float is printed as the double it becomes.
// needs: printf
// kernel: run
// arg: float:0.1
// prints: "1.500000 -2.25 3e+00 1.000000e-10 100000 1e+06\n"
// prints: "0.100000001 0.1 [  3.14][3.14  ][+2.0][0001.5]\n"
// prints: "inf -inf nan INF 0.000000 -0.0\n"
// prints: "0x1p+0 0x1.8p+1 1E+20 2.\n"
kernel void run(float tenth) {
    printf("%f %.2f %.0e %e %g %g\n", 1.5f, -2.25, 3.0f, 1e-10, 100000.0f, 1e6f);
    printf("%.9f %g [%6.2f][%-6.2f][%+.1f][%06.1f]\n", tenth, tenth, 3.14159f, 3.14159f, 2.0f, 1.5f);
    printf("%f %f %f %F %f %.1f\n", INFINITY, -INFINITY, fabs((float)NAN), INFINITY, 0.0f, -0.0f);
    printf("%a %a %G %#.0f\n", 1.0f, 3.0f, 1e20f, 2.0f);
}
