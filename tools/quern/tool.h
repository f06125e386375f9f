/* The command line tool: subcommands over the public header, and the kernel arguments that `run`
   understands. */
#ifndef TOOL_H
#define TOOL_H

#include <quern/quern.h>
#include <stdio.h>

/* Exit statuses. */
enum {
    TOOL_OK,
    TOOL_COMPILE_ERROR,
    TOOL_USAGE,
    TOOL_RUN_FAILED,
    TOOL_DIFFERENT,
    TOOL_FINDINGS = TOOL_DIFFERENT
};

typedef struct tool_command {
    const char *name, *summary;
    const char *help;                  /* whole text of --help */
    int (*run)(int argc, char **argv); /* argv[0] is the subcommand's name */
} tool_command;

extern const tool_command tool_devices, tool_compile, tool_embed, tool_run, tool_check, tool_bench, tool_tune,
    tool_rings;

/* The compiler checks a format as the C standard has it, on Windows too. */
#if defined(__MINGW32__)
#define TOOL_PRINTF(format_index, first_arg) __attribute__((format(gnu_printf, format_index, first_arg)))
#elif defined(__GNUC__)
#define TOOL_PRINTF(format_index, first_arg) __attribute__((format(printf, format_index, first_arg)))
#else
#define TOOL_PRINTF(format_index, first_arg)
#endif

/* The files that the command is about: messages name them from then on. */
void tool_set_files(const char *const *paths, size_t count);
const char *tool_files(void); /* as messages name them */
/* Prints "quern: COMMAND: FILE: ..." to stderr and gives `status`. */
int tool_fail(int status, const char *format, ...) TOOL_PRINTF(2, 3);
/* Prints "quern: warning: COMMAND: FILE: ...". */
void tool_warn(const char *format, ...) TOOL_PRINTF(1, 2);
/* The context's message for a failed call; TOOL_COMPILE_ERROR for build errors (the log as it is), else
   TOOL_RUN_FAILED. */
int tool_fail_status(qn_context *context, qn_status status);
/* A zero-terminated list of strings joined with spaces, each quoted for qn_program_desc.options. */
void *tool_alloc(size_t size); /* zeroed; ends the tool when memory is out */

/* ---- element types ---- */

typedef struct tool_type {
    qn_type type;
    unsigned lanes; /* 1, 2, 3, 4, 8, 16 */
} tool_type;

/* "float", "uchar4", "size_t", ... */
bool tool_type_parse(const char *text, size_t length, tool_type *type);
unsigned tool_type_scalar_size(qn_type type);
unsigned tool_type_size(tool_type type);  /* a 3-vector takes 4 lanes */
const char *tool_type_name(qn_type type); /* "float" */
/* One component; false when the text is no number of that type or out of its range. */
bool tool_value_parse(const char *text, size_t length, qn_type type, unsigned char *to);
double tool_value_get(const unsigned char *from, qn_type type);
void tool_value_print(FILE *out, const unsigned char *from, qn_type type);

/* ---- arguments ---- */

typedef enum tool_arg_kind {
    ARG_VALUE,
    ARG_BUFFER,
    ARG_FILE,
    ARG_NULL,
    ARG_LOCAL,
    ARG_RAW,
    ARG_STRUCT,
    ARG_NAMED
} tool_arg_kind;

enum { TOOL_MAX_DIMS = 32 };

/* Shape of an array as .npy has it; ndim 0 with known false: not known. */
typedef struct tool_shape {
    bool known, fortran_order;
    unsigned ndim;
    uint64_t dims[TOOL_MAX_DIMS];
} tool_shape;

typedef struct tool_arg {
    tool_arg_kind kind;
    const char *text; /* as given */
    tool_type type;
    bool has_type;       /* raw files have none of their own: the parameter's is used */
    unsigned char *data; /* value, or initial contents */
    uint64_t size;       /* bytes of data, or of local memory */
    bool uninitialised, read_only, write_only;
    const char *output; /* path behind '@', or NULL */
    tool_shape shape;
    unsigned width, height; /* pixels, of an image */
    qn_buffer *buffer;
    struct tool_arg *named; /* the shared buffer that it names */
} tool_arg;

/* Parses one ARG, reading its file. Prints what is wrong and returns TOOL_USAGE or TOOL_RUN_FAILED
   (unreadable file). */
int tool_arg_parse(const char *text, tool_arg *arg);
/* Sets the bytes of a struct by its fields, once the parameter is known. As tool_arg_parse. */
int tool_struct_fill(const qn_kernel *kernel, uint32_t param, const qn_param_info *info, tool_arg *arg);
/* Writes a buffer's contents to the place behind its '@'. `name` is the parameter's; global the launch's
   size. */
int tool_arg_write(const tool_arg *arg, const char *name, const unsigned char *data,
                   const uint64_t global[3]);

/* ---- files ---- */

/* All return NULL, or a sentence. Data is from malloc. */
const char *tool_npy_read(const unsigned char *file, size_t file_size, tool_arg *arg);
const char *tool_npy_write(const char *path, tool_type type, const tool_shape *shape,
                           const unsigned char *data, uint64_t size);
const char *tool_image_read(const char *path, tool_arg *arg);
const char *tool_png_write(const char *path, unsigned width, unsigned height, unsigned channels,
                           const unsigned char *data);
const char *tool_file_read(const char *path, unsigned char **data, size_t *size);
const char *tool_stream_read(FILE *file, unsigned char **data, size_t *size); /* to its end */
const char *tool_file_write(const char *path, const unsigned char *data, size_t size);
/* Whether both paths lead to one file, so that writing the one would end the other. */
bool tool_is_same_file(const char *a, const char *b);
bool tool_ends_with(const char *text, const char *end); /* ASCII case ignored */

#endif
