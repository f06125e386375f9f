/* Files as the system has them: mapped for reading; written whole, then renamed. */
#ifndef QN__FILES_SYSTEM_H
#define QN__FILES_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct qn__mapping {
    const void *bytes; /* NULL of an empty file */
    uint64_t size;
} qn__mapping;

/* The text of an errno value. */
void qn__system_text(int error, char *text, size_t size);

/* Maps a file for reading. 0 or an errno value; ENODEV for what cannot be mapped. */
int qn__map_file(const char *path, qn__mapping *mapping);
void qn__unmap_file(qn__mapping *mapping);
/* Reads its first *size bytes, or as many as it has: *size. */
int qn__read_file(const char *path, void *to, uint64_t *size);

/* A file that is written from its beginning to its end. `fd` is -1 where none is open. */
typedef struct qn__output {
    int fd;
} qn__output;
int qn__output_open(qn__output *output, const char *path);
int qn__output_write(qn__output *output, const void *data, uint64_t size);
/* Over what was written at a place. */
int qn__output_patch(qn__output *output, const void *data, uint32_t size, uint64_t at);
/* To the disk, and closed. */
int qn__output_finish(qn__output *output);
/* `from` takes the place of `to`. */
int qn__output_rename(const char *from, const char *to);
/* Closes and removes what was not finished. */
void qn__output_drop(qn__output *output, const char *path);

/* Decimal numbers as C's locale has them, whatever the process's. Between begin and end the thread may be in that locale.
   False: there is no memory. */
typedef struct qn__decimals {
    void *locale, *before;
} qn__decimals;
bool qn__decimals_begin(qn__decimals *numbers);
double qn__decimal_of(const qn__decimals *numbers, const char *text);
void qn__decimals_end(qn__decimals *numbers);

#endif
