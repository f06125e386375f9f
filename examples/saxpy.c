/* y = 2 * x + y on the best device there is: a whole program. */
#include <quern/quern.h>
#include <stdio.h>

static const char source[] =
    "kernel void saxpy(uint n, float a, global const float *restrict x, global float *restrict y) {\n"
    "    size_t i = get_global_id(0);\n"
    "    if (i < n) y[i] = a * x[i] + y[i];\n"
    "}\n";

int main(void) {
    float x[] = {1, 2, 3, 4, 5, 6, 7, 8}, y[] = {10, 20, 30, 40, 50, 60, 70, 80};
    qn_context *context = NULL;
    qn_device *device = NULL;
    qn_program *program = NULL;
    qn_kernel *kernel = NULL;
    qn_buffer *xs = NULL, *ys = NULL;
    qn_status status = qn_context_create(NULL, &context);
    if (!status) status = qn_device_get(context, NULL, &device);
    if (!status) status = qn_program_create(device, &(qn_program_desc){.source = source}, &program);
    if (!status) status = qn_kernel_create(program, "saxpy", &kernel);
    if (!status) status = qn_buffer_create(device, &(qn_buffer_desc){.size = sizeof x, .data = x}, &xs);
    if (!status) status = qn_buffer_create(device, &(qn_buffer_desc){.size = sizeof y, .data = y}, &ys);
    if (!status) status = qn_launch(NULL, kernel, QN_RANGE(8), QN_ARGS(8, 2.0f, xs, ys));
    if (!status) status = qn_buffer_read(ys, 0, y, sizeof y);
    if (status) fprintf(stderr, "%s: %s\n", qn_status_text(status), qn_error_message(context));
    for (int i = 0; i < 8 && !status; i++) printf("%g ", y[i]);
    printf("\n");
    qn_context_destroy(context); /* and with it all that was made from it */
    return status;
}
