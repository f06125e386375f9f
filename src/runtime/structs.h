/* Structs between a program and the library, which may know quern.h in different versions. What a caller hands over is
   read, and what it wants is written, by the two macros here: only as many bytes as the caller's header has. */
#ifndef QN__STRUCTS_H
#define QN__STRUCTS_H

#include "quern/check.h"
#include "quern/history.h"

typedef enum qn__struct {
#define STRUCT(name, last_1, end_1) QN__STRUCT_##name,
#define STRUCT_SINCE_2(name)        QN__STRUCT_##name,
#include "runtime/structs.def"
    QN__NUM_STRUCTS
} qn__struct;

/* Bytes of a struct, as it lies in this library, up to the last field that it has in that header; 0: it has none. */
size_t qn__struct_size(qn__struct which, uint32_t header);
/* `to` is a whole struct of this library's; `from` has what the header's has, or is NULL: all defaults. */
void qn__struct_read(uint32_t header, qn__struct which, void *to, const void *from);
void qn__struct_write(uint32_t header, qn__struct which, void *to, const void *from);

/* The same, with pointers of the type, for objects of a context. */
#define QN__READ(context, type, to, from)                                                                    \
    do {                                                                                                     \
        type *const to_ = (to);                                                                              \
        const type *const from_ = (from);                                                                    \
        qn__struct_read((context)->header, QN__STRUCT_##type, to_, from_);                                   \
    } while (0)
#define QN__WRITE(context, type, to, from)                                                                   \
    do {                                                                                                     \
        type *const to_ = (to);                                                                              \
        const type *const from_ = (from);                                                                    \
        qn__struct_write((context)->header, QN__STRUCT_##type, to_, from_);                                  \
    } while (0)

#endif
