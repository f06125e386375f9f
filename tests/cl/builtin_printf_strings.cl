// printf of strings, characters and pointers; the format may be joined of several literals.
// needs: printf
// kernel: run
// prints: "hello world\n"
// prints: "[   abc][abc   ][ab] %s 100%\n"
// prints: "no newline xyz\n"
// prints: "tab\tquote' null-ok\n"
kernel void run(void) {
    printf("hello "
           "%s\n",
           "world");
    printf("[%6s][%-6s][%.2s] %%s %d%%\n", "abc", "abc", "abc", 100);
    printf("no newline ");
    printf("%c%c%c\n", 'x', 'y', 'z');
    printf("tab\tquote' null-ok%s\n", "");
}
