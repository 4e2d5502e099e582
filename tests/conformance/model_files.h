/* model_files.h -- model files of random numbers, field by field as SPEC.md has them: of every
 * family, with every part that a model can have, and illegal ones.
 *
 * The numbers are such that networks are exact in binary32, in any order of sums: few binary digits
 * each, and steps that are powers of two. `loose` models are not so. Nothing here depends on the
 * machine or on zstd's version: frames hold their content as it is, and runs of equal bytes. */
#ifndef TESTS_CONFORMANCE_MODEL_FILES_H
#define TESTS_CONFORMANCE_MODEL_FILES_H
#include "formats/bytes.h"

typedef enum model_fault { /* what is illegal, if anything */
                           LEGAL,
                           BAD_MAGIC,
                           VERSION_0,
                           VERSION_2,
                           VERSION_4,
                           RESERVED,
                           HEADER_CHECKSUM,
                           ID,
                           CUT,      /* the last byte is missing */
                           TRAILING, /* a byte follows */
                           MORE,     /* a byte follows the payload */
                           FAMILY,
                           CHANNELS,
                           WINDOW,
                           UNITS,
                           FLAGS,
                           DIRECT_TIED,
                           ACTIVATION,
                           DEPTH,
                           GAIN,
                           LAP_REACH,
                           LAP_INVERSE,
                           ODD_WINDOW,
                           WEIGHT_STEP,
                           WEIGHT_STATE,
                           WEIGHT_SUM,
                           STEP_MODE,
                           PARTS,
                           LEAST,
                           STEP,
                           PLANES,
                           SCALE,
                           SLOPES,
                           LAYERS,
                           LAST_LAYER,
                           CENTRE,
                           HIDDEN,
                           OWN,
                           STAGES,
                           WEIGHT_RANGE,
                           BIAS_STEP,
                           RESTORE_KIND,
                           RESTORE_WIDTH,
                           RESTORE_STAGES,
                           RESTORE_WEIGHTS,
                           GAINS,
                           FEEDBACK_REAL, /* units with feedback that are no bits */
                           DIAGONAL,      /* of their triangles */
                           ABOVE,         /* it */
                           NO_STACKS,     /* nor an encoder */
                           ACTIVATED_BITS,
                           CONDITIONAL_EMBEDDING,
                           OBJECTIVE_LETTER,
                           OBJECTIVE_LENGTH,
                           ALPHA_NEGATIVE,
                           ALPHA_NAN,
                           ONE_CLASS,
                           MANY_CLASSES,
                           PADDING,     /* is not 0 */
                           PADDING_MORE /* than there must be */
} model_fault;

typedef struct model_recipe {
    const char *name;
    uint16_t family; /* 0 pca, 1 dense, 2 conv */
    uint32_t channels, width, height, units, planes;
    uint32_t fractions;                     /* 0: 1 */
    int causal, each_step, stores_analysis; /* the last: not tied */
    uint32_t lap;                           /* reach */
    uint32_t conditional, head, restore;    /* their stages; 0: none */
    int direct, binary, tied_stacks, feedback;
    int embedding;  /* no decoder */
    uint32_t depth; /* of the stacks */
    int activation;
    int scales; /* 1: of any sixteenth; 2: large ones; 3: small ones; else powers of two */
    int loose;  /* networks of which are not exact */
    int steep;  /* values leave 16 bits */
    int plain;  /* tables of equal bytes, which pack well */
    int rare;   /* significance is unlikely */
    model_fault fault;
} model_recipe;

/* Append the file. The same bytes for the same recipe. */
void model_file_make(const model_recipe *recipe, formats_buffer *out);

/* Append a zstd frame of raw blocks and blocks of one byte repeated. */
void plain_zstd_frame(const uint8_t *bytes, size_t n, formats_buffer *out);

/* -most .. most; the state moves on. */
int32_t conformance_draw(uint64_t *state, int32_t most);
/* 0 .. below - 1 */
uint32_t conformance_below(uint64_t *state, uint32_t below);

#endif
