/* psnr_cut.h -- the mean and the lowest PSNR of a container's images, and the smallest cut whose
 * mean PSNR reaches a target. */
#ifndef CLI_PSNR_CUT_H
#define CLI_PSNR_CUT_H
#include "codec/taper_model.h"

/* Pixels that are measured; of larger sets, a sample of groups in even steps. The first is for a
 * search, which measures some six cuts. The second is for messages: one measurement, below one
 * second. */
enum { CLI_PSNR_PIXELS = 16 << 20, CLI_SAMPLE_PIXELS = 2 << 20 };

typedef struct cli_psnr_search {
    const taper_source *source; /* a container; for a search, of layout `set` */
    const taper_model *model;   /* NULL: the container has its own */
    const taper_limits *limits;
    unsigned threads;
    double target_db; /* for a search */
    uint64_t pixels;  /* to measure; 0: CLI_PSNR_PIXELS */
    /* Gives the original of image i. The search frees out->pixels. Called from several threads at
     * once. */
    taper_status (*read)(void *user, uint64_t i, taper_image *out, taper_error *error);
    void *user;
} cli_psnr_search;

typedef struct cli_psnr_found {
    uint64_t bytes;  /* size of the cut; of the whole file if the target is not reached */
    double psnr_db;  /* mean over the measured images */
    double least_db; /* lowest of the measured images */
    uint64_t least_image;
    uint64_t images; /* number of measured images */
    int reached;     /* 1: the cut reaches the target */
    int cuts;        /* number of measured cuts */
} cli_psnr_found;

/* Find the smallest cut whose mean PSNR over images reaches the target, to 1/4000 of the file. */
taper_status cli_psnr_cut(const cli_psnr_search *search, cli_psnr_found *found, taper_error *error);

/* Measure the source itself. */
taper_status cli_psnr_measure(const cli_psnr_search *search, cli_psnr_found *found,
                              taper_error *error);

/* Text for the end of a message: "; 33.02 dB in the mean, the least 30.11 dB, cat/1.png (measured
 * on 96 of 9000 images)", or for one image "; 33.02 dB". against: "" or " against the whole file";
 * name: of the image with the lowest PSNR, or NULL. to: [room]. */
void cli_psnr_words(const cli_psnr_found *found, uint64_t images, const char *against,
                    const char *name, char *to, size_t room);

#endif
