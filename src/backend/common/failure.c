/* Failures that stay: a device that is lost, with the message that all later calls get, and a queue's first failure,
   which the next wait gets. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "backend/common/common.h"

void qn__loss_init(qn__loss *loss) { pthread_mutex_init(&loss->lock, NULL); }

void qn__loss_free(qn__loss *loss) { pthread_mutex_destroy(&loss->lock); }

qn_status qn__lost(qn__loss *loss, char *why) {
    pthread_mutex_lock(&loss->lock);
    memcpy(why, loss->why, QN__WHY);
    pthread_mutex_unlock(&loss->lock);
    return QN_ERROR_DEVICE_LOST;
}

qn_status qn__lose(qn__loss *loss, char *why, const char *format, ...) {
    va_list values;
    va_start(values, format);
    pthread_mutex_lock(&loss->lock);
    if (!atomic_load(&loss->lost)) vsnprintf(loss->why, sizeof loss->why, format, values);
    atomic_store(&loss->lost, true);
    pthread_mutex_unlock(&loss->lock);
    va_end(values);
    return qn__lost(loss, why);
}

void qn__sticky_set(qn__sticky *sticky, qn_status status, const char *why) {
    if (sticky->status) return;
    sticky->status = sticky->last = status;
    snprintf(sticky->why, sizeof sticky->why, "%s", why);
}

qn_status qn__sticky_take(qn__sticky *sticky, char *why) {
    const qn_status status = sticky->status;
    if (status) memcpy(why, sticky->why, sizeof sticky->why);
    if (status) sticky->taken++;
    sticky->status = QN_OK;
    return status;
}

qn_status qn__sticky_look(const qn__sticky *sticky, uint32_t *since, char *why) {
    const bool told = sticky->status || sticky->taken > *since;
    if (told) memcpy(why, sticky->why, sizeof sticky->why);
    *since = sticky->taken;
    return told ? sticky->last : QN_OK;
}
