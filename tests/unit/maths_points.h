/* Where functions of the maths library are tried on purpose: at the ends of their type, at the constants that the
   library's texts compare with (read from src/lib, so that a new branch is tried without a word here), at what is
   listed below, and one ulp to each side of each, with both signs. Functions of two arguments get all pairs. */
#ifndef MATHS_POINTS_H
#define MATHS_POINTS_H

#include <dirent.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_POINTS = 400 };

typedef struct points {
    double values[MAX_POINTS];
    size_t count;
} points;

/* Where results leave the range or become denormal, and other arguments that the texts do not compare with. */
static const struct {
    const char *functions; /* with a space on each side */
    double values[24];     /* up to the first zero */
} known_points[] = {
    {" exp expm1 sinh cosh tanh ",
     {88.72283, -87.33654, -103.97208, 709.782712893384, -708.3964185322641, -745.1332191019411, 89.41598,
      710.4758600739439, 0.34657359027997264, 0.6931471805599453, 17.32868, 36.7368}},
    {" exp2 ", {128, -126, -149, -150, 1024, -1022, -1074, -1075, 0.5, 16, -14, -24, -25}},
    {" exp10 ",
     {38.53184, -37.929779, -45.154499, 308.2547155599167, -307.6526555685888, -323.6, 0.15051499783199}},
    {" log log2 log10 log1p ",
     {0.7071067811865476, 1.4142135623730951, -0.2928932188134524, 0.41421356237309505}},
    {" sin cos tan ",
     {0.7853981633974483, 1.5707963267948966, 2.356194490192345, 3.141592653589793, 6.283185307179586, 1e5,
      0x1.921fb6p16, 0x1.6ac5b262ca1ffp+849, -0x1.3bffffffffcp+529, 0x1p31, 0x1p63, 0x1.2p100}},
    {" sinpi cospi tanpi ", {0.25, 0.75, 1.25, 1.5, 0x1p22, 0x1p23, 0x1p51, 0x1p52, 0x1p31, 0x1p63}},
    {" cbrt ", {8, 64, 0.125, 0x1p-126, 0x1p-149, 0x1p-1022}},
    {" erf erfc ", {4, 9.194549, 10.054474, 26.543258, 27.226017}},
    {" tgamma lgamma ",
     {1, 2, 3, 3.5, 4.5, 5, 11, 33.5, 34, 35.0401, 171.6243769563027, 170, 182.5, 0x1p23, 0x1p52, 1e36}},
    {" pow powr pown rootn ",
     {1.5,
      3,
      128,
      126,
      149,
      150,
      1024,
      1022,
      1074,
      1075,
      160,
      140,
      1100,
      1030,
      0x1p23,
      0x1p52,
      0x1p31,
      0x1p63,
      0.7071067811865476,
      1.4142135623730951,
      0x1.fffffep-1,
      0x1.000002p0}},
    {" hypot ", {0x1p120, 0x1p-120, 0x1p1000, 0x1p-1000, 0x1p-12, 0x1p-26, 3, 4}},
    {" fmod remainder remquo_bits ", {0x1p21, 0x1p40, 0x1p49, 0x1p126, 3, 7, 0x1p1022, 0x1p-1000}},
};

static void add_value(points *p, double value) {
    value = fabs(value);
    for (size_t i = 0; i < p->count; i++)
        if (p->values[i] == value) return;
    if (p->count < MAX_POINTS) p->values[p->count++] = value;
}

/* The float constants of a line that compares. */
static void add_constants(points *p, const char *line) {
    if (!strpbrk(line, "<>")) return;
    for (const char *at = line; *at;) {
        bool is_number =
            *at >= '0' && *at <= '9' && (at == line || !strchr("abcdefghijklmnopqrstuvwxyz_", at[-1]));
        if (!is_number) {
            at++;
            continue;
        }
        char *end;
        double value = strtod(at, &end);
        if (memchr(at, '.', (size_t)(end - at)) || memchr(at, 'p', (size_t)(end - at))) add_value(p, value);
        at = end;
    }
}

/* Whether the line begins the text of the function. */
static bool defines(const char *line, const char *name) {
    static const char *const types[] = {"float ", "double ", "int ", "T "};
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        size_t skip = strlen(types[i]);
        if (!strncmp(line, types[i], skip) && !strncmp(line + skip, name, length) &&
            line[skip + length] == '(')
            return true;
    }
    return false;
}

static void add_file(points *p, const char *path, const char *name) {
    char line[1024];
    points found = {.count = 0};
    bool is_wanted = !name;
    FILE *file = fopen(path, "r");
    if (!file) return;
    while (fgets(line, sizeof line, file)) {
        add_constants(&found, line);
        is_wanted |= name && defines(line, name);
    }
    fclose(file);
    for (size_t i = 0; i < found.count && is_wanted; i++) add_value(p, found.values[i]);
}

/* Of all texts, or of the one that defines the function `name`. Gives whether any text was there to read. */
static bool add_texts(points *p, const char *folder, const char *name) {
    DIR *listing = opendir(folder);
    bool any = false;
    if (!listing) return false;
    for (struct dirent *entry; (entry = readdir(listing));) {
        char path[1024];
        size_t length = strlen(entry->d_name);
        if (length < 3 || strcmp(entry->d_name + length - 3, ".cl") || !strcmp(entry->d_name, "poly.cl"))
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        add_file(p, path, name);
        any = true;
    }
    closedir(listing);
    return any;
}

static void add_known(points *p, const char *name) {
    char word[64];
    snprintf(word, sizeof word, " %s ", name);
    for (size_t i = 0; i < sizeof known_points / sizeof *known_points; i++)
        for (const double *v = known_points[i].values; strstr(known_points[i].functions, word) && *v; v++)
            add_value(p, *v);
}

/* The ends of a type whose least number is 2^lowest, with `digits` bits, below 2^highest; and where its integers end. */
static void add_ends(points *p, int lowest, int digits, int highest) {
    const double ends[] = {0,
                           ldexp(1, lowest),
                           ldexp(3, lowest),
                           ldexp(1, lowest + digits / 2),
                           ldexp(1, lowest + digits - 1), /* the least normal number */
                           ldexp(1, lowest + digits),
                           ldexp(1, highest - 2),
                           ldexp(1, highest - 1),
                           INFINITY,
                           NAN,
                           ldexp(1, digits - 1),
                           ldexp(1, digits),
                           0.5,
                           1,
                           1.5,
                           2,
                           2.5};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) add_value(p, ends[i]);
}

#endif
