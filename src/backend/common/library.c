/* Drivers opened at run time: quern links against none of them. They stay until the process ends, whatever the
   number of contexts that open and close them (one mapping a process, as dlopen counts): drivers leave threads,
   destructors of thread-local data and handlers of the process's end behind, which crash once their code is gone. */
#include <stdio.h>
#include <string.h>

#include "backend/common/common.h"
#include "util/dynamic.h"

void *qn__library_open(const char *const *names, char *why) {
    char broken[QN__WHY] = "";
    for (size_t i = 0; names[i]; i++) {
        char error[QN__WHY];
        bool missing;
        void *library = qn__dynamic_open(names[i], true, &missing, error, sizeof error);
        if (library) return library;
        /* A library that is there and cannot be loaded says more than one that is not. */
        if (!missing) memcpy(broken, error, sizeof broken);
    }
    if (broken[0])
        snprintf(why, QN__WHY, "%s", broken);
    else
        snprintf(why, QN__WHY, "%s is not installed", names[0]);
    return NULL;
}

bool qn__library_symbols(void *library, const qn__symbol *symbols, size_t count, void *functions, char *why) {
    for (size_t i = 0; i < count; i++) {
        void *address = qn__dynamic_symbol(library, symbols[i].name);
        if (!address && !symbols[i].optional) {
            snprintf(why, QN__WHY, "the driver is too old: it has no %s", symbols[i].name);
            return false;
        }
        memcpy((char *)functions + symbols[i].offset, &address, sizeof address);
    }
    return true;
}
