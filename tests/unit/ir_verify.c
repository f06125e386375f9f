/* The verifier: one broken module a rule, as text where text can say it, built by hand where it cannot. */
#include "ir_support.h"

/* The text goes between the braces of a kernel with an argument of each kind. */
static const char *const bodies[][2] = {
    /* Regions and jumps. */
    {"", "the body does not end in a jump"},
    {"%0: i32 = work_dim", "the body does not end in a jump"},
    {"return\n return", "an instruction stands behind a jump"},
    {"if bool true {\n yield\n} else {\n}\n return", "a region does not end in a jump"},
    {"yield", "yield ends a region of an if or a block"},
    {"loop @0 {\n yield\n}\n return", "yield ends a region of an if or a block"},
    {"block @0 {\n continue @0\n}\n return", "only a loop continues"},
    {"%0: i32 = block @0 {\n yield\n}\n return", "wrong number of values"},
    {"%0: i32 = block @0 {\n yield i64 1\n}\n return", "a value of the wrong type"},
    {"%0: i32 = loop @0 {\n break @0 f32 1.0\n}\n return", "a value of the wrong type"},
    {"loop @0 (%0: i32 = i32 0) {\n continue @0\n}\n return", "wrong number of values"},
    {"loop @0 (%0: i32 = i64 0) {\n continue @0 %0\n}\n return", "parameter and operand must be of one type"},
    {"return i32 1", "wrong number of values"},
    {"if i32 1 {\n yield\n} else {\n yield\n}\n return", "the condition must be one bool"},
    {"block @0 i32 1 {\n yield\n}\n return", "wrong number of operands"},
    {"unreachable i32 1", "wrong number of operands"},
    /* Scopes. */
    {"block @0 {\n %0: i32 = work_dim\n yield\n}\n %1: i32 = add %0, %0\n return",
     "not defined before, in this scope"},
    {"%0: i32 = block @0 {\n yield %0\n}\n return", "not defined before, in this scope"},
    {"loop @0 (%0: i32 = i32 0) {\n break @0\n}\n %1: i32 = add %0, %0\n return", "not defined before"},
    /* Types by rule. */
    {"matrix_fill matrix f16 12 16 a ptr.private 0x0, f16 1.0\n return", "there is no such matrix"},
    {"matrix_fill matrix i32 16 16 a ptr.private 0x0, i32 1\n return", "there is no such matrix"},
    {"matrix_fill ptr.private 0x0, f16 1.0\n return", "does not tell of as many matrices"},
    {"matrix_fill matrix f16 16 16 a ptr.local 0x0, f16 1.0\n return", "a pointer to private memory"},
    {"matrix_fill matrix f16 16 16 a ptr.private 0x0, f32 1.0\n return", "must be of the element's type"},
    {"matrix_load matrix f16 16 16 a ptr.private 0x0, ptr.local 0x0, i32 1\n return",
     "operand 2 must be i64"},
    {"matrix_store matrix f16 16 16 a ptr.private 0x0, ptr.constant 0x0, i64 1\n return",
     "cannot be written"},
    {"matrix_convert matrix f16 16 16 a matrix f16 16 8 a ptr.private 0x0, ptr.private 0x0\n return",
     "keeps the shape"},
    {"matrix_multiply_add matrix f32 16 16 accumulator matrix f16 16 16 a matrix i8 16 16 b ptr.private 0x0, "
     "ptr.private 0x0, "
     "ptr.private 0x0\n return",
     "there is no such product"},
    {"%0: i32 = matrix_get matrix f16 16 16 a ptr.private 0x0, i32 0\n return", "must be of its type"},
    {"%0: i32 = matrix_row matrix f16 16 16 a i64 0\n return", "operand 0 must be i32"},
    {"%0: i32 = ldmatrix ptr.global 0x0\n return", "a pointer to local memory"},
    {"%0: i32, %1: i32, %2: i32 = ldmatrix ptr.local 0x0\n return", "it gives 1, 2 or 4 words"},
    {"%0: i32 = mma matrix f16 16 8 accumulator i32 0\n return", "it tells of three matrices"},
    {"%0: i32 = add i32 1, i64 1\n return", "operands and result must be of one type"},
    {"%0: f32 = add f32 1.0, f32 1.0\n return", "the type must be an integer"},
    {"%0: bool = add bool true, bool true\n return", "the type must be an integer"},
    {"%0: f32 = xor f32 1.0, f32 1.0\n return", "the type must be an integer or bool"},
    {"%0: i32 = fadd i32 1, i32 1\n return", "the type must be a float"},
    {"%0: i32 = add i32 1\n return", "wrong number of operands"},
    {"add i32 1, i32 1\n return", "wrong number of results"},
    {"%0: i32 = eq i32 1, i32 1\n return", "the result must be bool"},
    {"%0: bool = slt bool true, bool true\n return", "operands must be integers"},
    {"%0: bool = slt %buf, %buf\n return", "operands must be integers"},
    {"%0: bool = feq i32 1, i32 1\n return", "operands must be floats"},
    {"%0: bool = eq i32 1, i64 1\n return", "operands must be of one type"},
    {"%0: i64 = trunc i32 1\n return", "trunc goes from"},
    {"%0: i8 = zext i32 1\n return", "to a wider integer"},
    {"%0: f32 = fconvert i32 1\n return", "fconvert goes from float to float"},
    {"%0: f32 = f2s f32 1.0\n return", "from float to integer"},
    {"%0: f32 = s2f bool true\n return", "s2f goes from integer"},
    {"%0: f32 = u2f f32 1.0\n return", "u2f goes from"},
    {"%0: i32 = ptr2int %buf\n return", "ptr2int goes from"},
    {"%0: ptr.global = int2ptr i32 1\n return", "int2ptr goes from"},
    {"%0: ptr.local = ptr_cast %buf\n return", "ptr_cast goes from"},
    {"%0: ptr.generic = ptr_cast ptr.constant 0x0\n return", "ptr_cast goes from"},
    {"%0: i32x2 = sext i16 1\n return", "keeps the number of lanes"},
    {"%0: i64 = bitcast i32 1\n return", "keeps the number of bits"},
    {"%0: i64 = bitcast %buf\n return", "bitcast takes and gives numbers"},
    {"%0: i32 = select i32 1, i32 1, i32 2\n return", "the condition must be bool"},
    {"%0: i32 = select bool true, i32 1, i64 2\n return", "operands 1 and 2 and the result"},
    {"%0: i32x4 = vector i32 1, i32 2\n return", "one operand a lane"},
    {"%0: i32x2 = vector i32 1, i64 2\n return", "of the element's type"},
    {"%0: i32 = splat i32 1\n return", "splat takes the vector's element"},
    {"%0: i32 = extract [0] i32 1\n return", "takes a vector and gives its element"},
    {"%0: i32 = extract_dynamic i32x2 1, f32 1.0\n return", "must be a scalar integer"},
    {"%0: i32x2 = insert [0] i32x2 1, i64 1\n return", "operand 1 must be of the element's type"},
    {"%0: i32x2 = shuffle [0, 1] i32x2 1, i32x4 1\n return", "operands must be of one type"},
    {"%0: f32x2 = shuffle [0, 1] i32x2 1, i32x2 1\n return", "shuffle goes from vectors"},
    {"%0: ptr.global = var size 4 align 4\n return", "a pointer to its space"},
    {"%0: ptr.global = ptr_add %buf, i32 1\n return", "operand 1 must be i64"},
    {"%0: ptr.local = ptr_add %buf, i64 1\n return", "one pointer type"},
    {"%0: i32 = load align 4 i64 1\n return", "operand 0 must be a pointer"},
    {"%0: bool = load align 4 %buf\n return", "only numbers and pointers can be loaded"},
    {"store align 4 %buf, bool true\n return", "only numbers and pointers can be stored"},
    {"store align 4 %table, i32 1\n return", "cannot be written"},
    {"store align 4 %struct, i32 1\n return", "cannot be written"},
    {"copy size 4 align 4 %buf, i32 1\n return", "operand 1 must be a pointer"},
    {"copy async size 4 align 4 %buf, %buf\n return", "from global to local memory"},
    {"copy async size 4 align 4 %tile, %table\n return", "from global to local memory"},
    {"copy async size 8 align 4 %tile, %buf\n return", "of 4, 8 or 16 bytes, aligned to as many"},
    {"copy async size 12 align 16 %tile, %buf\n return", "of 4, 8 or 16 bytes, aligned to as many"},
    {"%0: i64 = async_commit i32 0\n return", "events are i32"},
    {"async_wait i64 0\n return", "events are i32"},
    {"%0: i8 = atomic_rmw combine add align 1 %buf, i8 1\n return", "scalars of 32 or 64 bits"},
    {"%0: i32 = atomic_rmw combine add align 4 %buf, i64 1\n return", "of one type"},
    {"%0: i32x2 = atomic_load align 8 %buf\n return", "scalars of 32 or 64 bits"},
    {"%0: i32 = global_id [0]\n return", "the result must be i64"},
    {"%0: i64 = work_dim\n return", "the result must be i32"},
    {"%0: i32 = group_all scope work_group i32 1\n return", "it takes and gives a bool"},
    {"%0: i32x2 = group_reduce combine add scope work_group i32x2 1\n return", "one scalar number"},
    {"%0: i32 = group_broadcast scope work_group i32 1, i64 1\n return", "operand 1 must be i32"},
    {"%0: i32 = sub_group_ballot bool true\n return", "gives i32x4"},
    {"%0: i64 = printf #0 i32 1\n return", "the result must be i32"},
    {"%0: i32 = printf #0 bool true\n return", "operands must be numbers or pointers"},
    {"call @helper\n return", "wrong number of arguments"},
    {"%0: f32 = call @helper i32 1\n return", "an argument differs"},
    {"call @helper f32 1.0\n return", "the result differs"},
    /* Attributes and flags. */
    {"%0: i32 = extract [4] i32x4 1\n return", "the vector has no such lane"},
    {"%0: i32x2 = shuffle [0, 4] i32x2 1, i32x2 1\n return", "the vectors have no such lane"},
    {"%0: i32 = load align 3 %buf\n return", "power of two"},
    {"%0: ptr.private = var size 4 align 0\n return", "a variable's alignment"},
    {"%0: i32 = work_dim\n %1: ptr.private = var size 4 align 4\n return", "only at the start"},
    {"block @0 {\n %1: ptr.private = var size 4 align 4\n yield\n}\n return", "only at the start"},
    {"%0: i64 = global_id [3]\n return", "dimensions are 0, 1 and 2"},
    {"%0: ptr.local = local #0\n return", "no such local"},
    {"%0: ptr.constant = global #2\n return", "no such constant"},
    {"%0: i32 = printf #1\n return", "it must name a format"},
    {"%0: i32 = atomic_load order release align 4 %buf\n return", "a load does not release"},
    {"atomic_store order acquire align 4 %buf, i32 1\n return", "a store does not acquire"},
    {"%0: i32 = atomic_cas fail acq_rel align 4 %buf, i32 1, i32 1\n return", "does not release"},
    {"%0: i32 = atomic_rmw combine fadd align 4 %buf, i32 1\n return", "does not combine this way"},
    {"%0: i32 = group_reduce combine sub scope work_group i32 1\n return", "does not combine this way"},
    {"barrier local scope device\n return", "sub_group or work_group"},
    {"%0: f32 = fadd nsw f32 1.0, f32 1.0\n return", "a flag that the op does not have"},
    {"return !1:1:7", "in no file of the module"},
};

static void broken_bodies_are_refused(void **state) {
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        const char *frame =
            "constant #0 size 1 align 1 format zero\n"
            "constant #1 size 1 align 1 zero\n"
            "kernel @k(%%buf: ptr.global buffer, %%table: ptr.constant buffer, %%struct: ptr.param "
            "struct, %%tile: ptr.local local) {\n%s\n}\n"
            "function @helper(%%0: f32) -> i32 {\n return i32 1\n}\n";
        ir_module *module = ir_parsed(*state, qn__arena_printf(*state, frame, bodies[i][0]));
        const char *broken = qn__ir_verify(*state, module);
        if (!broken || !strstr(broken, bodies[i][1])) fail_msg("got \"%s\" for:\n%s", broken, bodies[i][0]);
    }
}

static void broken_modules_are_refused(void **state) {
    static const char *const modules[][2] = {
        {"kernel @k() -> i32 {\n return i32 1\n}", "a kernel gives no result"},
        {"kernel @k(%0: ptr.global value) {\n return\n}", "a value argument is no pointer"},
        {"kernel @k(%0: ptr.local buffer) {\n return\n}", "a buffer argument is"},
        {"kernel @k(%0: ptr.global local) {\n return\n}", "a local argument is"},
        {"kernel @k(%0: ptr.global struct) {\n return\n}", "a struct argument is"},
        {"kernel @k() local #0 size 4 align 5 {\n return\n}", "a local's alignment"},
        {"constant #0 size 1 align 0 zero", "a constant's alignment"},
        {"constant #0 \"a\" size 1 align 1 zero\nconstant #1 \"a\" size 1 align 1 zero", "the same name"},
        {"constant #0 size 8 align 8 zero at 1 #0 0", "outside its constant"},
        {"constant #0 size 8 align 8 zero at 0 #1 0", "a relocation to no constant"},
        {"function @f() -> i32 {\n return\n}", "wrong number of values"},
        {"function @f() -> i32 {\n return f32 1.0\n}", "a value of the wrong type"},
    };
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++) {
        const char *broken = qn__ir_verify(*state, ir_parsed(*state, modules[i][0]));
        if (!broken || !strstr(broken, modules[i][1])) fail_msg("got \"%s\" for:\n%s", broken, modules[i][0]);
    }
}

/* A sound function to break: two blocks, one in the other, and a sum. */
static ir_function *sound(qn__arena *arena) {
    return ir_parsed(arena, "function @f(%0: i32) -> i32 {\n"
                            "    %1: i32 = add %0, i32 1\n"
                            "    block @0 {\n yield\n }\n"
                            "    block @1 {\n yield\n }\n"
                            "    return %1\n"
                            "}\n")
        ->functions.data[0];
}

static void refused(qn__arena *arena, const ir_function *f, const char *message) {
    const char *broken = qn__ir_verify(arena, f->module);
    if (!broken || !strstr(broken, message)) fail_msg("got \"%s\", expected \"%s\"", broken, message);
}

static void broken_structures_are_refused(void **state) {
    ir_function *f = sound(*state);
    assert_null(qn__ir_verify(*state, f->module));
    f->body->first->results[0]->id = 0;
    refused(*state, f, "two values have the same id");

    f = sound(*state);
    f->body->first->results[0]->id = 1000;
    refused(*state, f, "without a proper id");

    f = sound(*state);
    f->body->first->results[0]->def = f->body->last;
    refused(*state, f, "does not know its definition");

    f = sound(*state);
    f->body->first->operands[1] = qn__ir_const_int(sound(*state), IR_I32, 1);
    refused(*state, f, "a constant that is not this function's");

    f = sound(*state);
    f->body->first->operands[1] = NULL;
    refused(*state, f, "an operand without a proper id");

    f = sound(*state);
    f->body->first->next->prev = NULL;
    refused(*state, f, "a region's list is broken");

    f = sound(*state);
    f->body->first->next->regions[0]->owner = NULL;
    refused(*state, f, "does not know its owner");

    f = sound(*state);
    ir_instr *first = f->body->first->next, *second = first->next;
    first->regions[0]->last->op = IR_BREAK;
    first->regions[0]->last->attr.target = second;
    refused(*state, f, "the jump's target is not around it");

    f = sound(*state);
    f->body->first->num_regions = 1;
    refused(*state, f, "wrong number of regions");

    f = sound(*state);
    f->body->first->op = IR_OP_COUNT;
    refused(*state, f, "no known op");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(broken_bodies_are_refused, ir_setup, ir_teardown),
        cmocka_unit_test_setup_teardown(broken_modules_are_refused, ir_setup, ir_teardown),
        cmocka_unit_test_setup_teardown(broken_structures_are_refused, ir_setup, ir_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
