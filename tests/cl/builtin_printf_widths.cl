// Numbers of another kind or width than their conversions take are brought to it, so that what follows is not
// misread: %s behind them would be a wild pointer.
// needs: printf
// kernel: run
// arg: buf:long:2=-5,7
// prints: "-5 7 text 9\n"
// prints: "3 2.000000 -1 end\n"
// prints: "-5 1,-2 end\n"
// warning: 13: conversion 1 of the format, '%d', does not fit argument 1 of type 'long': it is printed as 'int'
// warning: 14: conversion 1
// warning: 15: '%v2hhd', does not fit argument 2 of type 'int2': it is printed as 'char2'
kernel void run(global long *p) {
    printf("%d %d %s %d\n", p[0], p[1], "text", 9);
    printf("%d %f %ld %s\n", 3.5f, 2, -1, "end");
    printf("%ld %v2hhd %s\n", p[0], (int2)(1, -2), "end");
}
