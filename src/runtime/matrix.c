/* Which products of matrix fragments a device's matrix units do: made of what its target says. */
#include "runtime/runtime.h"
#include "runtime/structs.h"
#include "target/target.h"

/* PTX's instructions are 16 x 8; as 16 x 16 two of them share an a. */
static const struct row {
    uint8_t a, b, sum, k, arch;
} rows[] = {
#define MMA(a, b, accumulator, k, arch) {QN_TYPE_##a, QN_TYPE_##b, QN_TYPE_##accumulator, k, arch},
#include "target/mma.def"
};
static const uint8_t columns[] = {16, 8};

/* Number `index` of the target's shapes; false: it has fewer. */
static bool shape_at(const qn__target *target, uint32_t index, qn_matrix_shape *shape) {
    static const uint8_t types[QN__UNITS] = {
#define UNIT(ID, name) QN_TYPE_##ID,
#include "target/units.def"
    };
    if (target->has_matrices && index < target->num_shapes) {
        const qn__unit_shape *s = &target->shapes[index];
        *shape = (qn_matrix_shape){.a = (qn_type)types[s->a],
                                   .b = (qn_type)types[s->b],
                                   .sum = (qn_type)types[s->sum],
                                   .rows = s->rows,
                                   .columns = s->columns,
                                   .k = s->k};
        return true;
    }
    if (!target->has_mma) return false;
    for (size_t i = 0; i < QN__COUNT(rows); i++) {
        if (target->arch < rows[i].arch) continue;
        if (index >= QN__COUNT(columns)) {
            index -= (uint32_t)QN__COUNT(columns);
            continue;
        }
        *shape = (qn_matrix_shape){.a = (qn_type)rows[i].a,
                                   .b = (qn_type)rows[i].b,
                                   .sum = (qn_type)rows[i].sum,
                                   .rows = 16,
                                   .columns = columns[index],
                                   .k = rows[i].k};
        return true;
    }
    return false;
}

uint32_t qn__matrix_shapes(const qn__target *target) {
    qn_matrix_shape shape;
    uint32_t count = 0;
    while (shape_at(target, count, &shape)) count++;
    return count;
}

qn_status qn_device_get_matrix_shape(const qn_device *device, uint32_t index, qn_matrix_shape *shape) {
    qn_matrix_shape found;
    qn_status status = qn__check(device, QN__OBJECT_DEVICE, "qn_device_get_matrix_shape", "device");
    if (status) return status;
    qn_context *context = device->object.context;
    if (!shape) return qn__fail_null(context, "qn_device_get_matrix_shape", "shape");
    status = qn__device_ready((qn_device *)device);
    if (status) return status;
    if (!shape_at(&device->target, index, &found))
        return qn__fail(context, QN_ERROR_RANGE, "qn_device_get_matrix_shape: index %u; %s has %u shapes",
                        (unsigned)index, device->name, (unsigned)device->info.matrix_shapes);
    QN__WRITE(context, qn_matrix_shape, shape, &found);
    return QN_OK;
}
