/* The sizes of public structs in each version of quern.h, and copies between versions. */
#include "runtime/structs.h"

#include <string.h>

_Static_assert(QN_HEADER_VERSION == 2,
               "a new header: structs.def gets a column with the last fields of header 2, and "
               "the table below a size; see docs/adding.md");

#define END(type, field) (offsetof(type, field) + sizeof(((type *)0)->field))

/* Of header 1, 2. The padding behind the last field is not the caller's to give meaning to: a later field may lie there. */
static const size_t sizes[QN__NUM_STRUCTS][QN_HEADER_VERSION] = {
#define STRUCT(name, last_1, end_1) [QN__STRUCT_##name] = {END(name, last_1), sizeof(name)},
#define STRUCT_SINCE_2(name)        [QN__STRUCT_##name] = {0, sizeof(name)},
#include "runtime/structs.def"
};

#define STAYS(bytes, wanted, text) _Static_assert((bytes) == (wanted) || sizeof(void *) != 8, text);
#define STRUCT(name, last_1, end_1)                                                                          \
    STAYS(END(name, last_1), end_1 ? end_1 : END(name, last_1),                                              \
          #name ": programs that are built have " #last_1 " elsewhere; new fields go behind all others")
#define FROZEN(name, size)                                                                                   \
    STAYS(sizeof(name), size, #name " never changes; what it lacks goes into a new struct or a new function")
#include "runtime/structs.def"

size_t qn__struct_size(qn__struct which, uint32_t header) { return sizes[which][header - 1]; }

/* It begins with a qn_program_desc, so that what follows has moved with each that has grown. */
static void read_translate_desc(uint32_t header, qn_translate_desc *to, const char *from) {
    const size_t align = _Alignof(qn_program_desc), rest = offsetof(qn_translate_desc, target);
    const size_t program = qn__struct_size(QN__STRUCT_qn_program_desc, header);
    memcpy(&to->program, from, program);
    memcpy((char *)to + rest, from + (program + align - 1) / align * align,
           qn__struct_size(QN__STRUCT_qn_translate_desc, header) - rest);
}

void qn__struct_read(uint32_t header, qn__struct which, void *to, const void *from) {
    memset(to, 0, sizes[which][QN_HEADER_VERSION - 1]);
    if (!from) return;
    if (which == QN__STRUCT_qn_translate_desc)
        read_translate_desc(header, to, from);
    else
        memcpy(to, from, qn__struct_size(which, header));
}

void qn__struct_write(uint32_t header, qn__struct which, void *to, const void *from) {
    memcpy(to, from, qn__struct_size(which, header));
}
