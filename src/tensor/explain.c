/* What would be computed, for people: a line for each kernel, its text, or a picture of kernels and of the values that go from one to the
   other. */
#include <stdio.h>
#include <string.h>

#include "tensor/plan.h"

typedef struct explainer {
    qn_tensors *tensors;
    const qn_explain_desc *desc;
    qn_text_callback *callback;
    void *user;
} explainer;

static const char *words_of(const qn__step *step) { return step->fuses ? step->fuses : ""; }

static qn_status tell_lines(void *user, const qn__walk *walk, const qn__step *steps, size_t count) {
    const explainer *e = user;
    char line[512];
    (void)walk;
    for (size_t i = 0; i < count; i++) {
        snprintf(line, sizeof line, "kernel %u: %llu bytes, %llu operations: %.400s", (unsigned)i,
                 (unsigned long long)steps[i].bytes, (unsigned long long)steps[i].operations,
                 words_of(&steps[i]));
        e->callback(e->user, line);
        if (e->desc->text && steps[i].text) e->callback(e->user, steps[i].text);
    }
    return QN_OK;
}

/* ---- a picture ---- */

enum { BOX_WIDTH = 230, BOX_HEIGHT = 40, COLUMN = 250, ROW = 84, MARGIN = 16 };

/* Where a kernel is: below all whose values it needs. */
typedef struct box {
    uint32_t row, column;
} box;

typedef struct picture {
    const explainer *e;
    const qn__walk *walk;
    const qn__step *steps;
    size_t count;
    box *boxes;
    uint32_t *makers; /* by node: 1 + the step that makes it; 0: none has yet */
    uint32_t *used;   /* columns of each row */
} picture;

/* The node of an argument that is made by a step, or QN__NONE. */
static uint32_t made_value(const picture *p, const qn__argument *argument) {
    if (argument->kind != QN__BUFFER || argument->node == QN__NONE) return QN__NONE;
    return p->walk->nodes[argument->node]->realised ? QN__NONE : argument->node;
}

/* A value that nothing has made before is what the step makes. */
static void place_box(picture *p, uint32_t number) {
    const qn__step *step = &p->steps[number];
    box *b = &p->boxes[number];
    for (uint32_t a = 0; a < step->num_arguments; a++) {
        const uint32_t node = made_value(p, &step->arguments[a]);
        if (node == QN__NONE) continue;
        if (!p->makers[node]) p->makers[node] = number + 1;
        const uint32_t maker = p->makers[node] - 1;
        if (maker != number && p->boxes[maker].row + 1 > b->row) b->row = p->boxes[maker].row + 1;
    }
    b->column = p->used[b->row]++;
}

static void draw_arrows(const picture *p, uint32_t number) {
    const qn__step *step = &p->steps[number];
    const box *to = &p->boxes[number];
    char line[384];
    for (uint32_t a = 0; a < step->num_arguments; a++) {
        const uint32_t node = made_value(p, &step->arguments[a]);
        if (node == QN__NONE || p->makers[node] - 1 == number) continue;
        const box *from = &p->boxes[p->makers[node] - 1];
        snprintf(line, sizeof line,
                 "<line x1=\"%u\" y1=\"%u\" x2=\"%u\" y2=\"%u\"><title>%s</title></line>\n",
                 (unsigned)(MARGIN + from->column * COLUMN + BOX_WIDTH / 2),
                 (unsigned)(MARGIN + from->row * ROW + BOX_HEIGHT),
                 (unsigned)(MARGIN + to->column * COLUMN + BOX_WIDTH / 2), (unsigned)(MARGIN + to->row * ROW),
                 qn__describe(p->walk->nodes[node]).text);
        p->e->callback(p->e->user, line);
    }
}

static void draw_box(const picture *p, uint32_t number) {
    const qn__step *step = &p->steps[number];
    const box *b = &p->boxes[number];
    const unsigned x = MARGIN + b->column * COLUMN, y = MARGIN + b->row * ROW;
    const bool is_long = strlen(words_of(step)) > 34;
    char text[1024];
    snprintf(
        text, sizeof text,
        "<g class=\"%s\"><title>%.400s</title><rect x=\"%u\" y=\"%u\" width=\"%d\" height=\"%d\" rx=\"4\"/>"
        "<text x=\"%u\" y=\"%u\">%u: %.*s%s</text><text x=\"%u\" y=\"%u\">%.4g MB, %.4g MFLOP</text></g>\n",
        step->call == QN__NONE ? "made" : "call", words_of(step), x, y, BOX_WIDTH, BOX_HEIGHT, x + 6, y + 16,
        (unsigned)number, is_long ? 32 : 34, words_of(step), is_long ? "..." : "", x + 6, y + 32,
        (double)step->bytes * 1e-6, (double)step->operations * 1e-6);
    p->e->callback(p->e->user, text);
}

static void draw_all(const picture *p) {
    uint32_t rows = 0, columns = 0;
    char text[640];
    for (size_t i = 0; i < p->count; i++) {
        if (p->boxes[i].row + 1 > rows) rows = p->boxes[i].row + 1;
        if (p->boxes[i].column + 1 > columns) columns = p->boxes[i].column + 1;
    }
    snprintf(
        text, sizeof text,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" font-family=\"sans-serif\" "
        "font-size=\"12\">\n<style>.made rect{fill:#dceaf7}.call rect{fill:#f7e6d0}rect{stroke:#555}"
        "line{stroke:#888}</style>\n",
        (unsigned)(2 * MARGIN + columns * COLUMN), (unsigned)(2 * MARGIN + rows * ROW));
    p->e->callback(p->e->user, text);
    for (uint32_t i = 0; i < p->count; i++) draw_arrows(p, i);
    for (uint32_t i = 0; i < p->count; i++) draw_box(p, i);
    p->e->callback(p->e->user, "</svg>\n");
}

static qn_status draw(void *user, const qn__walk *walk, const qn__step *steps, size_t count) {
    const explainer *e = user;
    qn_tensors *tensors = e->tensors;
    picture p = {.e = e, .walk = walk, .steps = steps, .count = count};
    p.boxes = qn__tensors_allocate(tensors, (count + 1) * sizeof *p.boxes);
    p.used = qn__tensors_allocate(tensors, (count + 1) * sizeof *p.used);
    p.makers = qn__tensors_allocate(tensors, (walk->count + 1) * sizeof *p.makers);
    const bool has_memory = p.boxes && p.used && p.makers;
    for (uint32_t i = 0; i < count && has_memory; i++) place_box(&p, i);
    if (has_memory) draw_all(&p);
    qn__tensors_release(tensors, p.boxes);
    qn__tensors_release(tensors, p.used);
    qn__tensors_release(tensors, p.makers);
    return has_memory ? QN_OK : QN_ERROR_OUT_OF_MEMORY;
}

qn_status qn__explain(qn_tensors *tensors, qn__node *const *asked, size_t count, const qn_explain_desc *desc,
                      qn_text_callback *callback, void *user) {
    static const qn_explain_desc lines = {.text = false};
    explainer e = {tensors, desc ? desc : &lines, callback, user};
    return qn__plan_visit(tensors, asked, count, e.desc->svg ? draw : tell_lines, &e);
}
