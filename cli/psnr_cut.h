/* psnr_cut.h -- how well a container shows its images: the mean PSNR and the least image; and the
 * smallest cut of which the mean reaches a target. */
#ifndef CLI_PSNR_CUT_H
#define CLI_PSNR_CUT_H
#include "codec/taper_model.h"

/* Pixels that are measured: of larger sets, groups of images in even steps. A search measures some
 * six cuts; what is only told is measured once, and costs less than a second. */
enum { CLI_PSNR_PIXELS = 16 << 20, CLI_TOLD_PIXELS = 2 << 20 };

typedef struct cli_psnr_search {
    const taper_source *source; /* a container; of the layout `set` for a search */
    const taper_model *model;   /* NULL: it carries its own */
    const taper_limits *limits;
    unsigned threads;
    double target_db; /* for a search */
    uint64_t pixels;  /* to measure: 0: CLI_PSNR_PIXELS */
    /* The original of the container's image i; *out->pixels is the search's to free. Called from
     * several threads at once. */
    taper_status (*read)(void *user, uint64_t i, taper_image *out, taper_error *error);
    void *user;
} cli_psnr_search;

typedef struct cli_psnr_found {
    uint64_t bytes;  /* the cut; the whole file when the target is out of reach */
    double psnr_db;  /* mean PSNR there, over the images measured */
    double least_db; /* of these */
    uint64_t least_image;
    uint64_t images; /* that were measured */
    int reached;
    int cuts; /* that were measured */
} cli_psnr_found;

/* The mean is over images, as everywhere; the cut is found to 1 part in 4,000 of the file. */
taper_status cli_psnr_cut(const cli_psnr_search *search, cli_psnr_found *found, taper_error *error);

/* The source as it is: its size and its PSNRs. */
taper_status cli_psnr_measure(const cli_psnr_search *search, cli_psnr_found *found,
                              taper_error *error);

/* "; 33.02 dB in the mean, the least 30.11 dB, cat/1.png (measured on 96 of 9000 images)": for the
 * end of a line, of one image "; 33.02 dB". against: "" or " against the whole file"; name: of the
 * least image, or NULL. */
void cli_psnr_words(const cli_psnr_found *found, uint64_t images, const char *against,
                    const char *name, char *to, size_t room);

#endif
