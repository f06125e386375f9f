/* Whose folders are trusted. */
#ifndef QN__POSIX_OWNER_H
#define QN__POSIX_OWNER_H

#include <stdbool.h>
#include <sys/types.h>

/* This user, or root. */
bool qn__folder_owner_is_trusted(uid_t owner);

#endif
