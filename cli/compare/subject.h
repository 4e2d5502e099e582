/* subject.h -- what is compared: a container, given or made with a model, its originals, and its
 * curve.
 *
 * The container is encoded or opened once and read through cuts: a cut is the same file with a
 * smaller size. */
#ifndef CLI_COMPARE_SUBJECT_H
#define CLI_COMPARE_SUBJECT_H
#include "../../codec/taper.h"
#include "../../formats/file.h"
#include "../../formats/imageset.h"
#include "rd_curve.h"
#include <stdio.h>

/* The images that the container holds, in its order, as they were before. */
typedef struct cli_originals {
    const formats_imageset *set;
    size_t *index; /* [count]: image i of the container is image index[i] of the set */
    size_t count;
} cli_originals;

typedef struct cli_subject {
    const taper_model *model;   /* NULL: the container carries it */
    uint64_t model_bytes;       /* size of the model's file; 0: within the container */
    const taper_limits *limits; /* borrowed */
    taper_source source;        /* the container */
    taper_container_info info;
    FILE *temporary;    /* holds the container when it was made here */
    formats_file *file; /* or this one, when it was given */
} cli_subject;

/* Tells of an image that was left out, and why. */
typedef void cli_subject_skip_fn(void *user, const char *path, const taper_error *why);

/* Encode all images of the set (the first max_images, when not 0) with the model into a temporary
 * file. originals->index is filled, and freed by cli_subject_close. done: as in cli_rd_job. */
typedef struct cli_subject_encoding {
    const formats_imageset *set;
    size_t max_images;
    unsigned threads;
    cli_subject_skip_fn *skip;
    void (*done)(void *user, size_t images);
    void *user;
} cli_subject_encoding;
taper_status cli_subject_encode(cli_subject *subject, const cli_subject_encoding *how,
                                cli_originals *originals, taper_error *error);

/* Open a container (whole or cut) and find its originals in the set: by name when both have names,
 * else by order. */
taper_status cli_subject_open(cli_subject *subject, const char *path, const formats_imageset *set,
                              cli_originals *originals, taper_error *error);

void cli_subject_close(cli_subject *subject, cli_originals *originals);

/* A decoder on the first so many bytes of the container; the caller frees it before the subject is
 * closed. */
typedef struct cli_subject_cut {
    cli_subject *subject;
    uint64_t bytes;
} cli_subject_cut;
taper_status cli_subject_decoder(cli_subject_cut *cut, taper_decoder **out, taper_error *error);
/* Image i into *out, whose pixels are the caller's to free. */
taper_status cli_subject_render(taper_decoder *decoder, uint64_t i, taper_image *out,
                                taper_error *error);

/* Cuts that are spread evenly over the logarithm of the image data, smallest first: at most room.
 * Returns how many. */
size_t cli_subject_ladder(const cli_subject *subject, uint64_t *cuts, size_t room);

/* Quality at each cut, measured on all images; curve->point[k].quality is the cut. In accounting
 * `file`. done: called after each image at each cut, as in cli_rd_job. */
taper_status cli_subject_curve(cli_subject *subject, const cli_originals *originals,
                               const uint64_t *cuts, size_t n_cuts, unsigned threads,
                               void (*done)(void *user, size_t images), void *user,
                               cli_rd_curve *curve, taper_error *error);

/* The same curve with the model's bytes added once. */
cli_rd_curve cli_subject_with_model(const cli_subject *subject, const cli_rd_curve *file);
#endif
