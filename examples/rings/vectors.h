/* A message of vector_add.c, for the host and for the kernel. */
#ifndef VECTORS_H
#define VECTORS_H

#define LENGTH 8

typedef struct vectors {
    float a[LENGTH], b[LENGTH];
} vectors;

typedef struct sum {
    float at[LENGTH];
} sum;

#endif
