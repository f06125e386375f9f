// Particles fall, and bounce off the ground with a loss.
#include "particles.h"

kernel void fall(int steps, global particle *particles) {
    particle p = particles[get_global_id(0)];
    for (int i = 0; i < steps; i++) {
        p.speed -= GRAVITY * TIME_STEP;
        p.height += p.speed * TIME_STEP;
        if (p.height < 0.0f) {
            p.height = -p.height;
            p.speed *= -0.8f;
            p.bounces++;
        }
    }
    particles[get_global_id(0)] = p;
}
