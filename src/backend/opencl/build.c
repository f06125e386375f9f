/* From OpenCL C text, or a driver's binary, to a program. */
#include <stdio.h>
#include <string.h>

#include "backend/opencl/opencl.h"

static void name_kernels(const qn__code *code, char *out, size_t size) {
    size_t used = 0;
    out[0] = 0;
    for (uint32_t i = 0; i < code->info->num_kernels && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%s", i ? ", " : "", code->info->kernels[i].name);
}

static void explain_build(const qn__code *code, cl_object program, int32_t error, char *why) {
    const qn__gpu *gpu = code->gpu;
    char names[160], *log = NULL;
    size_t size = 0;
    name_kernels(code, names, sizeof names);
    gpu->cl->clGetProgramBuildInfo(program, gpu->device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
    if (size) log = qn__allocate_zeroed(gpu->services->allocator, size + 1);
    if (log) gpu->cl->clGetProgramBuildInfo(program, gpu->device, CL_PROGRAM_BUILD_LOG, size, log, NULL);
    const char *start = log ? strstr(log, "error") : NULL;
    while (start && start > log && start[-1] != '\n') start--;
    snprintf(why, QN__WHY, "the OpenCL driver cannot compile %s: %s%s%.250s", names, qn__cl_error_name(error),
             log && *log ? ": " : "",
             start ? start
             : log ? log
                   : "");
    qn__release(gpu->services->allocator, log);
}

/* The program goes when it cannot be built. */
static qn_status build(const qn__code *code, bool any_size, cl_object *program, char *why) {
    const qn__gpu *gpu = code->gpu;
    char options
        [160]; /* -w: what a driver would warn of, or count on the standard error, is not in the user's text */
    snprintf(options, sizeof options, "-cl-std=CL1.2 -w%s%s",
             gpu->exact_division ? " -cl-fp32-correctly-rounded-divide-sqrt" : "",
             any_size ? " -DQN_ANY_LOCAL_SIZE" : "");
    int32_t error = gpu->cl->clBuildProgram(*program, 1, &gpu->device, options, NULL, NULL);
    if (!error) return QN_OK;
    explain_build(code, *program, error, why);
    gpu->cl->clReleaseProgram(*program);
    *program = NULL;
    return error == CL_OUT_OF_HOST_MEMORY ? QN_ERROR_OUT_OF_MEMORY : QN_ERROR_DRIVER;
}

qn_status qn__cl_build_text(const qn__code *code, bool any_size, cl_object *program, char *why) {
    const char *text = code->text;
    int32_t error = 0;
    *program =
        code->gpu->cl->clCreateProgramWithSource(code->gpu->context, 1, &text, &code->text_size, &error);
    if (!error && *program) return build(code, any_size, program, why);
    *program = NULL;
    snprintf(why, QN__WHY, "the OpenCL driver takes no program: %s", qn__cl_error_name(error));
    return QN_ERROR_DRIVER;
}

qn_status qn__cl_build_binary(const qn__code *code, const unsigned char *binary, size_t size, bool any_size,
                              cl_object *program, char *why) {
    const qn__gpu *gpu = code->gpu;
    int32_t error = 0;
    *program =
        gpu->cl->clCreateProgramWithBinary(gpu->context, 1, &gpu->device, &size, &binary, NULL, &error);
    if (!error && *program) return build(code, any_size, program, why);
    *program = NULL;
    snprintf(why, QN__WHY, "the OpenCL driver does not take its binary: %s", qn__cl_error_name(error));
    return QN_ERROR_IO;
}

unsigned char *qn__cl_binary(const qn__gpu *gpu, cl_object program, size_t *size) {
    *size = 0;
    if (gpu->cl->clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof *size, size, NULL) || !*size)
        return NULL;
    unsigned char *data = qn__allocate(gpu->services->allocator, *size);
    if (!data) return NULL;
    if (!gpu->cl->clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof data, &data, NULL)) return data;
    qn__release(gpu->services->allocator, data);
    return NULL;
}
