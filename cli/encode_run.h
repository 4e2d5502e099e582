/* encode_run.h -- the options and the state of one run of `encode`, which its source files share:
 * cmd_encode.c, encode_images.h, encode_cut.h, encode_report.h. */
#ifndef CLI_ENCODE_RUN_H
#define CLI_ENCODE_RUN_H
#include "cli/common/inputs.h"
#include "cli/common/left_out.h"
#include "cli/common/progress.h"
#include "cli/encode_quality.h"
#include "cli/encode_verb.h"
#include "cli/equal_images.h"
#include "cli/index/search_layer.h"
#include "cli/psnr_cut.h"
#include "cli/shard.h"
#include "codec/taper.h"

typedef struct cli_encode_settings {
    cli_common common;
    const char *output, *model, *filelist, *labels;
    cli_cut cut;
    double psnr, least_psnr;
    const char *quality;
    int best, lossless;
    int drawings, layout, allocation, embed, embed_search, alpha, follow_links, frames, null_list,
        quick, strip, dedup;
    int64_t group, search_bits;
    const char *search_model, *shard;
    int resume;
} cli_encode_settings;

typedef struct cli_encode_run {
    cli_encode_settings s;
    const cli_encode_target *target; /* NULL: the output is a container of these images */
    cli_encode_start start;
    taper_limits limits;
    cli_model model;
    formats_imageset *set;
    cli_shard shard; /* which images of the set are encoded */
    bool numbers;    /* images without a name get their number in the set: some have one */
    taper_encoder *encoder;
    cli_search_layer search;
    FILE *coding; /* temporary file for chunks */
    size_t *kept; /* [count] number in the set of each image of the container */
    size_t count;
    cli_equal_images *equal; /* with --dedup; else NULL */
    size_t *same;            /* [sames] number in the set of each image that is stored as another */
    size_t sames;
    cli_left_out left;
    uint64_t pixels;
    cli_progress progress;
    cli_quality quality;
    int has_aims;         /* images end by themselves, or have a floor */
    uint64_t early;       /* bytes per million pixels at which coding stops; 0: no limit */
    bool again;           /* second run, without that limit */
    FILE *spool;          /* the container, if there is a limit; with --psnr not cut yet */
    taper_source spooled; /* the same */
    cli_psnr_found found; /* PSNR of the output; images 0: not measured */
    taper_error no_psnr;  /* why it could not be measured */
} cli_encode_run;

#endif
