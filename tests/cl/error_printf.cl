// printf formats that no argument can save: the message names the conversion, and the caret stands at it.
// needs: printf
// error: 11: conversion 2 of the format, '%s', does not fit argument 2 of type 'int'
// error: 12: conversion 1 of the format, '%-8s', does not fit argument 1 of type '__global int*'
// error: 13: conversion 1 of the format, '%v3y', is none that printf knows
// error: 14: conversion 1 of the format, '%*', is none that printf knows
// error: 15: conversion 1 of the format, '%d', does not fit argument 1 of type 'float2'
// warning: 16: conversion 2 of the format, '%v4hld', does not fit argument 2 of type 'float4': it is printed as 'int4'
// error: 20: conversion 3 of the format, '%f', does not fit argument 3 of type '__global int*'
kernel void run(global int *p) {
    printf("%d %s\n", *p, *p);
    printf("%-8s\n", p);
    printf("%v3y\n", (int3)(1, 2, 3));
    printf("%*d\n", 5, *p);
    printf("%d\n", (float2)(1, 2));
    printf("%d %v4hld\n", 1, (float4)(1, 2, 3, 4));
    printf("%d \x25\x25 %%"
           " and %x"
           " and "
           "%f\n", *p, *p, p);
}
