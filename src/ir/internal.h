/* What the files of this room share and nobody else needs: the tables behind the text form (which attributes
   and flags an op has, and their spelling), value creation, and floats as the text form has them. */
#ifndef QN__IR_INTERNAL_H
#define QN__IR_INTERNAL_H

#include "ir/ir.h"

/* Constructs nested deeper than this are refused by the parser and the verifier. */
enum { IR_MAX_NESTING = 500 };

enum { IR_FLAG_COUNT = 13, IR_ROUNDING_COUNT = 4, IR_ORDER_COUNT = 5, IR_SCOPE_COUNT = 5 };
enum { IR_ARG_KIND_COUNT = 5, IR_ARG_FLAG_COUNT = 6 };

/* Spellings; a flag's is at the number of its bit. */
extern const char *const qn__ir_kind_names[IR_KIND_COUNT];
extern const char *const qn__ir_space_names[IR_SPACE_COUNT];
extern const char *const qn__ir_flag_names[IR_FLAG_COUNT];
extern const char *const qn__ir_rounding_names[IR_ROUNDING_COUNT];
extern const char *const qn__ir_order_names[IR_ORDER_COUNT];
extern const char *const qn__ir_scope_names[IR_SCOPE_COUNT];
extern const char *const qn__ir_combine_names[IR_COMBINE_COUNT];
extern const char *const qn__ir_arg_kind_names[IR_ARG_KIND_COUNT];
extern const char *const qn__ir_arg_flag_names[IR_ARG_FLAG_COUNT];
extern const char *const qn__ir_small_float_names[IR_SMALL_FLOAT_COUNT];

bool qn__ir_type_valid(ir_type type); /* a value may have it: known kind, lanes and space, not void */

/* Puts a VAR that is in no region behind the others of the function. */
void qn__ir_place_variable(ir_function *function, ir_instr *instr);
/* An instruction in no region yet, with its own copy of the operands and with new results. */
ir_instr *qn__ir_instr_new(ir_function *function, ir_op op, ir_value *const *operands, uint32_t num_operands,
                           const ir_type *results, uint32_t num_results);
/* One in no region, with regions of its own to be made; the operands are to be filled in. The function has to be told
   what it then has. */
ir_instr *qn__ir_instr_copy(ir_function *function, const ir_instr *instr);
/* True where the constant or undefined value is the one that qn__ir_const or qn__ir_undef gave for this
   function. */
bool qn__ir_is_interned(const ir_function *function, const ir_value *value);

/* Whether a value of that type may be joined so by an atomic, or by a collective. */
bool qn__ir_combine_fits(unsigned combine, ir_type type, bool is_atomic);

double qn__ir_float_value(ir_kind kind, uint64_t bits);
uint64_t qn__ir_float_bits(ir_kind kind, double value); /* rounded to nearest even */
/* digits / 10^decimals, as the text form has decimal fractions: digits < 2^53, |decimals| <= 22. */
uint64_t qn__ir_float_decimal(ir_kind kind, bool negative, uint64_t digits, int decimals);

/* One instruction without its regions, values numbered as in the function's text. */
void qn__ir_print_instr(qn__buf *out, const ir_function *function, const ir_instr *instr);

/* The verifier's rules about one instruction by itself (verify_ops.c): a message about what is wrong, or
   NULL. */
const char *qn__ir_broken_types(const ir_function *function, const ir_instr *instr);
const char *qn__ir_broken_attrs(const ir_function *function, const ir_instr *instr);

#endif
