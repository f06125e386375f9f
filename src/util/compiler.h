/* The one place for compiler extensions. Everything else in src/ is plain C11. */
#ifndef QN__COMPILER_H
#define QN__COMPILER_H

#if defined(__GNUC__) || defined(__clang__)
#ifdef __MINGW32__
#define QN__PRINTF(format_index, first_arg) __attribute__((format(gnu_printf, format_index, first_arg)))
#else
#define QN__PRINTF(format_index, first_arg) __attribute__((format(printf, format_index, first_arg)))
#endif
#define QN__LIKELY(x)   __builtin_expect(!!(x), 1)
#define QN__UNLIKELY(x) __builtin_expect(!!(x), 0)
#define QN__FALLTHROUGH __attribute__((fallthrough))
#define QN__NORETURN    __attribute__((noreturn))
#define QN__UNUSED      __attribute__((unused))
#else
#define QN__PRINTF(format_index, first_arg)
#define QN__LIKELY(x)   (x)
#define QN__UNLIKELY(x) (x)
#define QN__FALLTHROUGH ((void)0)
#define QN__NORETURN
#define QN__UNUSED
#endif

#define QN__COUNT(array) (sizeof(array) / sizeof((array)[0]))

#endif
