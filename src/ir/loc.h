/* A place in the source, which is all that the first stages of the front end need to know of the IR. */
#ifndef QN__IR_LOC_H
#define QN__IR_LOC_H

#include <stdint.h>

/* line 0: none. */
typedef struct ir_loc {
    uint32_t line;
    uint16_t column;
    uint16_t file; /* index into ir_module.files */
} ir_loc;

#endif
