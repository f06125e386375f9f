/* A file that is a whole JSON array after each append, also when the process is killed between two. */
#ifndef QN__JSON_FILE_H
#define QN__JSON_FILE_H

#include <stddef.h>
#include <stdint.h>

enum { QN__JSON_FILE_ROOM = 3 }; /* bytes that an append writes behind the text */

typedef struct qn__json_file {
    int fd;
    uint64_t end; /* where the next element goes */
} qn__json_file;

/* Makes it, or empties what is there, and keeps others from it until it is closed. 0 or an errno value; EWOULDBLOCK:
   somebody else has it, in this process or another. */
int qn__json_file_open(qn__json_file *file, const char *path);
/* Elements, each with ",\n" in front. The text has QN__JSON_FILE_ROOM bytes more, which change. 0 or an errno value. */
int qn__json_file_append(qn__json_file *file, char *text, size_t size);
void qn__json_file_close(qn__json_file *file);
/* The element's string: the text with quotes around it, escaped; cut where `size` bytes are too few. */
size_t qn__json_string(char *out, size_t size, const char *text);

#endif
