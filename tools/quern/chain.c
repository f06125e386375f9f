/* A chain: launches one after another over buffers with names, from a small file of lines; see `quern run --help`. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"

enum { MOST_STEPS = 256, MOST_BUFFERS = 256, MOST_WORDS = MAX_ARGS + 64, MOST_REPEATS = 1000000 };

typedef struct step {
    run_options *options;
    qn_program *program; /* an earlier step's where that is the same */
    bool is_shared;
    qn_kernel *kernel;
    qn_arg args[MAX_ARGS];
    unsigned group; /* steps of a group are repeated together */
    unsigned line;
} step;

typedef struct chain {
    qn_context *context;
    qn_device *device;
    const run_options *options;
    char *text;
    unsigned line;
    named_buffer buffers[MOST_BUFFERS];
    size_t num_buffers;
    step *steps;
    size_t num_steps;
    unsigned groups, repeats[MOST_STEPS + 1]; /* by group */
    bool is_repeated;                         /* between repeat and end */
} chain;

bool is_chain(const run_options *o) { return tool_ends_with(o->program.files[0], ".qnc"); }

static int wrong(const chain *c, const char *what, const char *word) {
    return tool_fail(TOOL_USAGE, "line %u: %s%s%s%s", c->line, what, word ? " '" : "", word ? word : "",
                     word ? "'" : "");
}

/* Cuts a line at its blanks; quotes keep them. A '#' at a word's begin ends the line. */
static int cut(char *line, char **words) {
    int count = 0;
    while (count < MOST_WORDS) {
        line += strspn(line, " \t\r");
        if (!*line || *line == '#') break;
        const char quote = *line == '"' ? *line++ : 0;
        words[count++] = line;
        line += quote ? strcspn(line, "\"") : strcspn(line, " \t\r");
        if (*line) *line++ = 0;
    }
    return count;
}

/* ---- reading ---- */

static int add_buffer(chain *c, char **words, int count) {
    if (count != 3) return wrong(c, "a buffer is: buffer NAME ARG", NULL);
    if (c->num_buffers == MOST_BUFFERS) return wrong(c, "there are too many buffers", NULL);
    for (size_t i = 0; i < c->num_buffers; i++)
        if (strcmp(c->buffers[i].name, words[1]) == 0)
            return wrong(c, "there is a buffer already of the name", words[1]);
    named_buffer *added = &c->buffers[c->num_buffers++];
    added->name = words[1];
    const int result = tool_arg_parse(words[2], &added->arg);
    if (result) return result;
    if (added->arg.kind == ARG_BUFFER || added->arg.kind == ARG_FILE) return TOOL_OK;
    return wrong(c, "a buffer is buf: or file:, not", words[2]);
}

/* The program, or that of an earlier step. */
static qn_status make_program(chain *c, step *s) {
    const program_options *wanted = &s->options->program;
    for (size_t i = 0; i < c->num_steps && !s->program; i++) {
        const program_options *other = &c->steps[i].options->program;
        if (&c->steps[i] != s && program_is_same(wanted, other)) s->program = c->steps[i].program;
    }
    s->is_shared = s->program != NULL;
    qn_program_desc desc = {0};
    if (s->is_shared) return QN_OK;
    if (!program_options_fill(&s->options->program, &desc)) return QN_ERROR_IO;
    const qn_status status = qn_program_create(c->device, &desc, &s->program);
    if (!status) fputs(qn_program_log(s->program), stderr);
    return status;
}

static int add_launch(chain *c, char **words, int count) {
    if (c->num_steps == MOST_STEPS) return wrong(c, "there are too many launches", NULL);
    step *s = &c->steps[c->num_steps];
    s->options = tool_alloc(sizeof *s->options);
    s->options->named = c->buffers;
    s->options->num_named = c->num_buffers;
    s->options->timeout_ns = c->options->timeout_ns;
    s->group = c->groups;
    s->line = c->line;
    c->num_steps++;
    int result = run_parse(count, words, s->options);
    if (result) return result;
    const run_options *o = s->options;
    if (is_chain(o) || o->device || o->compare || o->time)
        return wrong(c, "a launch in a chain is of a FILE.cl, and has no --device, --compare or --time",
                     NULL);
    for (size_t i = 0; i < o->num_args; i++)
        if (o->args[i].output)
            return wrong(c, "what is written stands in a line `buffer`, not in", o->args[i].text);
    qn_status status = make_program(c, s);
    if (!status) status = qn_kernel_create(s->program, o->kernel, &s->kernel);
    if (status) return run_fail(c->context, c->device, status);
    result = run_make_args(c->device, s->kernel, s->options, s->args);
    if (!result) run_check_sizes(s->kernel, o, s->args);
    return result;
}

static int set_repeat(chain *c, char **words, int count) {
    char *end = NULL;
    errno = 0;
    const unsigned long times = count == 2 ? strtoul(words[1], &end, 10) : 0;
    if (c->is_repeated) return wrong(c, "a repeat does not stand in another", NULL);
    if (!end || *end || errno || times == 0 || times > MOST_REPEATS)
        return wrong(c, "a repeat is: repeat N, with N up to a million", NULL);
    c->is_repeated = true;
    c->repeats[++c->groups] = (unsigned)times;
    return TOOL_OK;
}

static int read_line(chain *c, char *line) {
    char **words = tool_alloc(MOST_WORDS * sizeof *words);
    const int count = cut(line, words);
    int result = TOOL_OK;
    if (count == MOST_WORDS)
        result = wrong(c, "there are too many words", NULL);
    else if (count && strcmp(words[0], "buffer") == 0)
        result = add_buffer(c, words, count);
    else if (count && strcmp(words[0], "run") == 0)
        result = add_launch(c, words, count);
    else if (count && strcmp(words[0], "repeat") == 0)
        result = set_repeat(c, words, count);
    else if (count == 1 && strcmp(words[0], "end") == 0 && c->is_repeated) {
        c->is_repeated = false;
        c->repeats[++c->groups] = 1;
    } else if (count)
        result = wrong(c, "a line begins with buffer, run, repeat or its end, not", words[0]);
    free(words);
    return result;
}

/* ---- running ---- */

static int run_group(chain *c, size_t first, size_t last) {
    qn_status status = QN_OK;
    for (unsigned n = 0; n < c->repeats[c->steps[first].group] && !status; n++)
        for (size_t i = first; i <= last && !status; i++) {
            const step *s = &c->steps[i];
            c->line = s->line;
            status = qn_launch(NULL, s->kernel, &s->options->range, s->args, s->options->num_args);
        }
    return status ? run_fail(c->context, c->device, status) : TOOL_OK;
}

static int run_steps(chain *c) {
    int result = TOOL_OK;
    for (size_t first = 0, last; first < c->num_steps && !result; first = last + 1) {
        for (last = first; last + 1 < c->num_steps && c->steps[last + 1].group == c->steps[first].group;)
            last++;
        result = run_group(c, first, last);
    }
    if (result) return result;
    const qn_status status = qn_stream_wait(qn_device_stream(c->device), c->options->timeout_ns);
    fflush(stdout);
    return status ? run_fail(c->context, c->device, status) : TOOL_OK;
}

static int write_buffers(chain *c) {
    static const uint64_t no_size[3] = {0};
    int result = TOOL_OK;
    for (size_t i = 0; i < c->num_buffers && !result; i++) {
        tool_arg *arg = &c->buffers[i].arg;
        if (!arg->output) continue;
        const qn_status status = arg->buffer ? qn_buffer_read(arg->buffer, 0, arg->data, arg->size) : QN_OK;
        if (status) return tool_fail_status(c->context, status);
        if (!arg->has_type && !arg->buffer)
            arg->type = (tool_type){QN_TYPE_U8, 1}; /* no launch has used it */
        result = tool_arg_write(arg, c->buffers[i].name, arg->data, no_size);
    }
    return result;
}

static void chain_free(chain *c) {
    for (size_t i = 0; i < c->num_steps; i++) {
        qn_kernel_destroy(c->steps[i].kernel);
        if (!c->steps[i].is_shared) qn_program_destroy(c->steps[i].program);
        run_free(c->steps[i].options);
    }
    for (size_t i = 0; i < c->num_buffers; i++) {
        qn_buffer_destroy(c->buffers[i].arg.buffer);
        free(c->buffers[i].arg.data);
    }
    free(c->steps);
    free(c->text);
    free(c);
}

int chain_run(qn_context *context, const run_options *o) {
    unsigned char *text = NULL;
    size_t size;
    const char *path = o->program.files[0], *error = tool_file_read(path, &text, &size);
    if (error) return tool_fail(TOOL_RUN_FAILED, "%s", error);
    chain *c = tool_alloc(sizeof *c);
    c->context = context;
    c->options = o;
    c->text = tool_alloc(size + 1);
    c->steps = tool_alloc(MOST_STEPS * sizeof *c->steps);
    c->repeats[0] = 1;
    memcpy(c->text, text, size);
    free(text);
    const qn_status status = qn_device_get(context, o->device, &c->device);
    int result = status ? run_fail(context, NULL, status) : TOOL_OK;
    for (char *line = c->text, *next; line && !result; line = next) {
        next = strchr(line, '\n');
        if (next) *next++ = 0;
        c->line++;
        result = read_line(c, line);
        tool_set_files(&path, 1);
        if (result) fprintf(stderr, "  in line %u of %s\n", c->line, path);
    }
    if (!result && c->is_repeated) result = wrong(c, "the repeat has no end", NULL);
    if (!result) result = run_steps(c);
    if (!result) result = write_buffers(c);
    chain_free(c);
    return result;
}
