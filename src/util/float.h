/* Conversions between number types with any rounding mode, in integer arithmetic only: the host's rounding mode is
   neither read nor changed. Numbers are their bits, zero-extended. */
#ifndef QN__FLOAT_H
#define QN__FLOAT_H

#include <stdbool.h>
#include <stdint.h>

/* precision counts the hidden bit; bias is also the largest exponent, but of a finite format. */
typedef struct qn__float_format {
    int precision, bias;
    unsigned bits;
    uint16_t nan; /* what NaN becomes; 0: the quiet one of the same sign */
    bool
        finite; /* no infinities: the largest exponent is of numbers, too, and all ones alone are NaN (OCP's E4M3) */
} qn__float_format;

extern const qn__float_format qn__float_16, qn__float_32, qn__float_64, qn__float_bf16, qn__float_e4m3,
    qn__float_e5m2;

typedef enum qn__rounding { QN__ROUND_EVEN, QN__ROUND_ZERO, QN__ROUND_UP, QN__ROUND_DOWN } qn__rounding;

uint64_t qn__float_convert(const qn__float_format *from, const qn__float_format *to, qn__rounding rounding,
                           uint64_t bits);
/* The same, but numbers that are too large, and infinity, become the largest number of the format. */
uint64_t qn__float_convert_saturated(const qn__float_format *from, const qn__float_format *to,
                                     qn__rounding rounding, uint64_t bits);
/* An integer of `width` bits; what is out of its range saturates, NaN gives 0. */
uint64_t qn__float_to_integer(const qn__float_format *from, unsigned width, bool is_signed,
                              qn__rounding rounding, uint64_t bits);
uint64_t qn__float_from_integer(unsigned width, bool is_signed, const qn__float_format *to,
                                qn__rounding rounding, uint64_t bits);

/* The bits of a number in a format, rounded to nearest even. */
uint64_t qn__float_from_double(const qn__float_format *to, double value);
double qn__float_to_double(const qn__float_format *from, uint64_t bits);
/* The largest number of a format. */
double qn__float_largest(const qn__float_format *format);
uint16_t qn__f16_from_double(double value);
double qn__f16_to_double(uint16_t bits);

#endif
