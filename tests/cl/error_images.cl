// What OpenCL C itself does not allow of images, and what quern does not parse.
// error: 8: pointers to images and samplers
// error: 9: arrays of images and samplers
// error: 10: cannot be a member
// error: 11: takes an image first
// error: 12: cannot convert 'float'
// error: 13: pipes and queues
void a(image2d_t *p);
void b(void) { sampler_t s[2]; }
struct s { image3d_t image; };
kernel void c(global float *p) { p[0] = read_imagef(p, 1).x; }
constant sampler_t wrong = 1.5f;
kernel void d(queue_t q) {}
