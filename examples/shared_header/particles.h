/* Read by the C compiler and by quern alike, so that host and kernel agree on the struct and the
   constants. */
#ifndef PARTICLES_H
#define PARTICLES_H

#define NUM_PARTICLES 1024
#define TIME_STEP     0.01f
#define GRAVITY       9.81f

typedef struct particle {
    float height, speed;
    int bounces;
} particle;

#endif
