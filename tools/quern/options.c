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

int program_file(program_options *o, const char *word) {
    if (word[0] == '-' && word[1]) return tool_fail(TOOL_USAGE, "unknown option '%s'", word);
    if (o->path) return tool_fail(TOOL_USAGE, "one file at a time ('%s' too)", word);
    tool_set_file(o->path = word);
    return TOOL_OK;
}

int program_option(program_options *o, int argc, char **argv, int *i) {
    const char *value, *given = argv[*i];
    if (strcmp(given, "--debug") == 0) {
        o->debug = true;
        return -1;
    }
    bool macro = joined_value('D', argc, argv, i, &value);
    bool dir = !macro && joined_value('I', argc, argv, i, &value);
    bool options = !macro && !dir && option_value("--cl-options", argc, argv, i, &value);
    bool level = !macro && !dir && !options && option_value("--opt", argc, argv, i, &value);
    if (!macro && !dir && !options && !level) return 0;
    if (!value || ((macro || dir) && !value[0])) return needs_value(given);
    if (level) return set_level(o, value);
    add(o, macro ? "-D " : dir ? "-I " : "", value, !options);
    return -1;
}

static bool read_standard_input(program_options *o, qn_program_desc *desc) {
    unsigned char *data;
    size_t size;
    const char *error = tool_stream_read(stdin, &data, &size);
    o->source = (char *)data;
    desc->source = o->source;
    desc->source_size = size;
    desc->path = "<stdin>";
    if (!error && size == 0) error = "it is empty";
    if (error) tool_fail(TOOL_RUN_FAILED, "standard input: %s", error);
    return !error;
}

bool program_options_fill(program_options *o, qn_program_desc *desc) {
    desc->path = o->path;
    desc->options = o->options;
    desc->opt_level = o->opt_level;
    desc->debug = o->debug;
    return strcmp(o->path, "-") != 0 || read_standard_input(o, desc);
}

void program_options_free(program_options *o) {
    free(o->options);
    free(o->source);
}
