/* Names of kernels in what targets emit; see symbol.c. */
#ifndef QN__SYMBOL_H
#define QN__SYMBOL_H

#include "util/arena.h"

/* A kernel's name as drivers are given it: its own, or a shorter one of ASCII. */
const char *qn__symbol_of(qn__arena *arena, const char *kernel);

#endif
