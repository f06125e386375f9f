/* First chapter: what quern finds on this machine, and why it does not find the rest. */
#include "tour.h"

#include <stdio.h>

bool tour_devices(tour *t) {
    qn_device_info chosen, info;
    qn_backend_info backend;
    if (!tour_good(t, qn_device_get_info(t->device, &chosen), "the device")) return false;
    printf("quern %s\n\nDevices\n", qn_version());
    for (uint32_t i = 0; i < qn_device_count(t->context); i++) {
        if (qn_device_get_info(qn_device_at(t->context, i), &info)) continue;
        printf("  %-10s %s, ", info.name, info.description);
        if (info.compute_units) printf("%u compute units, ", info.compute_units);
        printf("%.1f GiB (%s)\n", (double)info.memory / (1 << 30), info.driver);
    }
    for (uint32_t i = 0; i < qn_backend_count(t->context); i++)
        if (!qn_backend_get(t->context, i, &backend) && backend.devices == 0 && backend.reason)
            printf("  %-10s - %s\n", backend.name, backend.reason);
    printf("  The tour runs on %s.\n", chosen.name);
    return true;
}
