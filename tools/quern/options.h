/* Options that say how a program is compiled, shared by the subcommands. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <quern/quern.h>

#define PROGRAM_OPTIONS_USAGE                                                                                \
    "[-D NAME[=VALUE]] [-I DIR] [--cl-options \"...\"] [--opt 0|1|2] [--debug] [--safe] [--loop-budget N]"
#define PROGRAM_OPTIONS_HELP                                                                                 \
    "  -D NAME[=VALUE]   define a macro\n"                                                                   \
    "  -I DIR            look for included files there\n"                                                    \
    "  --cl-options TEXT options as of clBuildProgram, such as -cl-fast-relaxed-math\n"                      \
    "  --opt 0|1|2       how much to optimise (2)\n"                                                         \
    "  --debug           keep positions and variables for gdb, optimise nothing\n"                           \
    "  --safe            no access leaves a kernel's memory: reads there are zero, the first one is "        \
    "told\n"                                                                                                 \
    "  --loop-budget N   --safe, and a work-item's loops go round at most N times in all\n\n"

#define PROGRAM_FILES_HELP                                                                                   \
    "Several files are one program: each has its own macros, types and\n"                                    \
    "what is static, and may call functions of the others that it declares. FILE.wgsl is a module in "       \
    "WGSL.\n"

typedef struct program_options {
    const char **files; /* "-": the standard input; from malloc */
    size_t num_files;
    char *input;        /* what was read there; from malloc */
    qn_source *sources; /* of several files; from malloc */
    char *options;      /* joined; from malloc */
    int opt_level;      /* as qn_program_desc */
    bool debug, safe;
    uint32_t loop_budget;
} program_options;

/* Looks at argv[*i]: -1 taken (and *i moved to its last word), 0 not one of these, else the exit status after
   a message. */
int program_option(program_options *options, int argc, char **argv, int *i);
/* The word that is no option: a file. Else the exit status after a message. */
int program_file(program_options *options, const char *word);
/* Whether what is written to `output` would end one of the files. */
bool program_overwrites(const program_options *options, const char *output);
bool program_is_same(const program_options *a, const program_options *b);
/* Reads the standard input where that is the file; false after a message. */
bool program_options_fill(program_options *options, qn_program_desc *desc);
/* All of the standard input, from malloc. Gives an exit status, after a message. */
int program_read_stdin(unsigned char **data, size_t *size);
void program_options_free(program_options *options);

/* The program packed for targets, architectures and devices (lists with commas, or NULL), in memory from malloc. Gives an exit
   status, after a message. */
int program_pack(program_options *options, const char *targets, const char *archs, const char *devices,
                 unsigned char **data, size_t *size);

/* "--name VALUE" or "--name=VALUE" ("-o VALUE"): true when argv[*i] is it. A missing value gives NULL. */
bool option_value(const char *name, int argc, char **argv, int *i, const char **value);
/* Complains that an option was given without its value; gives TOOL_USAGE. */
int needs_value(const char *given);

#endif
