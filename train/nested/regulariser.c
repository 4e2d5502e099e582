/* regulariser.c -- weight decay by row; see regulariser.h. */
#include "train/nested/regulariser.h"
#include "train/sampling/numbers.h"
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
                        "\"%.60s\" is not a regulariser: there are none, l1:LAMBDA, l2:LAMBDA, "
                        "adaptive-l1:RATIO and adaptive-l2:RATIO",
                        text);
}

taper_status train_regularise(const train_regulariser *r, train_stream *stream, train_decay rows) {
    if (r->kind == TRAIN_PENALTY_NONE) return TAPER_OK;
    rows.penalty = r->kind, rows.strength = r->strength;
    if (rows.coefficient != TRAIN_COEFFICIENT_GIVEN)
        rows.coefficient = r->adaptive ? TRAIN_COEFFICIENT_ADAPTIVE : TRAIN_COEFFICIENT_FIXED;
    return stream->ops->decay(stream, &rows);
}
