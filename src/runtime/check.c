/* Findings of the checker (quern/check.h), which its backend keeps. */
#include "quern/check.h"

#include "runtime/runtime.h"

const char *qn_finding_kind_name(qn_finding_kind kind) {
#define NAME(ID, name, title) [QN_FINDING_##ID] = (name),
    static const char *const names[QN_FINDING_KIND_COUNT] = {QN_FINDING_MAP(NAME)};
#undef NAME
    return kind > QN_FINDING_NONE && kind < QN_FINDING_KIND_COUNT ? names[kind] : NULL;
}

bool qn_finding_kind_is_advice(qn_finding_kind kind) {
    return kind >= QN_FINDING_UNCOALESCED && kind < QN_FINDING_KIND_COUNT;
}

/* The device is open and has findings. */
static qn_status need_checker(const qn_device *device, const char *function) {
    qn_status status = qn__check(device, QN__OBJECT_DEVICE, function, "device");
    if (!status) status = qn__device_ready((qn_device *)device);
    if (!status && !device->backend->finding_count)
        status = qn__fail(device->object.context, QN_ERROR_UNSUPPORTED,
                          "%s: device '%s' checks nothing; the device 'check' does", function, device->name);
    return status;
}

uint32_t qn_check_count(const qn_device *device) {
    if (need_checker(device, "qn_check_count")) return 0;
    return device->backend->finding_count(device->gpu);
}

qn_status qn_check_get(const qn_device *device, uint32_t index, qn_finding *finding) {
    qn_status status = need_checker(device, "qn_check_get");
    if (status) return status;
    qn_context *context = device->object.context;
    if (!finding) return qn__fail_null(context, "qn_check_get", "finding");
    qn_finding found;
    if (!device->backend->finding_get(device->gpu, index, &found))
        return qn__fail(context, QN_ERROR_RANGE, "qn_check_get: index %u; there are %u", (unsigned)index,
                        (unsigned)device->backend->finding_count(device->gpu));
    QN__WRITE(context, qn_finding, finding, &found);
    return QN_OK;
}

qn_status qn_check_clear(qn_device *device) {
    const qn_status status = need_checker(device, "qn_check_clear");
    if (!status) device->backend->finding_clear(device->gpu);
    return status;
}

qn_status qn_check_configure(qn_device *device, const qn_check_desc *desc) {
    const uint32_t known = QN_CHECK_SHIFTS | QN_CHECK_OVERFLOWS | QN_CHECK_NANS | QN_CHECK_BUFFERS |
                           QN_CHECK_PERFORMANCE | QN_CHECK_PROFILE | QN_CHECK_UNUSED;
    char why[QN__WHY] = "";
    qn_status status = need_checker(device, "qn_check_configure");
    if (status) return status;
    qn_context *context = device->object.context;
    qn_check_desc wanted;
    QN__READ(context, qn_check_desc, &wanted, desc);
    if (wanted.also & ~known)
        return qn__fail(context, QN_ERROR_ARGUMENT,
                        "qn_check_configure: also has bits that are no QN_CHECK_*: 0x%x",
                        (unsigned)(wanted.also & ~known));
    status = device->backend->check_configure(device->gpu, &wanted, why);
    if (!status) device->target.wants_overflows = wanted.also & QN_CHECK_OVERFLOWS;
    return status ? qn__fail(context, status, "qn_check_configure: %s", qn__reason(why, status)) : QN_OK;
}

qn_status qn_check_get_stats(const qn_device *device, qn_check_stats *stats) {
    const qn_status status = need_checker(device, "qn_check_get_stats");
    if (status) return status;
    if (!stats) return qn__fail_null(device->object.context, "qn_check_get_stats", "stats");
    qn_check_stats counted;
    device->backend->check_stats(device->gpu, &counted);
    QN__WRITE(device->object.context, qn_check_stats, stats, &counted);
    return QN_OK;
}

qn_status qn_check_suppress(qn_device *device, const char *text, const char *path) {
    char why[QN__WHY] = "";
    const qn_status status = need_checker(device, "qn_check_suppress");
    if (status) return status;
    qn_context *context = device->object.context;
    if (!text) return qn__fail_null(context, "qn_check_suppress", "text");
    const qn_status read =
        device->backend->check_suppress(device->gpu, text, path ? path : "suppressions", why);
    return read ? qn__fail(context, read, "qn_check_suppress: %s", qn__reason(why, read)) : QN_OK;
}

uint32_t qn_check_suppression_count(const qn_device *device) {
    if (need_checker(device, "qn_check_suppression_count")) return 0;
    return device->backend->suppression_count(device->gpu);
}

qn_status qn_check_suppression_get(const qn_device *device, uint32_t index, qn_suppression *suppression) {
    const qn_status status = need_checker(device, "qn_check_suppression_get");
    if (status) return status;
    qn_context *context = device->object.context;
    if (!suppression) return qn__fail_null(context, "qn_check_suppression_get", "suppression");
    qn_suppression found;
    if (!device->backend->suppression_get(device->gpu, index, &found))
        return qn__fail(context, QN_ERROR_RANGE, "qn_check_suppression_get: index %u; there are %u",
                        (unsigned)index, (unsigned)device->backend->suppression_count(device->gpu));
    QN__WRITE(context, qn_suppression, suppression, &found);
    return QN_OK;
}

uint32_t qn_check_profile_count(const qn_device *device) {
    if (need_checker(device, "qn_check_profile_count")) return 0;
    return device->backend->profile_count(device->gpu);
}

qn_status qn_check_profile_get(const qn_device *device, uint32_t index, qn_check_profile *profile) {
    const qn_status status = need_checker(device, "qn_check_profile_get");
    if (status) return status;
    qn_context *context = device->object.context;
    if (!profile) return qn__fail_null(context, "qn_check_profile_get", "profile");
    qn_check_profile found;
    if (!device->backend->profile_get(device->gpu, index, &found))
        return qn__fail(context, QN_ERROR_RANGE, "qn_check_profile_get: index %u; there are %u",
                        (unsigned)index, (unsigned)device->backend->profile_count(device->gpu));
    QN__WRITE(context, qn_check_profile, profile, &found);
    return QN_OK;
}
