/* quern compile: kernel files to the text of a target, the IR between passes, or reflection. */
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "tool.h"

typedef struct compile_options {
    program_options program;
    const char *output, *devices;
    qn_translate_desc desc;
} compile_options;

static bool is_packed(const compile_options *o) { return o->output && tool_ends_with(o->output, ".qnb"); }

static int parse(int argc, char **argv, compile_options *o) {
    for (int i = 1; i < argc; i++) {
        const char *value = "", *given = argv[i];
        int result = program_option(&o->program, argc, argv, &i);
        if (result < 0) continue;
        if (result > 0) return result;
        if (option_value("--target", argc, argv, &i, &value))
            o->desc.target = value;
        else if (option_value("--arch", argc, argv, &i, &value))
            o->desc.arch = value;
        else if (option_value("--device", argc, argv, &i, &value))
            o->devices = value;
        else if (option_value("-o", argc, argv, &i, &value))
            o->output = value;
        else if (strncmp(argv[i], "--dump-ir=", 10) == 0)
            o->desc.dump_pass = argv[i] + 10;
        else if (strcmp(argv[i], "--dump-ir") == 0)
            o->desc.dump_pass = "";
        else if (strcmp(argv[i], "--reflect") == 0)
            o->desc.reflect = true;
        else if ((result = program_file(&o->program, argv[i])))
            return result;
        if (!value) return needs_value(given);
    }
    if (!o->program.num_files) return tool_fail(TOOL_USAGE, "no file; see `quern compile --help`");
    if (o->output && strcmp(o->output, "-") != 0 && program_overwrites(&o->program, o->output))
        return tool_fail(TOOL_USAGE, "-o %s would overwrite the source", o->output);
    if (o->desc.target && strchr(o->desc.target, ',') && !is_packed(o))
        return tool_fail(TOOL_USAGE, "several targets go into one file: -o NAME.qnb is needed");
    if (o->devices && !is_packed(o))
        return tool_fail(TOOL_USAGE, "--device says what goes into a .qnb: -o NAME.qnb is needed");
    if (is_packed(o) && (o->desc.reflect || o->desc.dump_pass))
        return tool_fail(TOOL_USAGE, "--reflect and --dump-ir do not go into a .qnb");
    if (!o->desc.target && !is_packed(o) && !o->desc.reflect && !o->desc.dump_pass)
        return tool_fail(TOOL_USAGE, "--target, --dump-ir or --reflect is needed");
    return TOOL_OK;
}

static int write_output(const char *path, const char *text, size_t size) {
    if (!path || strcmp(path, "-") == 0) {
        fwrite(text, 1, size, stdout);
        return TOOL_OK;
    }
    const char *error = tool_file_write(path, (const unsigned char *)text, size);
    return error ? tool_fail(TOOL_RUN_FAILED, "%s: %s", path, error) : TOOL_OK;
}

static int pack(compile_options *o) {
    unsigned char *data;
    size_t size;
    int result = program_pack(&o->program, o->desc.target, o->desc.arch, o->devices, &data, &size);
    if (!result) result = write_output(o->output, (const char *)data, size);
    free(data);
    return result;
}

static int translate(compile_options *o) {
    qn_context *context;
    qn_status status = qn_context_create(NULL, &context);
    if (status) return tool_fail(TOOL_RUN_FAILED, "%s", qn_status_text(status));
    char *text = NULL, *log = NULL;
    size_t size = 0;
    o->desc.size = &size;
    if (!program_options_fill(&o->program, &o->desc.program)) {
        qn_context_destroy(context);
        return TOOL_RUN_FAILED;
    }
    status = qn_translate(context, &o->desc, &text, &log);
    if (!status && log) fputs(log, stderr);
    int result = status ? tool_fail_status(context, status) : write_output(o->output, text, size);
    if (status == QN_ERROR_ARGUMENT || (status == QN_ERROR_UNSUPPORTED && !text && o->desc.target && !log))
        result = TOOL_USAGE;
    qn_text_free(context, text);
    qn_text_free(context, log);
    qn_context_destroy(context);
    return result;
}

static int run(int argc, char **argv) {
    compile_options o = {0};
    int result = parse(argc, argv, &o);
    if (!result) result = is_packed(&o) ? pack(&o) : translate(&o);
    program_options_free(&o.program);
    return result;
}

const tool_command tool_compile = {
    "compile",
    "translate kernel files to PTX, SPIR-V, OpenCL C or C, or pack them to ship; show their IR or parameters",
    "usage: quern compile FILE.cl... --target c|ptx|spirv|clc|wgsl [--arch ARCH] [-o OUT] [--dump-ir[=PASS]] "
    "[--reflect]\n"
    "                     " PROGRAM_OPTIONS_USAGE "\n"
    "       quern compile FILE.cl... -o NAME.qnb [--target LIST] [--arch LIST] [--device LIST] ...\n\n"
    "FILE.cl may be -: the standard input. " PROGRAM_FILES_HELP "Of a .qnb there is --reflect.\n\n"
    "Writes the target's output to OUT or standard output: C11 for the "
    "host's compiler, PTX for CUDA, a "
    "SPIR-V\n"
    "module for Vulkan, OpenCL C 1.2, WGSL. --arch: a PTX architecture, sm_60 to sm_121; without it the "
    "lowest "
    "that the\n"
    "kernel can do with; of wgsl `f16,subgroups`, or one of them: extensions of the device. --dump-ir writes "
    "the IR "
    "after all\n"
    "passes, --dump-ir=PASS after that pass (lower: before the first; all: after each). --reflect writes "
    "the\n"
    "kernels and their parameters as JSON.\n\n"
    "NAME.qnb holds the program for several targets, to be shipped (docs/qnb.md): ptx,spirv,clc,c,ir, or "
    "those of LIST.\n"
    "--arch: PTX architectures, and processors for machine code besides that for any: x86-64-v2 to "
    "x86-64-v4,\n"
    "armv8.1-a, armv8.2-a, native. --device: the machine code of devices that are here, such as "
    "cuda:0.\n\n" PROGRAM_OPTIONS_HELP
    "exit status: 0 done; 1 the kernel does not compile; 2 usage; 3 other failure\n\n"
    "example: quern compile saxpy.cl --target c -o saxpy.c\n"
    "         quern compile saxpy.cl --arch sm_80,sm_90,x86-64-v3 -o saxpy.qnb\n",
    run};
