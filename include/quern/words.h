/* What QN_ARGS and QN_RANGE are made of: in C of macros, in C++ of overloads and templates. Part of quern.h, which
   includes it. */
#ifndef QUERN_WORDS_H
#define QUERN_WORDS_H

#ifndef __cplusplus
#define QN__COUNT_ARGS(...)                                                                                  \
    QN__PICK25(__VA_ARGS__, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, \
               2, 1, 0)
#define QN__PICK25(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, count, ...) count

#define QN__JOIN(a, b)      QN__JOIN_(a, b)
#define QN__JOIN_(a, b)     a##b
#define QN__MAP(count, ...) QN__JOIN(QN__MAP, count)(__VA_ARGS__)
#define QN__MAP1(a)         QN_ARG(a)
#define QN__MAP2(a, ...)    QN_ARG(a), QN__MAP1(__VA_ARGS__)
#define QN__MAP3(a, ...)    QN_ARG(a), QN__MAP2(__VA_ARGS__)
#define QN__MAP4(a, ...)    QN_ARG(a), QN__MAP3(__VA_ARGS__)
#define QN__MAP5(a, ...)    QN_ARG(a), QN__MAP4(__VA_ARGS__)
#define QN__MAP6(a, ...)    QN_ARG(a), QN__MAP5(__VA_ARGS__)
#define QN__MAP7(a, ...)    QN_ARG(a), QN__MAP6(__VA_ARGS__)
#define QN__MAP8(a, ...)    QN_ARG(a), QN__MAP7(__VA_ARGS__)
#define QN__MAP9(a, ...)    QN_ARG(a), QN__MAP8(__VA_ARGS__)
#define QN__MAP10(a, ...)   QN_ARG(a), QN__MAP9(__VA_ARGS__)
#define QN__MAP11(a, ...)   QN_ARG(a), QN__MAP10(__VA_ARGS__)
#define QN__MAP12(a, ...)   QN_ARG(a), QN__MAP11(__VA_ARGS__)
#define QN__MAP13(a, ...)   QN_ARG(a), QN__MAP12(__VA_ARGS__)
#define QN__MAP14(a, ...)   QN_ARG(a), QN__MAP13(__VA_ARGS__)
#define QN__MAP15(a, ...)   QN_ARG(a), QN__MAP14(__VA_ARGS__)
#define QN__MAP16(a, ...)   QN_ARG(a), QN__MAP15(__VA_ARGS__)
#define QN__MAP17(a, ...)   QN_ARG(a), QN__MAP16(__VA_ARGS__)
#define QN__MAP18(a, ...)   QN_ARG(a), QN__MAP17(__VA_ARGS__)
#define QN__MAP19(a, ...)   QN_ARG(a), QN__MAP18(__VA_ARGS__)
#define QN__MAP20(a, ...)   QN_ARG(a), QN__MAP19(__VA_ARGS__)
#define QN__MAP21(a, ...)   QN_ARG(a), QN__MAP20(__VA_ARGS__)
#define QN__MAP22(a, ...)   QN_ARG(a), QN__MAP21(__VA_ARGS__)
#define QN__MAP23(a, ...)   QN_ARG(a), QN__MAP22(__VA_ARGS__)
#define QN__MAP24(a, ...)   QN_ARG(a), QN__MAP23(__VA_ARGS__)
#else

/* QN_ARG, by overloads: numbers by their types, a buffer, nullptr, and what is an argument already. */
inline qn_arg QN_ARG(qn_arg value) { return value; }
inline qn_arg QN_ARG(qn_buffer *value) { return qn_arg_buffer(value); }
inline qn_arg QN_ARG(decltype(nullptr)) { return qn_arg_null(); }
template <class T> qn_arg QN_ARG(T *value) = delete; /* no pointer but a buffer's; none is a bool */
inline qn_arg QN_ARG(float value) { return qn_arg_float(value); }
inline qn_arg QN_ARG(double value) { return qn_arg_double(value); }
inline qn_arg QN_ARG(bool value) { return qn_arg_unsigned(value); }
inline qn_arg QN_ARG(char value) { return qn_arg_signed(value); }
inline qn_arg QN_ARG(signed char value) { return qn_arg_signed(value); }
inline qn_arg QN_ARG(short value) { return qn_arg_signed(value); }
inline qn_arg QN_ARG(int value) { return qn_arg_signed(value); }
inline qn_arg QN_ARG(long value) { return qn_arg_signed(value); }
inline qn_arg QN_ARG(long long value) { return qn_arg_signed(value); }
inline qn_arg QN_ARG(unsigned char value) { return qn_arg_unsigned(value); }
inline qn_arg QN_ARG(unsigned short value) { return qn_arg_unsigned(value); }
inline qn_arg QN_ARG(unsigned value) { return qn_arg_unsigned(value); }
inline qn_arg QN_ARG(unsigned long value) { return qn_arg_unsigned(value); }
inline qn_arg QN_ARG(unsigned long long value) { return qn_arg_unsigned(value); }

/* What the macros point to lives until the end of the full expression that they stand in. */
template <size_t count> struct qn__args {
    qn_arg items[count];
    const qn_arg *data() const { return items; }
    static constexpr size_t size = count;
};
template <class... Values> qn__args<sizeof...(Values)> qn__make_args(const Values &...values) {
    return {{QN_ARG(values)...}};
}
struct qn__sizes {
    uint64_t of[3];
};
template <class... Sizes> qn__sizes qn__make_sizes(Sizes... sizes) {
    static_assert(sizeof...(Sizes) >= 1 && sizeof...(Sizes) <= 3, "one to three dimensions");
    return {{static_cast<uint64_t>(sizes)...}};
}
/* A local size; of those that 32 bits do not hold the largest, which no device has: the launch refuses it. */
inline uint32_t qn__local_size(uint64_t size) {
    return size > UINT32_MAX ? UINT32_MAX : static_cast<uint32_t>(size);
}
struct qn__range : qn_range {
    explicit qn__range(const qn__sizes &global_size, const qn__sizes &local_size = qn__sizes()) : qn_range() {
        for (int d = 0; d < 3; d++) {
            global[d] = global_size.of[d];
            local[d] = qn__local_size(local_size.of[d]);
        }
    }
    const qn_range *at() const { return this; }
};

#define QN_RANGE(...)                           qn__range(qn__make_sizes(__VA_ARGS__)).at()
#define QN_GROUP(...)                           qn__make_sizes(__VA_ARGS__)
#define QN_RANGE_LOCAL(global_size, local_size) qn__range(global_size, local_size).at()
#define QN_ARGS(...)                            qn__make_args(__VA_ARGS__).data(), decltype(qn__make_args(__VA_ARGS__))::size
#endif

#endif
