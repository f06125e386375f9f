// -Werror makes errors of warnings.
// options: -Werror
// error: 4: unused
kernel void run(global int *p) { p[0] + 1; }
