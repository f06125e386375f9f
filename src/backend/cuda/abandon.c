/* A lost device that is given up so that it can be opened again. Its primary context is reset, and with that all handles that
   were made in it are gone: the driver may not be given them any more. From then on the old device calls functions
   that do nothing. */
#include "backend/cuda/cuda.h"

/* Each says that it has failed. What they are given does not matter. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wunused-parameter"
#endif
#define NOTHING(field, symbol, params)                                                                       \
    static qn__cu_result nothing_##field params { return QN__CU_ERROR_DEINITIALIZED; }
QN__CU_FUNCTIONS(NOTHING)
QN__CU_OPTIONAL_FUNCTIONS(NOTHING)
#undef NOTHING

static const qn__cu nothing = {
#define FIELD(field, symbol, params) .field = nothing_##field,
    QN__CU_FUNCTIONS(FIELD) QN__CU_OPTIONAL_FUNCTIONS(FIELD)
#undef FIELD
};

bool qn__cuda_is_lost(qn__gpu *gpu, char *why) { return qn__is_lost_by(&gpu->loss, why); }

/* Our reference first: where nobody else in the process has one, that alone destroys the context. */
void qn__cuda_abandon(qn__gpu *gpu) {
    const qn__cu *cu = gpu->cu;
    gpu->cu = &nothing;
    cu->primary_release(gpu->device);
    cu->primary_reset(gpu->device);
}
