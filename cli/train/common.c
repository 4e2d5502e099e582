/* common.c -- see common.h. */
#include "cli/train/common.h"
#include "cli/common/signals.h"
#include "cli/train/request.h"
#include <string.h>

const char *const cli_train_optimisers[] = {"adam", "cg", NULL};
const char *const cli_train_precisions[] = {"float32", "tf32", "bf16", NULL}; /* train_precision */

bool cli_train_parse_pixels(const char *text, uint32_t automatic, int64_t min, int64_t max,
                            uint32_t *pixels) {
    int64_t given = automatic;
    bool is_auto = !strcmp(text, "auto");
    if (!is_auto && (!cli_parse_int(text, &given) || given < min || given > max)) return false;
    *pixels = (uint32_t)given;
    return true;
}

static bool parse_window(const char *text, uint32_t *window) {
    if (strcmp(text, "whole"))
        return cli_train_parse_pixels(text, TRAIN_WINDOW_AUTO, 2, 64, window);
    *window = TRAIN_WINDOW_WHOLE;
    return true;
}

/* Check that all outputs have different names. */
static taper_status check_names(const cli_train_run *s, taper_error *error) {
    static const char *const option[] = {"--output", "--checkpoint", "--log"};
    const char *const file[] = {s->output, s->checkpoint, s->log};
    for (int i = 0; i < 3; i++)
        for (int k = i + 1; k < 3; k++)
            if (file[i] && file[k] && !strcmp(file[i], file[k]))
                return formats_fail(error, TAPER_ERR_ARG, "%s and %s are the same; give two names",
                                    option[i], option[k]);
    return TAPER_OK;
}

taper_status cli_train_check(cli_train_run *s, taper_error *error) {
    if (!parse_window(s->window, &s->side))
        return formats_fail(error, TAPER_ERR_ARG, "--window is auto, whole or 2 to 64, not '%s'",
                            s->window);
    if (s->resume && !s->checkpoint)
        return formats_fail(error, TAPER_ERR_ARG, "--resume needs --checkpoint FILE");
    return check_names(s, error);
}

uint32_t cli_train_widths(const cli_train_run *s, uint32_t width[CODEC_MAX_LAYERS]) {
    for (size_t i = 0; i < s->hidden.count && i < CODEC_MAX_LAYERS; i++)
        width[i] = (uint32_t)s->hidden.item[i];
    return (uint32_t)s->hidden.count;
}

train_saving cli_train_saving(const cli_train_run *s) {
    return (train_saving){s->checkpoint, s->resume, cli_signals_watch(), cli_train_request()};
}

train_prefix_list cli_train_lengths(const cli_numbers *nested, uint32_t units) {
    train_prefix_list p = {.lengths = 0};
    for (size_t i = 0; i < nested->count && i + 1 < TRAIN_MOST_PREFIXES; i++)
        p.length[p.lengths++] = (uint32_t)nested->item[i];
    if (p.lengths && p.length[p.lengths - 1] != units) p.length[p.lengths++] = units;
    return p;
}
