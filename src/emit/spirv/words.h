/* The numbers of SPIR-V that the target writes, under names of our own. From the SPIR-V specification 1.5,
   sections 3 (binary form) and the GLSL.std.450 extended instructions. */
#ifndef QN__SPIRV_WORDS_H
#define QN__SPIRV_WORDS_H

enum {
    SP_MAGIC = 0x07230203,
    SP_VERSION_1_5 = 0x00010500,
    SP_ADDRESSING_PHYSICAL_STORAGE_64 = 5348,
    SP_MEMORY_MODEL_GLSL = 1,
    SP_MEMORY_MODEL_VULKAN = 3,
    SP_MODEL_COMPUTE = 5,
    SP_SOURCE_OPENCL_C = 3,
    SP_FUNCTION_CONTROL_NONE = 0
};

/* Instructions. */
enum {
    SP_UNDEF = 1,
    SP_SOURCE = 3,
    SP_NAME = 5,
    SP_STRING = 7,
    SP_LINE = 8,
    SP_EXTENSION = 10,
    SP_IMPORT = 11,
    SP_EXT_INST = 12,
    SP_MEMORY_MODEL = 14,
    SP_ENTRY_POINT = 15,
    SP_EXECUTION_MODE = 16,
    SP_CAPABILITY = 17,
    SP_TYPE_VOID = 19,
    SP_TYPE_BOOL = 20,
    SP_TYPE_INT = 21,
    SP_TYPE_FLOAT = 22,
    SP_TYPE_VECTOR = 23,
    SP_TYPE_ARRAY = 28,
    SP_TYPE_RUNTIME_ARRAY = 29,
    SP_TYPE_STRUCT = 30,
    SP_TYPE_POINTER = 32,
    SP_TYPE_FORWARD_POINTER = 39,
    SP_TYPE_FUNCTION = 33,
    SP_CONSTANT_TRUE = 41,
    SP_CONSTANT_FALSE = 42,
    SP_CONSTANT = 43,
    SP_CONSTANT_COMPOSITE = 44,
    SP_CONSTANT_NULL = 46,
    SP_SPEC_CONSTANT = 50,
    SP_SPEC_CONSTANT_COMPOSITE = 51,
    SP_SPEC_CONSTANT_OP = 52,
    SP_FUNCTION = 54,
    SP_FUNCTION_END = 56,
    SP_VARIABLE = 59,
    SP_LOAD = 61,
    SP_STORE = 62,
    SP_ACCESS_CHAIN = 65,
    SP_DECORATE = 71,
    SP_MEMBER_DECORATE = 72,
    SP_VECTOR_EXTRACT_DYNAMIC = 77,
    SP_VECTOR_SHUFFLE = 79,
    SP_COMPOSITE_CONSTRUCT = 80,
    SP_COMPOSITE_EXTRACT = 81,
    SP_COMPOSITE_INSERT = 82,
    SP_CONVERT_F_TO_U = 109,
    SP_CONVERT_F_TO_S = 110,
    SP_CONVERT_S_TO_F = 111,
    SP_CONVERT_U_TO_F = 112,
    SP_U_CONVERT = 113,
    SP_S_CONVERT = 114,
    SP_F_CONVERT = 115,
    SP_CONVERT_U_TO_PTR = 120,
    SP_BITCAST = 124,
    SP_F_NEGATE = 127,
    SP_I_ADD = 128,
    SP_F_ADD = 129,
    SP_I_SUB = 130,
    SP_F_SUB = 131,
    SP_I_MUL = 132,
    SP_F_MUL = 133,
    SP_U_DIV = 134,
    SP_S_DIV = 135,
    SP_F_DIV = 136,
    SP_U_MOD = 137,
    SP_F_REM = 140,
    SP_I_ADD_CARRY = 149,
    SP_I_SUB_BORROW = 150,
    SP_U_MUL_EXTENDED = 151,
    SP_S_MUL_EXTENDED = 152,
    SP_ALL = 155,
    SP_IS_NAN = 156,
    SP_LOGICAL_EQUAL = 164,
    SP_LOGICAL_NOT_EQUAL = 165,
    SP_LOGICAL_OR = 166,
    SP_LOGICAL_AND = 167,
    SP_LOGICAL_NOT = 168,
    SP_SELECT = 169,
    SP_I_EQUAL = 170,
    SP_I_NOT_EQUAL = 171,
    SP_U_GREATER_EQUAL = 174,
    SP_U_LESS = 176,
    SP_S_LESS = 177,
    SP_U_LESS_EQUAL = 178,
    SP_S_LESS_EQUAL = 179,
    SP_F_EQUAL = 180,
    SP_F_UNORDERED_NOT_EQUAL = 183,
    SP_F_LESS = 184,
    SP_F_GREATER = 186,
    SP_F_LESS_EQUAL = 188,
    SP_F_GREATER_EQUAL = 190,
    SP_SHIFT_RIGHT_LOGICAL = 194,
    SP_SHIFT_RIGHT_ARITHMETIC = 195,
    SP_SHIFT_LEFT = 196,
    SP_BITWISE_OR = 197,
    SP_BITWISE_XOR = 198,
    SP_BITWISE_AND = 199,
    SP_NOT = 200,
    SP_BIT_COUNT = 205,
    SP_S_DOT = 4450,
    SP_U_DOT = 4451,
    SP_SU_DOT = 4452,
    SP_TYPE_MATRIX = 4456, /* SPV_KHR_cooperative_matrix's, as the four below */
    SP_MATRIX_LOAD = 4457,
    SP_MATRIX_STORE = 4458,
    SP_MATRIX_MULTIPLY_ADD = 4459,
    SP_MATRIX_LENGTH = 4460,
    SP_CONTROL_BARRIER = 224,
    SP_MEMORY_BARRIER = 225,
    SP_ATOMIC_LOAD = 227,
    SP_ATOMIC_STORE = 228,
    SP_ATOMIC_EXCHANGE = 229,
    SP_ATOMIC_COMPARE_EXCHANGE = 230,
    SP_ATOMIC_I_ADD = 234,
    SP_ATOMIC_I_SUB = 235,
    SP_ATOMIC_S_MIN = 236,
    SP_ATOMIC_U_MIN = 237,
    SP_ATOMIC_S_MAX = 238,
    SP_ATOMIC_U_MAX = 239,
    SP_ATOMIC_AND = 240,
    SP_ATOMIC_OR = 241,
    SP_ATOMIC_XOR = 242,
    SP_PHI = 245,
    SP_LOOP_MERGE = 246,
    SP_SELECTION_MERGE = 247,
    SP_LABEL = 248,
    SP_BRANCH = 249,
    SP_BRANCH_CONDITIONAL = 250,
    SP_RETURN = 253,
    SP_UNREACHABLE = 255,
    SP_GROUP_ALL = 334,
    SP_GROUP_ANY = 335,
    SP_GROUP_BALLOT = 339,
    SP_GROUP_SHUFFLE = 345,
    SP_GROUP_I_ADD = 349,
    SP_GROUP_F_ADD = 350,
    SP_GROUP_I_MUL = 351,
    SP_GROUP_F_MUL = 352,
    SP_GROUP_S_MIN = 353,
    SP_GROUP_U_MIN = 354,
    SP_GROUP_F_MIN = 355,
    SP_GROUP_S_MAX = 356,
    SP_GROUP_U_MAX = 357,
    SP_GROUP_F_MAX = 358,
    SP_GROUP_AND = 359,
    SP_GROUP_OR = 360,
    SP_GROUP_XOR = 361,
    SP_ATOMIC_F_ADD = 6035
};

/* GLSL.std.450. */
enum {
    GLSL_ROUND_EVEN = 2,
    GLSL_TRUNC = 3,
    GLSL_F_ABS = 4,
    GLSL_FLOOR = 8,
    GLSL_CEIL = 9,
    GLSL_SIN = 13,
    GLSL_COS = 14,
    GLSL_EXP2 = 29,
    GLSL_LOG2 = 30,
    GLSL_SQRT = 31,
    GLSL_INVERSE_SQRT = 32,
    GLSL_U_MIN = 38,
    GLSL_S_MIN = 39,
    GLSL_U_MAX = 41,
    GLSL_S_MAX = 42,
    GLSL_FMA = 50,
    GLSL_UNPACK_HALF = 62,
    GLSL_FIND_LSB = 73,
    GLSL_FIND_MSB = 75, /* unsigned */
    GLSL_N_MIN = 79,
    GLSL_N_MAX = 80
};

enum { /* storage classes */
       SP_INPUT = 1,
       SP_WORKGROUP = 4,
       SP_FUNCTION_CLASS = 7,
       SP_PUSH_CONSTANT = 9,
       SP_PHYSICAL_STORAGE = 5349
};

enum { /* decorations */
       SP_SPEC_ID = 1,
       SP_BLOCK = 2,
       SP_ARRAY_STRIDE = 6,
       SP_BUILT_IN = 11,
       SP_OFFSET = 35,
       SP_ROUNDING_MODE = 39,
       SP_NO_CONTRACTION = 42
};

enum { /* built-in variables */
       SP_WORKGROUP_SIZE = 25,
       SP_WORKGROUP_ID = 26,
       SP_LOCAL_INVOCATION_ID = 27,
       SP_SUBGROUP_SIZE = 36,
       SP_NUM_SUBGROUPS = 38,
       SP_SUBGROUP_ID = 40,
       SP_SUBGROUP_LOCAL_ID = 41
};

enum { /* execution modes */
       SP_LOCAL_SIZE = 17,
       SP_DENORM_PRESERVE = 4459,
       SP_SIGNED_ZERO_INF_NAN_PRESERVE = 4461,
       SP_ROUNDING_MODE_RTE = 4462
};

enum { /* scopes */
       SP_SCOPE_DEVICE = 1,
       SP_SCOPE_WORKGROUP = 2,
       SP_SCOPE_SUBGROUP = 3,
       SP_SCOPE_INVOCATION = 4,
       SP_SCOPE_QUEUE_FAMILY = 5
};

enum { /* memory semantics */
       SP_ACQUIRE = 0x2,
       SP_RELEASE = 0x4,
       SP_ACQUIRE_RELEASE = 0x8,
       SP_UNIFORM_MEMORY = 0x40,
       SP_WORKGROUP_MEMORY = 0x100,
       SP_MAKE_AVAILABLE = 0x2000,
       SP_MAKE_VISIBLE = 0x4000
};

enum { /* memory operands */
       SP_VOLATILE = 0x1,
       SP_ALIGNED = 0x2,
       SP_NON_PRIVATE = 0x20
};

enum { /* of matrices: uses, layouts, bits of a product; encodings of floats */
       SP_USE_A = 0,
       SP_USE_B = 1,
       SP_USE_ACCUMULATOR = 2,
       SP_ROW_MAJOR = 0,
       SP_COLUMN_MAJOR = 1,
       SP_A_SIGNED = 0x1,
       SP_B_SIGNED = 0x2,
       SP_SUM_SIGNED = 0xc, /* before and after */
       SP_BFLOAT16 = 0,
       SP_FLOAT8_E4M3 = 4214,
       SP_FLOAT8_E5M2 = 4215
};

enum { /* group operations; loop controls; rounding */
       SP_REDUCE = 0,
       SP_INCLUSIVE_SCAN = 1,
       SP_EXCLUSIVE_SCAN = 2,
       SP_DONT_FLATTEN = 2, /* selection control */
       SP_UNROLL = 1,
       SP_DONT_UNROLL = 2,
       SP_ROUND_TO_EVEN = 0
};

#endif
