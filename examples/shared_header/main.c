/* A struct and constants in one header, particles.h, that this program and its kernel, fall.cl, both include.
   The kernel's file is read at run time here; its directory is compiled in, or given: shared_header [DIRECTORY]. */
#include "particles.h"

#include <quern/quern.h>
#include <stdio.h>

static int failed(qn_context *context, qn_status status) {
    if (status) fprintf(stderr, "%s: %s\n", qn_status_text(status), qn_error_message(context));
    return status != QN_OK;
}

int main(int argc, char **argv) {
    const char *directory = argc > 1 ? argv[1] : EXAMPLE_DIR;
    char path[1024], options[1024];
    snprintf(path, sizeof path, "%s/fall.cl", directory);
    snprintf(options, sizeof options, "-I \"%s\"", directory);
    static particle particles[NUM_PARTICLES];
    for (int i = 0; i < NUM_PARTICLES; i++) particles[i].height = 1.0f + 0.01f * (float)i;
    qn_context *context = NULL;
    qn_device *device;
    qn_program *program;
    qn_kernel *kernel;
    qn_buffer *buffer;
    qn_program_desc desc = {.path = path, .options = options};
    int bad = failed(NULL, qn_context_create(NULL, &context)) ||
              failed(context, qn_device_get(context, NULL, &device)) ||
              failed(context, qn_program_create(device, &desc, &program)) ||
              failed(context, qn_kernel_create(program, "fall", &kernel)) ||
              failed(context,
                     qn_buffer_create(device, &(qn_buffer_desc){.size = sizeof particles, .data = particles},
                                      &buffer)) ||
              failed(context, qn_launch(NULL, kernel, QN_RANGE(NUM_PARTICLES), QN_ARGS(300, buffer))) ||
              failed(context, qn_buffer_read(buffer, 0, particles, sizeof particles));
    for (int i = 0; i < NUM_PARTICLES && !bad; i += 256)
        printf("particle %4d: %.2f m high, %d bounces\n", i, (double)particles[i].height,
               particles[i].bounces);
    qn_context_destroy(context);
    return bad;
}
