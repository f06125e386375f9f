kernel void k(global long *o) { o[0] = (long)0x8000000000000000L; }
