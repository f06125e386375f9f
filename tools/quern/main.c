/* quern: the command line. Each subcommand is a row here and a file of its own. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

static const tool_command *const commands[] = {&tool_devices, &tool_compile, &tool_embed, &tool_run,
                                               &tool_check,   &tool_bench,   &tool_tune,  &tool_rings};

enum { NUM_COMMANDS = sizeof commands / sizeof commands[0] };

/* What the process was asked to do, for its messages. */
static struct {
    const char *command;
    char files[512];
} task;

void tool_set_files(const char *const *paths, size_t count) {
    size_t used = 0;
    for (size_t i = 0; i < count && used < sizeof task.files; i++)
        used += (size_t)snprintf(task.files + used, sizeof task.files - used, "%s%s", i ? ", " : "",
                                 strcmp(paths[i], "-") == 0 ? "<stdin>" : paths[i]);
}

const char *tool_files(void) { return task.files; }

static void print_message(const char *kind, const char *format, va_list args) {
    fprintf(stderr, "quern: %s", kind);
    if (task.command) fprintf(stderr, "%s: ", task.command);
    if (task.files[0]) fprintf(stderr, "%s: ", task.files);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
}

int tool_fail(int status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    print_message("", format, args);
    va_end(args);
    return status;
}

void tool_warn(const char *format, ...) {
    va_list args;
    va_start(args, format);
    print_message("warning: ", format, args);
    va_end(args);
}

/* The library begins with the function that was called, which is nothing to who calls the tool. */
static const char *without_function(const char *message) {
    const size_t name = strspn(message, "abcdefghijklmnopqrstuvwxyz_");
    const bool is_function = strncmp(message, "qn_", 3) == 0 && strncmp(message + name, ": ", 2) == 0;
    return is_function ? message + name + 2 : message;
}

int tool_fail_status(qn_context *context, qn_status status) {
    const char *message = qn_error_message(context);
    if (status == QN_ERROR_COMPILE && strncmp(message, "qn_", 3) != 0) {
        fputs(message, stderr);
        return TOOL_COMPILE_ERROR;
    }
    tool_fail(0, "%s", message[0] ? without_function(message) : qn_status_text(status));
    return status == QN_ERROR_COMPILE ? TOOL_COMPILE_ERROR : TOOL_RUN_FAILED;
}

void *tool_alloc(size_t size) {
    void *memory = calloc(1, size ? size : 1);
    if (memory) return memory;
    exit(tool_fail(TOOL_RUN_FAILED, "out of memory (%zu bytes)", size));
}

static void print_help(FILE *out) {
    fputs("quern: run OpenCL C kernels on every device\n\nusage: quern COMMAND [options]\n\ncommands:\n",
          out);
    for (int i = 0; i < NUM_COMMANDS; i++)
        fprintf(out, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
    fputs("\n`quern COMMAND --help` tells more; `quern --version` the version.\n"
          "example: quern run saxpy.cl --global 4 int:4 float:2 buf:float:4=1,2,3,4 buf:float:4=1@-\n",
          out);
}

static bool wants_help(int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) return true;
    return false;
}

static int help_about(const char *name) {
    if (!name) {
        print_help(stdout);
        return TOOL_OK;
    }
    for (int i = 0; i < NUM_COMMANDS; i++) {
        if (strcmp(name, commands[i]->name) != 0) continue;
        fputs(commands[i]->help, stdout);
        return TOOL_OK;
    }
    return tool_fail(TOOL_USAGE, "there is no command '%s'; see `quern --help`", name);
}

static int run_command(int argc, char **argv) {
    if (argc < 2) {
        print_help(stderr);
        return TOOL_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) return help_about(NULL);
    if (strcmp(argv[1], "help") == 0) return help_about(argc > 2 ? argv[2] : NULL);
    if (strcmp(argv[1], "--version") == 0) {
        printf("quern %s\n", qn_version());
        return TOOL_OK;
    }
    if (wants_help(argc - 1, argv + 1)) return help_about(argv[1]);
    for (int i = 0; i < NUM_COMMANDS; i++)
        if (strcmp(argv[1], commands[i]->name) == 0) {
            task.command = commands[i]->name;
            return commands[i]->run(argc - 1, argv + 1);
        }
    return help_about(argv[1]);
}

/* What could not be printed was not done. */
int main(int argc, char **argv) {
    int result = run_command(argc, argv);
    errno = 0;
    bool lost = fflush(stdout) != 0 || ferror(stdout);
    if (result || !lost) return result;
    return tool_fail(TOOL_RUN_FAILED, "standard output: %s", strerror(errno ? errno : EIO));
}
