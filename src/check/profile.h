/* What is counted of each instruction, between the files that count and report it. */
#ifndef QN__CHECK_PROFILE_H
#define QN__CHECK_PROFILE_H

#include "check/internal.h"

typedef struct qn__check_lanes qn__check_lanes; /* lanes.c */

struct qn__check_counter {
    const qn__vm_instr *instr;
    uint64_t times, items;               /* that it was executed; work-items that did, in this launch */
    bool looks;                          /* qn__check_lanes_look is to be called */
    qn__check_lanes *access, *construct; /* NULL: it is none */
    qn__check_lanes *owner;              /* of the first instruction of a region: the construct around */
    unsigned region;                     /* in it */
};

void qn__check_lanes_attach(qn__check_program *program, qn__check_counter *counter);
void qn__check_lanes_begin(qn__check_counter *counter); /* a launch */
void qn__check_lanes_look(const qn__vm_frame *frame, const qn__vm_instr *instr, qn__check_counter *counter);
void qn__check_lanes_ran(qn__check_counter *counter, uint64_t steps); /* behind it */
void qn__check_lanes_report(qn__check_run_state *r);
void qn__check_occupancy_report(qn__check_run_state *r, uint64_t local_memory);

/* A frame in which a work-item of a group that has run stands for the launch, for reports about all of it. */
typedef struct qn__check_stand_in {
    qn__vm_frame frame;
    uint64_t group_x, local_id[3];
} qn__check_stand_in;
void qn__check_stand_in_for(qn__check_stand_in *s, qn__check_run_state *r, const uint64_t group[3],
                            const uint64_t local_id[3]);

#endif
