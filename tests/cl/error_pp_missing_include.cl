// error: 2: nowhere.h
#include "nowhere.h"
kernel void run(global int *out) { out[0] = 1; }
