/* What the device "check" finds in a kernel test, against the comments that say what it is to find. */
#ifndef CL_FINDINGS_H
#define CL_FINDINGS_H

#include "cl_case.h"

/* Whether a line of the file says `finds: KIND`. */
bool cl_findings_expected(const cl_case *test);

/* Whether the message tells of a line of the file that says `finds:`. */
bool cl_findings_tells(const cl_case *test, const char *message);

/* Before the runs. */
void cl_findings_begin(const cl_case *test, qn_device *device);

/* Calls fail for each finding at a line that says nothing of it, and for each line whose finding did not come. Forgets them
   afterwards. Of a device that checks nothing, nothing is wanted. */
void cl_findings_check(const cl_case *test, qn_device *device, void (*fail)(void *user, const char *text),
                       void *user);

#endif
