/* Runs the kernel tests of tests/cl on an OpenCL driver (PoCL, say) in place of quern, to judge the
   expectations: where the two differ, one of them, or the test, reads the specification wrongly. Not part of
   the test run. usage: cl_oracle FILE.cl... */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cl_case.h"

typedef struct oracle {
    const cl_case *test;
    cl_context context;
    cl_device_id device;
    cl_command_queue queue;
    bool failed;
} oracle;

static void fail(oracle *o, const char *where, const char *what) {
    o->failed = true;
    printf("      %s%s%s\n", where, *where ? ": " : "", what);
}

static void fail_code(oracle *o, const char *where, const char *call, cl_int code) {
    char message[128];
    snprintf(message, sizeof message, "%s gave %d", call, code);
    fail(o, where, message);
}

static bool open_device(oracle *o) {
    cl_platform_id platform;
    cl_int error;
    if (clGetPlatformIDs(1, &platform, NULL)) return false;
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &o->device, NULL)) return false;
    o->context = clCreateContext(NULL, 1, &o->device, NULL, NULL, &error);
    if (error) return false;
    o->queue = clCreateCommandQueueWithProperties(o->context, o->device, NULL, &error);
    return error == CL_SUCCESS;
}

static cl_program build(oracle *o, const char *cl_options, cl_int *error) {
    const char *source = o->test->source;
    char options[1024];
    cl_program program = clCreateProgramWithSource(o->context, 1, &source, NULL, error);
    snprintf(options, sizeof options, "%s%s", strstr(cl_options, "-cl-std") ? "" : "-cl-std=CL3.0 ",
             cl_options);
    if (!*error) *error = clBuildProgram(program, 1, &o->device, options, NULL, NULL);
    return program;
}

static void show_log(oracle *o, cl_program program) {
    static char log[16384];
    if (clGetProgramBuildInfo(program, o->device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL)) return;
    for (char *line = strtok(log, "\n"); line; line = strtok(NULL, "\n"))
        if (strstr(line, "error:") || strstr(line, "rror")) fail(o, "build", line);
}

static cl_int set_args(oracle *o, const cl_run *run, cl_kernel kernel, cl_mem *buffers) {
    cl_int error = CL_SUCCESS;
    for (uint32_t i = 0; i < run->num_args && !error; i++) {
        const tool_arg *arg = &run->args[i].arg;
        if (arg->kind == ARG_BUFFER || arg->kind == ARG_FILE) {
            buffers[i] = clCreateBuffer(o->context, CL_MEM_COPY_HOST_PTR, arg->size, arg->data, &error);
            if (!error) error = clSetKernelArg(kernel, i, sizeof(cl_mem), &buffers[i]);
        } else
            error = clSetKernelArg(kernel, i, arg->kind == ARG_NULL ? sizeof(cl_mem) : arg->size,
                                   arg->kind == ARG_LOCAL ? NULL : arg->data);
    }
    return error;
}

static void check_buffers(oracle *o, const cl_run *run, cl_mem *buffers) {
    for (uint32_t i = 0; i < run->num_args; i++) {
        const cl_arg *arg = &run->args[i];
        if (!buffers[i]) continue;
        unsigned char *data = tool_alloc(arg->arg.size);
        char message[256], where[128];
        snprintf(where, sizeof where, "%s, argument %u", run->kernel, i + 1);
        clEnqueueReadBuffer(o->queue, buffers[i], CL_TRUE, 0, arg->arg.size, data, 0, NULL, NULL);
        if (!cl_expect_check(&arg->expect, data, message, sizeof message)) fail(o, where, message);
        free(data);
        clReleaseMemObject(buffers[i]);
    }
}

static void run_kernel(oracle *o, const cl_run *run, cl_program program) {
    cl_int error;
    cl_mem buffers[CL_MAX_ARGS] = {NULL};
    size_t global[3], local[3], offset[3];
    for (int d = 0; d < 3; d++) {
        global[d] = run->range.global[d] ? run->range.global[d] : 1;
        local[d] = run->range.local[d] ? run->range.local[d] : 1;
        offset[d] = run->range.offset[d];
    }
    cl_kernel kernel = clCreateKernel(program, run->kernel, &error);
    if (error) {
        fail_code(o, run->kernel, "clCreateKernel", error);
        return;
    }
    error = set_args(o, run, kernel, buffers);
    if (!error)
        error = clEnqueueNDRangeKernel(o->queue, kernel, 3, offset, global,
                                       run->range.local[0] ? local : NULL, 0, NULL, NULL);
    if (!error) error = clFinish(o->queue);
    if (error && !run->fails) fail_code(o, run->kernel, "the launch", error);
    if (!error && run->fails) fail(o, run->kernel, "ran, but was expected to fail");
    if (!error) check_buffers(o, run, buffers);
    clReleaseKernel(kernel);
}

static void run_all(oracle *o) {
    cl_program program = NULL;
    cl_int error = CL_SUCCESS;
    bool wants_errors = cl_case_count(o->test, CL_ERROR) > 0;
    if (wants_errors) {
        build(o, o->test->options, &error);
        if (!error) fail(o, "", "compiled, but errors were expected");
        return;
    }
    for (uint32_t i = 0; i < o->test->num_runs; i++) {
        const cl_run *run = &o->test->runs[i];
        if (i == 0 || strcmp(run->options, run[-1].options) != 0) program = build(o, run->options, &error);
        if (error) {
            show_log(o, program);
            fail_code(o, "", "clBuildProgram", error);
            return;
        }
        run_kernel(o, run, program);
    }
}

static int run_file(const char *path) {
    oracle o = {0};
    cl_case *test = tool_alloc(sizeof *test);
    if (!cl_case_read(path, test)) return 1;
    o.test = test;
    alarm(120);
    if (!open_device(&o)) return tool_fail(1, "no OpenCL device");
    run_all(&o);
    fflush(stdout);
    return o.failed;
}

int main(int argc, char **argv) {
    unsigned differ = 0;
    for (int i = 1; i < argc; i++) {
        printf("%s\n", argv[i]);
        fflush(stdout);
        pid_t pid = fork();
        int status = 0;
        if (pid == 0) _exit(run_file(argv[i]));
        waitpid(pid, &status, 0);
        if (WIFSIGNALED(status)) printf("      ended by signal %d\n", WTERMSIG(status));
        differ += status != 0;
    }
    printf("%u of %d differ\n", differ, argc - 1);
    return differ > 0;
}
