#ifndef TWICE_H
#define TWICE_H
#define TWICE(x) ((x)*2)
int thrice(int x) { return x * 3; }
#endif
