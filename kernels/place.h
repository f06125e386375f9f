// PLACE_IN(name, parameters, first, end, strides): a function that gives where element number `i` of the dimensions from `first` to `end`
// lies, of which `first` is the innermost. `parameters` is (type w, ulong i), others between them if need be; sizes[] and `strides` are
// members of the type. Without dimensions it gives 0.
#define PLACE_IN(name, parameters, first, end, strides)                                                      \
    static long name parameters {                                                                            \
        long at = 0;                                                                                         \
        _Pragma("unroll") for (uint d = first; d < end; d++) {                                               \
            const ulong outer = d + 1 < end ? i / w.sizes[d] : 0;                                            \
            at += (long)(i - outer * w.sizes[d]) * w.strides[d];                                             \
            i = outer;                                                                                       \
        }                                                                                                    \
        return at;                                                                                           \
    }
