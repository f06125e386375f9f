/* The array's end is written behind every append, and the next one begins over it. */
#include "util/json_file.h"

#include <stdio.h>
#include <string.h>

#include "util/file.h"

static const char ending[QN__JSON_FILE_ROOM] = {'\n', ']', '\n'};

int qn__json_file_open(qn__json_file *file, const char *path) {
    *file = (qn__json_file){.fd = -1, .end = 1};
    int error = qn__file_seize(path, &file->fd);
    if (!error) error = qn__file_write_at(file->fd, "[\n]\n", 4, 0);
    if (error) qn__json_file_close(file);
    return error;
}

int qn__json_file_append(qn__json_file *file, char *text, size_t size) {
    if (!size) return 0;
    memcpy(text + size, ending, sizeof ending);
    const size_t skipped = file->end == 1; /* the first element has no comma */
    const int error = qn__file_write_at(file->fd, text + skipped, size - skipped + sizeof ending, file->end);
    if (!error) file->end += size - skipped;
    return error;
}

void qn__json_file_close(qn__json_file *file) {
    if (file->fd >= 0) qn__file_close(file->fd);
    file->fd = -1;
}

size_t qn__json_string(char *out, size_t size, const char *text) {
    size_t at = 0;
    if (size < 3) return 0;
    out[at++] = '"';
    for (; *text && at + 8 < size; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            at += (size_t)snprintf(out + at, size - at, "\\%c", c);
        else if (c < 0x20)
            at += (size_t)snprintf(out + at, size - at, "\\u%04x", (unsigned)c);
        else
            out[at++] = (char)c;
    }
    out[at++] = '"';
    out[at] = 0;
    return at;
}
