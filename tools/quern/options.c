/* Options that say how a program is compiled. */
#include "options.h"

#include <stdlib.h>
#include <string.h>

#include "tool.h"

bool option_value(const char *name, int argc, char **argv, int *i, const char **value) {
    size_t length = strlen(name);
    const char *text = argv[*i];
    if (strncmp(text, name, length) != 0) return false;
    if (text[length] == '=' && name[1] == '-') {
        *value = text + length + 1;
        return true;
    }
    if (text[length]) return false;
    *value = *i + 1 < argc ? argv[++*i] : NULL;
    return true;
}

int needs_value(const char *given) { return tool_fail(TOOL_USAGE, "%s needs a value", given); }

/* Adds a word to the options, in double quotes so that spaces in it stay. */
static void add(program_options *o, const char *prefix, const char *word, bool quote) {
    size_t old = o->options ? strlen(o->options) : 0, size = old + strlen(prefix) + 2 * strlen(word) + 5;
    char *joined = tool_alloc(size), *at = joined;
    if (o->options) at += sprintf(at, "%s ", o->options);
    at += sprintf(at, "%s%s", prefix, quote ? "\"" : "");
    for (; *word; word++) {
        if (quote && (*word == '"' || *word == '\\')) *at++ = '\\';
        *at++ = *word;
    }
    if (quote) *at++ = '"';
    free(o->options);
    o->options = joined;
}

/* "-D X" and "-DX". */
static bool joined_value(char letter, int argc, char **argv, int *i, const char **value) {
    const char *text = argv[*i];
    if (text[0] != '-' || text[1] != letter) return false;
    *value = text[2] ? text + 2 : *i + 1 < argc ? argv[++*i] : NULL;
    return true;
}

static int set_level(program_options *o, const char *value) {
    if (strlen(value) != 1 || value[0] < '0' || value[0] > '2')
        return tool_fail(TOOL_USAGE, "--opt is 0, 1 or 2, not '%s'", value);
    o->opt_level = value[0] == '0' ? -1 : value[0] - '0';
    return -1;
}

static int set_budget(program_options *o, const char *value) {
    char *end;
    const unsigned long long budget = strtoull(value, &end, 10);
    if (*end || value[0] < '0' || value[0] > '9' || !budget || budget > UINT32_MAX)
        return tool_fail(TOOL_USAGE, "--loop-budget is from 1 to 4294967295, not '%s'", value);
    o->loop_budget = (uint32_t)budget;
    o->safe = true;
    return -1;
}

int program_file(program_options *o, const char *word) {
    if (word[0] == '-' && word[1]) return tool_fail(TOOL_USAGE, "unknown option '%s'", word);
    for (size_t i = 0; i < o->num_files; i++)
        if (strcmp(o->files[i], word) == 0) return tool_fail(TOOL_USAGE, "'%s' is given twice", word);
    const char **files = tool_alloc((o->num_files + 1) * sizeof *files);
    if (o->num_files) memcpy(files, o->files, o->num_files * sizeof *files);
    free(o->files);
    o->files = files;
    o->files[o->num_files++] = word;
    tool_set_files(o->files, o->num_files);
    return TOOL_OK;
}

bool program_overwrites(const program_options *o, const char *output) {
    for (size_t i = 0; i < o->num_files; i++)
        if (tool_is_same_file(output, o->files[i])) return true;
    return false;
}

static bool is_same_text(const char *a, const char *b) { return (!a && !b) || (a && b && strcmp(a, b) == 0); }

bool program_is_same(const program_options *a, const program_options *b) {
    if (a->num_files != b->num_files || !is_same_text(a->options, b->options)) return false;
    for (size_t i = 0; i < a->num_files; i++)
        if (strcmp(a->files[i], b->files[i]) != 0) return false;
    return a->opt_level == b->opt_level && a->debug == b->debug && a->safe == b->safe &&
           a->loop_budget == b->loop_budget;
}

int program_option(program_options *o, int argc, char **argv, int *i) {
    const char *value, *given = argv[*i];
    if (strcmp(given, "--debug") == 0) {
        o->debug = true;
        return -1;
    }
    if (strcmp(given, "--safe") == 0) {
        o->safe = true;
        return -1;
    }
    bool macro = joined_value('D', argc, argv, i, &value);
    bool dir = !macro && joined_value('I', argc, argv, i, &value);
    bool options = !macro && !dir && option_value("--cl-options", argc, argv, i, &value);
    bool level = !macro && !dir && !options && option_value("--opt", argc, argv, i, &value);
    const bool budget =
        !macro && !dir && !options && !level && option_value("--loop-budget", argc, argv, i, &value);
    if (!macro && !dir && !options && !level && !budget) return 0;
    if (!value || ((macro || dir) && !value[0])) return needs_value(given);
    if (level) return set_level(o, value);
    if (budget) return set_budget(o, value);
    add(o, macro ? "-D " : dir ? "-I " : "", value, !options);
    return -1;
}

int program_read_stdin(unsigned char **data, size_t *size) {
    const char *error = tool_stream_read(stdin, data, size);
    if (!error && *size == 0) error = "it is empty";
    return error ? tool_fail(TOOL_RUN_FAILED, "standard input: %s", error) : TOOL_OK;
}

static bool source_from_stdin(program_options *o, qn_source *source) {
    unsigned char *data;
    const int result = program_read_stdin(&data, &source->size);
    o->input = (char *)data;
    source->text = o->input;
    source->path = "<stdin>";
    return result == TOOL_OK;
}

bool program_options_fill(program_options *o, qn_program_desc *desc) {
    desc->options = o->options;
    desc->opt_level = o->opt_level;
    desc->debug = o->debug;
    desc->safe = o->safe;
    desc->loop_budget = o->loop_budget;
    if (tool_ends_with(o->files[0], ".wgsl")) desc->language = QN_LANGUAGE_WGSL;
    free(o->sources);
    o->sources = tool_alloc(o->num_files * sizeof *o->sources);
    for (size_t i = 0; i < o->num_files; i++) {
        o->sources[i].path = o->files[i];
        if (strcmp(o->files[i], "-") == 0 && !source_from_stdin(o, &o->sources[i])) return false;
    }
    if (o->num_files > 1) {
        desc->sources = o->sources;
        desc->num_sources = o->num_files;
        return true;
    }
    desc->source = o->sources[0].text;
    desc->source_size = o->sources[0].size;
    desc->path = o->sources[0].path; /* a packed program, perhaps */
    return true;
}

void program_options_free(program_options *o) {
    free(o->files);
    free(o->sources);
    free(o->options);
    free(o->input);
}
