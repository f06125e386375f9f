/* The kernels of this folder as text inside the program: made by cmake/kernels.cmake at build time, so that a
   program needs no path to them at run time. */
#ifndef QUERN_KERNELS_SHIPPED_H
#define QUERN_KERNELS_SHIPPED_H

/* The text of a file of this folder by its name, "saxpy.cl"; NULL when there is none. */
const char *shipped_kernel(const char *name);

#endif
