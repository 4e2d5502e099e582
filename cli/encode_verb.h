/* encode_verb.h -- `encode` for a verb that does something else with the container: `add`. */
#ifndef CLI_ENCODE_VERB_H
#define CLI_ENCODE_VERB_H
#include "cli/common/inputs.h"

extern const cli_option cli_encode_options[];
extern const char *const cli_encode_uses[];

/* How the new images are encoded. */
typedef struct cli_encode_start {
    const char *output; /* for messages */
    taper_layout layout;
    const taper_model *model;        /* NULL: that of --model */
    const taper_model *search_model; /* NULL: that of --embed-with, if it was given */
    uint32_t search_bits;            /* 0: as --search-bits says */
    bool lossless;                   /* with an exact layer, unless options limit the size */
} cli_encode_start;

/* What becomes of the container. Functions return exit codes, after a message. */
typedef struct cli_encode_target {
    void *user;
    /* Called first. path: the first operand; output, model: of -o and -m, or NULL. */
    int (*open)(void *user, const cli_common *common, const char *path, const char *output,
                const char *model, cli_encode_start *start);
    /* Called for the name of each image, before any is read. */
    int (*check_name)(void *user, const char *name);
    /* Called with the container of the new images. has_limit: an option limits its size. */
    int (*finish)(void *user, const taper_source *made, bool has_limit);
} cli_encode_target;

/* Run `encode` as this verb, which has the options above; operands are a path for the target, then
 * inputs. target NULL: of `encode`, whose operands are inputs. */
int cli_encode_as(const cli_verb *verb, int argc, char **argv, const cli_encode_target *target);

#endif
