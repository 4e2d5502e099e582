/* recipes.h -- what the corpus holds. To add a feature, add models and containers that have it, and
 * a row to `flavours`, which is tried with every model. */
#ifndef TESTS_CONFORMANCE_RECIPES_H
#define TESTS_CONFORMANCE_RECIPES_H
#include "container_files.h"
#include "model_files.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* --- models ------------------------------------------------------------------------------ */

/* clang-format off */
static const model_recipe models[] = {
    {"grey", .channels = 1, .width = 4, .height = 4, .units = 10, .planes = 5,
     .scales = 1},
    {"colour", .channels = 3, .width = 4, .height = 3, .units = 12, .planes = 5,
     .scales = 1, .each_step = 1, .stores_analysis = 1, .family = 1},
    {"parts", .channels = 1, .width = 4, .height = 4, .units = 9, .planes = 4,
     .fractions = 3, .scales = 1},
    {"causal", .channels = 1, .width = 4, .height = 4, .units = 9, .planes = 5,
     .causal = 1, .scales = 1},
    {"conditional", .channels = 1, .width = 4, .height = 4, .units = 8, .planes = 4,
     .conditional = 4, .scales = 1},
    {"head", .channels = 1, .width = 4, .height = 4, .units = 8, .planes = 4,
     .head = 3},
    {"lapped", .channels = 3, .width = 4, .height = 4, .units = 9, .planes = 4,
     .lap = 2, .scales = 1},
    {"conv", .family = 2, .channels = 1, .width = 4, .height = 2, .units = 7,
     .planes = 5, .restore = 3, .scales = 1},
    {"dense", .family = 1, .channels = 1, .width = 4, .height = 4, .units = 8,
     .planes = 4, .depth = 2, .activation = 1, .scales = 1, .plain = 1},
    {"direct", .family = 1, .channels = 1, .width = 4, .height = 4, .units = 8,
     .planes = 4, .depth = 1, .direct = 1, .scales = 1, .plain = 1},
    {"binary", .family = 1, .channels = 3, .width = 4, .height = 4, .units = 20,
     .depth = 2, .activation = 1, .direct = 1, .binary = 1},
    {"paired", .channels = 1, .width = 4, .height = 4, .units = 9, .planes = 4,
     .fractions = 2, .lap = 1, .conditional = 2, .scales = 1},
    {"everything", .family = 2, .channels = 3, .width = 4, .height = 4, .units = 9,
     .planes = 4, .fractions = 4, .causal = 1, .each_step = 1, .lap = 2, .conditional = 3,
     .head = 2, .restore = 2, .scales = 1},
    /* and some for a file or two each */
    {"many-units", .channels = 3, .width = 4, .height = 4, .units = 44, .planes = 3,
     .causal = 1, .scales = 1},
    {"large-scales", .channels = 1, .width = 4, .height = 4, .units = 8, .planes = 4,
     .head = 2, .scales = 2, .plain = 1},
    {"small-scales", .channels = 1, .width = 4, .height = 4, .units = 9, .planes = 5,
     .causal = 1, .conditional = 6, .scales = 3},
    {"logistic", .family = 1, .channels = 1, .width = 4, .height = 4, .units = 8,
     .planes = 4, .depth = 3, .direct = 1, .activation = 2, .scales = 1, .loose = 1, .plain = 1},
    {"binary-tied", .family = 1, .channels = 1, .width = 4, .height = 4, .units = 12,
     .depth = 2, .direct = 1, .binary = 1, .tied_stacks = 1},
    {"untied", .family = 1, .channels = 1, .width = 4, .height = 4, .units = 6,
     .planes = 4, .depth = 2, .activation = 1, .stores_analysis = 1, .plain = 1},
    {"one-layer", .family = 1, .channels = 1, .width = 4, .height = 4, .units = 12,
     .depth = 1, .direct = 1, .binary = 1},
    {"parts-head", .channels = 1, .width = 4, .height = 4, .units = 8, .planes = 4,
     .fractions = 2, .head = 3},
    {"rare", .channels = 1, .width = 4, .height = 4, .units = 9, .planes = 4, .rare = 1,
     .conditional = 2, .scales = 1},
    {"rare-parts", .channels = 1, .width = 4, .height = 4, .units = 9, .planes = 4, .rare = 1,
     .fractions = 3, .scales = 1},
    {"pixel", .channels = 1, .width = 1, .height = 1, .units = 1, .planes = 5,
     .plain = 1},
    {"steep", .channels = 3, .width = 4, .height = 4, .units = 9, .planes = 4,
     .fractions = 2, .lap = 2, .head = 2, .scales = 1, .steep = 1},
    {"feedback", .family = 1, .channels = 1, .width = 4, .height = 4, .units = 13,
     .depth = 2, .activation = 1, .direct = 1, .binary = 1, .feedback = 1},
    {"feedback-tied", .family = 1, .channels = 3, .width = 4, .height = 2, .units = 30,
     .depth = 1, .direct = 1, .binary = 1, .tied_stacks = 1, .feedback = 1},
    {"embedding", .family = 1, .channels = 1, .width = 4, .height = 4, .units = 3, .depth = 3,
     .activation = 2, .direct = 1, .embedding = 1},
    {"embedding-pixel", .family = 1, .channels = 1, .width = 1, .height = 1, .units = 1,
     .depth = 1, .direct = 1, .embedding = 1},
    {"embedding-bits", .family = 1, .channels = 1, .width = 4, .height = 4, .units = 9, .depth = 2,
     .activation = 1, .direct = 1, .binary = 1, .embedding = 1},
};
enum { CROSSED = 13 /* of these, which go with every flavour */ };

/* --- illegal ones ------------------------------------------------------------------------ */

typedef struct bad_model {
    const char *like; /* a model of the list above */
    const char *name;
    model_fault fault;
    const char *outcome;
} bad_model;
static const bad_model bad_models[] = {
    {"pixel", "magic", BAD_MAGIC, "corrupt"},
    {"pixel", "version-0", VERSION_0, "corrupt"},
    {"pixel", "version-2", VERSION_2, "unknown"},
    {"pixel", "version-4", VERSION_4, "unknown"},
    {"pixel", "reserved", RESERVED, "corrupt"},
    {"pixel", "header-checksum", HEADER_CHECKSUM, "corrupt"},
    {"pixel", "id", ID, "corrupt"},
    {"pixel", "cut", CUT, "incomplete"},
    {"pixel", "trailing", TRAILING, "corrupt"},
    {"pixel", "more", MORE, "corrupt"},
    {"pixel", "family", FAMILY, "unknown"},
    {"pixel", "channels", CHANNELS, "corrupt"},
    {"pixel", "window", WINDOW, "corrupt"},
    {"pixel", "units", UNITS, "corrupt"},
    {"pixel", "flags", FLAGS, "corrupt"},
    {"direct", "direct-tied", DIRECT_TIED, "corrupt"},
    {"pixel", "activation", ACTIVATION, "corrupt"},
    {"pixel", "depth", DEPTH, "corrupt"},
    {"binary-tied", "gain", GAIN, "corrupt"},
    {"lapped", "reach", LAP_REACH, "corrupt"},
    {"lapped", "inverse", LAP_INVERSE, "corrupt"},
    {"conv", "odd-window", ODD_WINDOW, "corrupt"},
    {"pixel", "weight-step", WEIGHT_STEP, "corrupt"},
    {"pixel", "weight-state", WEIGHT_STATE, "corrupt"},
    {"pixel", "weight-sum", WEIGHT_SUM, "corrupt"},
    {"pixel", "step-mode", STEP_MODE, "corrupt"},
    {"parts", "parts", PARTS, "corrupt"},
    {"parts", "least", LEAST, "corrupt"},
    {"pixel", "step", STEP, "corrupt"},
    {"pixel", "planes", PLANES, "corrupt"},
    {"pixel", "scale", SCALE, "corrupt"},
    {"pixel", "slopes", SLOPES, "corrupt"},
    {"pixel", "layers", LAYERS, "corrupt"},
    {"pixel", "last-layer", LAST_LAYER, "corrupt"},
    {"one-layer", "centre", CENTRE, "corrupt"},
    {"conditional", "hidden", HIDDEN, "corrupt"},
    {"conditional", "own", OWN, "corrupt"},
    {"conditional", "stages", STAGES, "corrupt"},
    {"conditional", "weight-range", WEIGHT_RANGE, "corrupt"},
    {"conditional", "bias-step", BIAS_STEP, "corrupt"},
    {"conv", "restore-kind", RESTORE_KIND, "unknown"},
    {"conv", "restore-width", RESTORE_WIDTH, "corrupt"},
    {"conv", "restore-stages", RESTORE_STAGES, "corrupt"},
    {"conv", "restore-weights", RESTORE_WEIGHTS, "corrupt"},
    {"conv", "gains", GAINS, "corrupt"},
    {"direct", "feedback-real", FEEDBACK_REAL, "corrupt"},
    {"feedback", "diagonal", DIAGONAL, "corrupt"},
    {"feedback", "above", ABOVE, "corrupt"},
    {"embedding", "no-stacks", NO_STACKS, "corrupt"},
    {"embedding-bits", "activated-bits", ACTIVATED_BITS, "corrupt"},
    {"embedding", "conditional-embedding", CONDITIONAL_EMBEDDING, "corrupt"},
    {"embedding", "objective-letter", OBJECTIVE_LETTER, "corrupt"},
    {"embedding", "objective-length", OBJECTIVE_LENGTH, "corrupt"},
    {"embedding", "alpha-negative", ALPHA_NEGATIVE, "corrupt"},
    {"embedding", "alpha-nan", ALPHA_NAN, "corrupt"},
    {"embedding", "one-class", ONE_CLASS, "corrupt"},
    {"embedding", "many-classes", MANY_CLASSES, "corrupt"},
    {"embedding-pixel", "padding", PADDING, "corrupt"},
    {"embedding-pixel", "padding-more", PADDING_MORE, "corrupt"},
};

/* --- containers -------------------------------------------------------------------------- */

/* Of each of the first models: sizes that the window divides and does not, images of one window
 * beside them, one pixel. */
#define MIXED {{8, 8, 0, 8}, {4, 3, 0, 8}, {17, 8, 0, 8}, {1, 1, 0, 8}, {5, 9, 0, 8}}
static const container_recipe flavours[] = {
    {"set", .images = 5, .groups = 2, .layers = 3, .image = MIXED, .group = {3}, .names = 1},
    {"image", .images = 5, .image = MIXED, .one_by_one = 1, .span = 2, .labels = 1},
    {"tracks", .images = 5, .groups = 4, .layers = 3, .image = MIXED, .rate_classes = 2},
    {"tail", .images = 5, .groups = 3, .layers = 2, .image = MIXED, .tail = 1},
    {"no-tail", .images = 5, .groups = 3, .layers = 2, .image = MIXED, .tail = 2, .passes = 6},
    {"image-tail", .images = 5, .image = MIXED, .one_by_one = 1, .tail = 1, .span = 5},
    {"gallery", .images = 5, .layers = 3, .image = MIXED, .one_by_one = 2, .tail = 1, .span = 2},
    {"damaged", .images = 5, .groups = 3, .layers = 3, .image = MIXED, .span = 2, .damage = 5},
    {"raised", .images = 5, .groups = 3, .layers = 3, .image = MIXED, .span = 2, .raised = 1},
    {"single", .images = 3, .groups = 1, .layers = 2, .image = {{4, 2, 0, 8}}},
};

/* A record of the holds (SPEC 13), and their scale. */
#define HOLD(record, gap, length) ((uint64_t)((gap) | (length) << 5) << 10 * (record))
#define SCALE(scale) ((uint64_t)(scale) << 60)
static const container_recipe containers[] = {
    {"embedded", "grey", 2, 1, 2, .image = {{8, 8, 1, 8}}, .embeds = 1, .packed = 1},
    {"packed", "grey", 40, 2, 2, .image = {{1, 1, 1, 8}, {2, 2, 1, 8}}, .names = 2, .labels = 1,
     .packed = 1, .span = 2},
    {"sections", "colour", 3, 1, 1, .image = {{5, 5, 3, 8}}, .names = 1, .labels = 1, .ignored = 1},
    {"trailing", "grey", 2, 2, 2, .image = {{9, 4, 1, 8}}, .trailing = 1},
    {"empty-chunks", "grey", 4, 2, 4, .image = {{12, 8, 1, 8}}, .flat = 1},
    {"empty-parts", "parts", 4, 2, 4, .image = {{12, 8, 1, 8}}, .flat = 1, .tail = 2},
    {"group-runs", "grey", 12, 6, 2, .image = {{4, 4, 1, 8}, {7, 5, 1, 8}}, .group = {1, 1, 3, 3,
     2, 2}, .span = 4},
    {"sixteen-bits", "colour", 4, 2, 2,
     .image = {{9, 7, 3, 16}, {4, 3, 3, 8}, {5, 5, 3, 16}, {3, 3, 3, 16}}},
    {"grey-in-colour", "lapped", 4, 2, 2, .image = {{9, 7, 1, 8}, {4, 4, 3, 8}, {8, 8, 1, 16}, {6,
     6, 3, 8}}},
    {"many-tracks", "everything", 6, 6, 3, .image = {{8, 8, 3, 8}}, .rate_classes = 3, .tail = 1,
     .span = 2,
     .names = 1, .labels = 1},
    {"raised-tracks", "everything", 6, 4, 3, .image = {{9, 8, 3, 8}, {4, 4, 3, 8}},
     .rate_classes = 2,
     .tail = 1, .raised = 1, .names = 1},
    {"raised-image", "grey", 3, 3, 1, .image = {{9, 8, 1, 8}, {4, 4, 1, 8}}, .one_by_one = 1,
     .tail = 1, .raised = 1, .labels = 1},
    {"raised-damaged", "causal", 4, 3, 2, .image = {{9, 8, 1, 8}, {4, 4, 1, 8}}, .damage = 4,
     .raised = 1},
    {"raised-pixels", "pixel", 3, 1, 2, .image = {{5, 3, 1, 8}, {1, 1, 1, 8}}, .raised = 1,
     .embeds = 1, .passes = 4},
    {"raised-empty", "parts", 4, 2, 4, .image = {{12, 8, 1, 8}}, .flat = 1, .raised = 1},
    {"raised-head", "parts-head", 3, 2, 2, .image = {{8, 8, 1, 8}, {4, 4, 1, 8}}, .raised = 1},
    {"damaged-tracks", "parts", 6, 4, 3, .image = {{9, 8, 1, 8}, {4, 4, 1, 8}}, .rate_classes = 2,
     .damage = 6},
    {"damaged-last", "grey", 3, 3, 2, .image = {{8, 8, 1, 8}}, .damage = 6},
    {"damaged-tail", "grey", 3, 3, 2, .image = {{8, 8, 1, 8}}, .tail = 1, .damage = 5},
    {"many-units", "many-units", 3, 1, 2, .image = {{8, 8, 3, 8}, {13, 4, 3, 8}, {4, 4, 3, 8}}},
    {"large-scales", "large-scales", 3, 1, 2, .image = {{8, 8, 1, 8}, {4, 4, 1, 8}}},
    {"small-scales", "small-scales", 3, 1, 2, .image = {{12, 8, 1, 8}, {4, 4, 1, 8}}},
    {"logistic", "logistic", 3, 1, 2, .image = {{8, 8, 1, 8}, {4, 4, 1, 8}}},
    {"binary-tied", "binary-tied", 3, 2, 2, .image = {{8, 8, 1, 8}, {4, 4, 1, 8}}},
    {"untied", "untied", 3, 1, 2, .image = {{8, 8, 1, 8}, {4, 4, 1, 8}}},
    {"one-layer", "one-layer", 3, 1, 2, .image = {{8, 8, 1, 8}, {4, 4, 1, 8}}},
    {"parts-head", "parts-head", 3, 2, 2, .image = {{8, 8, 1, 8}, {4, 4, 1, 8}, {17, 8, 1, 8}}},
    {"pixels", "pixel", 3, 1, 2, .image = {{5, 3, 1, 8}, {1, 1, 1, 8}, {1, 7, 1, 8}}},
    {"emptied", "grey", 3, 2, 2, .image = {{8, 8, 1, 8}, {4, 4, 1, 8}}, .emptied = 1},
    {"impossible", "pixel", 2, 1, 1, .image = {{200, 196, 1, 8}}, .emptied = 1}, /* section 13 */
    {"held", "grey", 3, 1, 2, .image = {{17, 12, 1, 8}},
     .holds = HOLD(0, 3, 9) | HOLD(1, 12, 6) | HOLD(2, 7, 20)},
    {"held-tracks", "everything", 6, 4, 3, .image = {{9, 8, 3, 8}}, .rate_classes = 2,
     .holds = HOLD(0, 20, 15) | HOLD(1, 2, 1) | HOLD(2, 5, 16)},
    {"held-longer", "colour", 3, 1, 2, .image = {{17, 12, 3, 8}},
     .holds = HOLD(0, 0, 9) | HOLD(1, 0, 3) | HOLD(2, 20, 0) | HOLD(3, 0, 21) | HOLD(4, 4, 21)},
    {"held-scaled", "colour", 3, 1, 2, .image = {{17, 12, 3, 8}},
     .holds = HOLD(0, 4, 9) | HOLD(1, 5, 6) | HOLD(5, 1, 13) | SCALE(3)},
    {"held-to-end", "grey", 3, 1, 2, .image = {{17, 12, 1, 8}},
     .holds = HOLD(0, 15, 31) | HOLD(1, 0, 31)},
    {"steep", "steep", 4, 2, 2, .image = {{9, 7, 1, 8}, {4, 4, 3, 16}, {8, 8, 1, 16}, {6, 6, 3, 8}},
     .raised = 1},
    {"feedback", "feedback", 4, 2, 3, .image = {{17, 12, 1, 8}, {4, 4, 1, 8}}},
    {"feedback-tied", "feedback-tied", 3, 1, 2, .image = {{9, 7, 3, 8}, {4, 2, 1, 8}}, .span = 2,
     .names = 1},
    {"feedback-each", "feedback", 3, 3, 1, .image = {{9, 7, 1, 8}, {4, 4, 1, 8}},
     .one_by_one = 1, .tail = 1},
    {"strips", "causal", 1, 1, 2, .image = {{192, 130, 1, 8}}, .tail = 1},
    {"strips-many", "pixel", 1, 1, 3, .image = {{60, 101, 1, 8}}},
    {"strips-binary", "binary", 1, 1, 2, .image = {{189, 132, 3, 8}}},
    {"strips-everything", "everything", 2, 2, 2, .image = {{190, 129, 3, 8}, {8, 8, 3, 8}},
     .raised = 1},
    {"flags", "rare", 4, 2, 2, .image = {{61, 44, 1, 8}, {8, 8, 1, 8}, {17, 9, 1, 8}}, .sparse = 1,
     .tail = 1},
    {"flags-parts", "rare-parts", 3, 2, 3, .image = {{61, 44, 1, 8}, {8, 8, 1, 8}}, .sparse = 1},
    {"flags-strips", "rare", 1, 1, 2, .image = {{192, 132, 1, 8}}, .sparse = 1, .tail = 1},
    {"paged", "grey", 8, 4, 2, .image = {{8, 8, 1, 8}, {4, 4, 1, 8}}, .names = 3, .labels = 1,
     .pages = 3},
    {"paged-mixed", "grey", 12, 6, 3, .image = {{4, 4, 1, 8}}, .names = 1, .pages = 2},
    {"paged-packed", "grey", 40, 8, 1, .image = {{1, 1, 1, 8}}, .names = 2, .labels = 1,
     .packed = 1, .pages = 6, .span = 2},
    {"paged-tracks", "everything", 8, 4, 3, .image = {{8, 8, 3, 8}}, .rate_classes = 2,
     .group = {2, 2}, .raised = 1, .tail = 1, .names = 3, .labels = 1, .pages = 2},
    {"paged-gallery", "grey", 6, 6, 3, .image = {{8, 8, 1, 8}, {4, 3, 1, 8}}, .one_by_one = 2,
     .tail = 1, .span = 2, .pages = 2},
    {"paged-image", "grey", 6, 6, 1, .image = {{8, 8, 1, 8}}, .one_by_one = 1, .embeds = 1,
     .damage = 5, .pages = 2},
};

/* --- illegal fields ---------------------------------------------------------------------- */

enum { HEAD, CONTENT /* of the directory */, NAME };
typedef struct bad_field {
    const char *name;
    int where;
    uint32_t at;
    uint8_t value;
    const char *outcome;
} bad_field;
/* Of a container of two grey images of 8 x 8 in two groups, three layers; checksums are right, but
 * for the first of the list. */
static const bad_field bad_fields[] = {
    {"header-checksum", HEAD, 20, 0, "corrupt"},
    {"magic", HEAD, 1, 'X', "corrupt"},
    {"version-0", HEAD, 8, 0, "corrupt"},
    {"version-2", HEAD, 8, 2, "unknown"},
    {"layout", HEAD, 10, 3, "corrupt"},
    {"layout-image", HEAD, 10, 1, "corrupt"},
    {"tail", HEAD, 11, 2, "corrupt"},
    {"required", HEAD, 15, 0x80, "unknown"},
    {"model-id", HEAD, 24, 0, "other-model"},
    {"no-images", HEAD, 32, 0, "corrupt"},
    {"no-groups", HEAD, 40, 0, "corrupt"},
    {"many-groups", HEAD, 40, 3, "corrupt"},
    {"no-layers", HEAD, 44, 0, "corrupt"},
    {"no-sections", HEAD, 48, 0, "corrupt"},
    {"section-capital", HEAD, 80, 'N', "unknown"},
    {"section-unpacked", HEAD, 99, 0x40, "corrupt"},
    {"geometry-runs", CONTENT, 0, 2, "corrupt"},
    {"geometry-images", CONTENT, 1, 3, "corrupt"},
    {"geometry-none", CONTENT, 1, 0, "corrupt"},
    {"width-0", CONTENT, 2, 0, "corrupt"},
    {"height-0", CONTENT, 3, 0, "corrupt"},
    {"two-channels", CONTENT, 4, 2, "corrupt"},
    {"colour", CONTENT, 4, 3, "corrupt"},
    {"kind-reserved", CONTENT, 4, 0x21, "corrupt"},
    {"groups-none", CONTENT, 6, 0, "corrupt"},
    {"group-size-0", CONTENT, 7, 0, "corrupt"},
    {"group-size-2", CONTENT, 7, 2, "corrupt"},
    {"layer-0", CONTENT, 8, 0, "corrupt"},
    {"too-many-passes", CONTENT, 10, 127, "corrupt"},
    {"span-0", CONTENT, 11, 0, "corrupt"},
    {"name-empty", NAME, 0, 0, "corrupt"},
    {"name-root", NAME, 0, '/', "corrupt"},
    {"name-backslash", NAME, 0, '\\', "corrupt"},
    {"name-control", NAME, 0, 0x1F, "corrupt"},
    {"name-delete", NAME, 0, 0x7F, "corrupt"},
    {"name-part", NAME, 2, '/', "corrupt"},
};
static const container_recipe of_fields = {"field", "grey", 2, 2, 3, .image = {{8, 8, 1, 8}},
     .names = 1};
/* clang-format on */

#endif
