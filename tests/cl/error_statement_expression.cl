// What leaves a statement expression has no value to leave behind.
// error: 6: only allowed in a function
// error: 8: 'return' in a statement expression
// error: 10: 'break' in a statement expression
// error: 11: 'goto' in a statement expression
constant int file = ({ 1; });
kernel void run(global int *o) {
    o[0] = ({ if (o[1]) return; 1; });
    for (;;) {
        o[0] += ({ if (o[1]) break; 2; });
        o[1] = ({ if (o[1]) goto out; 2; });
    }
out:
    o[2] = 1;
}
