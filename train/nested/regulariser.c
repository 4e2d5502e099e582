/* regulariser.c -- weight decay row by row; see regulariser.h. */
#include "train/nested/regulariser.h"
#include "train/sampling/numbers.h"
#include <math.h>
#include <string.h>

taper_status train_regulariser_parse(train_regulariser *r, const char *text, taper_error *error) {
    static const struct {
        const char *name;
        train_regulariser made;
    } kinds[] = {{"l1:", {TRAIN_PENALTY_L1, 0, 0.0}},
                 {"l2:", {TRAIN_PENALTY_L2, 0, 0.0}},
                 {"adaptive-l1:", {TRAIN_PENALTY_L1, 1, 0.0}},
                 {"adaptive-l2:", {TRAIN_PENALTY_L2, 1, 0.0}}};
    *r = (train_regulariser){0};
    if (!strcmp(text, "none")) return TAPER_OK;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t length = strlen(kinds[i].name);
        if (strncmp(text, kinds[i].name, length) != 0) continue;
        double strength;
        const char *rest = train_number(text + length, &strength);
        if (!rest || *rest || !(strength > 0.0))
            return formats_fail(error, TAPER_ERR_ARG,
                                "\"%.60s\": the %s behind \"%s\" has to be a number above 0", text,
                                kinds[i].made.adaptive ? "ratio" : "coefficient", kinds[i].name);
        *r = kinds[i].made;
        r->strength = strength;
        return TAPER_OK;
    }
    return formats_fail(error, TAPER_ERR_ARG,
                        "\"%.60s\" is no regulariser: there are none, l1:LAMBDA, l2:LAMBDA, "
                        "adaptive-l1:RATIO and adaptive-l2:RATIO",
                        text);
}

/* --- one row -------------------------------------------------------------------------- */

/* The penalty's gradient at one weight. */
static inline float gradient_l1(float w) { return (float)(w > 0.0f) - (float)(w < 0.0f); }

/* The square of the norm of the penalty's gradient. */
static double gradient_square(train_penalty kind, size_t n, const float *w) {
    if (kind == TRAIN_PENALTY_L2) return train_dot(n, w, w);
    size_t count = 0;
    for (size_t i = 0; i < n; i++) count += w[i] != 0.0f;
    return (double)count;
}

static double row_coefficient(const train_regulariser *r, size_t n, const float *w,
                              const float *gradient) {
    if (!r->adaptive) return r->strength;
    double own = train_dot(n, gradient, gradient), penalty = gradient_square(r->kind, n, w);
    return penalty > 0.0 ? r->strength * sqrt(own) / sqrt(penalty) : 0.0;
}

void train_regularise_rows(const train_regulariser *r, size_t first, size_t rows, size_t inputs,
                           const float *weight, float *gradient, double *lambda) {
    for (size_t row = 0; row < rows; row++) {
        const float *w = weight + (first + row) * inputs;
        float *g = gradient + (first + row) * inputs;
        double l = r->kind == TRAIN_PENALTY_NONE ? 0.0 : row_coefficient(r, inputs, w, g);
        if (lambda) lambda[row] = l;
        if (r->kind == TRAIN_PENALTY_L1)
            for (size_t i = 0; i < inputs; i++) g[i] = (float)(g[i] + l * gradient_l1(w[i]));
        if (r->kind == TRAIN_PENALTY_L2)
            for (size_t i = 0; i < inputs; i++) g[i] = (float)(g[i] + l * w[i]);
    }
}

double train_regulariser_value(const train_regulariser *r, size_t first, size_t rows, size_t inputs,
                               const float *weight) {
    if (r->kind == TRAIN_PENALTY_NONE || r->adaptive) return 0.0;
    const float *w = weight + first * inputs;
    size_t n = rows * inputs;
    if (r->kind == TRAIN_PENALTY_L2) return 0.5 * r->strength * train_dot(n, w, w);
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) sum += fabs((double)w[i]);
    return r->strength * sum;
}
