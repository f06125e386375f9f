/* Files and folders that only their user can change, as Windows knows them. */
#ifndef QN__WINDOWS_PRIVATE_H
#define QN__WINDOWS_PRIVATE_H

#include <stdbool.h>

#include "util/windows/windows.h"

/* Whether what is opened belongs to this user, or to the system, and nobody else may write to it. The handle has
   READ_CONTROL. */
bool qn__windows_is_private(HANDLE handle);

#endif
