// Elements that are moved together: PACK(name, type, count, word) makes a type of `count` elements e[], and name_load and
// name_store, which move them as words of the type `word`, of up to 16 bytes. The pointer is aligned as a word is.
#define PACK(name, type, count, word)                                                                        \
    typedef union name {                                                                                     \
        type e[count];                                                                                       \
        word w[sizeof(type) * (count) / sizeof(word)];                                                       \
    } name;                                                                                                  \
    static name name##_load(global const type *p) {                                                          \
        name r;                                                                                              \
        _Pragma("unroll") for (uint i = 0; i < sizeof r.w / sizeof *r.w; i++) r.w[i] =                       \
            ((global const word *)p)[i];                                                                     \
        return r;                                                                                            \
    }                                                                                                        \
    static void name##_store(global type *p, name v) {                                                       \
        _Pragma("unroll") for (uint i = 0; i < sizeof v.w / sizeof *v.w; i++)((global word *)p)[i] = v.w[i]; \
    }
