/* psnr_cut.h -- the smallest cut of a container whose mean PSNR reaches a target, by bisection. */
#ifndef CLI_PSNR_CUT_H
#define CLI_PSNR_CUT_H
#include "codec/taper_model.h"

/* Pixels that are measured at each step: large sets are sampled by whole groups. */
enum { CLI_PSNR_PIXELS = 16 << 20 };

typedef struct cli_psnr_search {
    const taper_source *source; /* a whole container of the layout `set` */
    const taper_model *model;   /* NULL: it carries its own */
    const taper_limits *limits;
    unsigned threads;
    double target_db;
    /* The original of the container's image i; *out->pixels is the search's to free. Called from
     * several threads at once. */
    taper_status (*read)(void *user, uint64_t i, taper_image *out, taper_error *error);
    void *user;
} cli_psnr_search;

typedef struct cli_psnr_found {
    uint64_t bytes;  /* the cut; the whole file when the target is out of reach */
    double psnr_db;  /* mean PSNR there, over the images measured */
    uint64_t images; /* that were measured */
    int reached;
} cli_psnr_found;

/* The mean is over images, as everywhere; the cut is found to 1 part in 4,000 of the file. */
taper_status cli_psnr_cut(const cli_psnr_search *search, cli_psnr_found *found, taper_error *error);

#endif
