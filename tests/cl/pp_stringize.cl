// The # operator keeps spelling, joins white space, escapes quotes.
// kernel: run
// arg: buf:int:1
// prints: "a + b|\"q\\n\"|x\n"
#define STR(x) #x
#define XSTR(x) STR(x)
#define NAME x
kernel void run(global int *out) {
    printf("%s|%s|%s\n", STR(  a   +  b ), STR("q\n"), XSTR(NAME));
    out[0] = 1;
}
