/* As unit/ring_model_pieces.c, with messages of more pieces than a look of one work-item brings: whole ones are looked for, by copies that each
   bring a piece as it is then. */
#define AS_C_PIECES                  9
#define AS_C_FEW_PIECES              6
#define QN__WHOLE(piece)             (*(step(), (volatile uint4 *)(piece)))
#define event_t                      int
#define qn_async_copy(to, from)      (*(to) = QN__WHOLE(from))
#define qn_async_commit(event)       (event)
#define wait_group_events(count, of) ((void)(of))
#include "ring_model.c"
