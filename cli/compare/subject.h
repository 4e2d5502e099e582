/* subject.h -- the container that is compared (given, or made with a model), its originals and its
 * curve.
 *
 * The container is encoded or opened once. A cut is the same file with a smaller size. */
#ifndef CLI_COMPARE_SUBJECT_H
#define CLI_COMPARE_SUBJECT_H
#include "cli/compare/originals.h"
#include "cli/compare/rd_curve.h"
#include "cli/common/inputs.h"
#include <stdio.h>

typedef struct cli_subject {
    const taper_model *model;   /* NULL: embedded in the container */
    uint64_t model_bytes;       /* size of the model file; 0: embedded */
    const taper_limits *limits; /* borrowed */
    taper_source source;
    taper_container *container;
    taper_container_info info;
    FILE *spool;       /* of the source, if it was made here */
    cli_stream stream; /* of the source, if it was given */
} cli_subject;

/* Reports an image that was skipped, and why. */
typedef void cli_subject_skip_fn(void *user, const char *path, const taper_error *why);

/* Encode the images of originals->set (the first max_images, if not 0) with the model into an
 * unnamed temporary file. Names and labels are omitted, because those of other codecs do not count
 * either. Fills originals->index. done: as in cli_rd_job. */
typedef struct cli_subject_encoding {
    size_t max_images;
    unsigned threads;
    cli_subject_skip_fn *skip;
    void (*done)(void *user, size_t images);
    void *user;
} cli_subject_encoding;
taper_status cli_subject_encode(cli_subject *subject, const cli_subject_encoding *how,
                                cli_originals *originals, taper_error *error);

/* Open a container (whole or cut) and find its originals in originals->set. */
taper_status cli_subject_open(cli_subject *subject, const char *path, cli_originals *originals,
                              taper_error *error);

void cli_subject_close(cli_subject *subject);

/* The container at a smaller size. With the layout `set` it is a prefix of the file. With `image`
 * the data of every image is shortened to the same share (taper_truncate); the result may be
 * smaller than requested. */
typedef struct cli_subject_cut {
    const taper_container *container; /* that of the subject, or `own` */
    uint64_t bytes;
    taper_container *own;
    FILE *spool; /* of `own` */
} cli_subject_cut;
taper_status cli_subject_cut_open(const cli_subject *subject, uint64_t bytes, cli_subject_cut *cut,
                                  taper_error *error);
void cli_subject_cut_close(cli_subject_cut *cut);

/* A decoder for a cut; the caller frees it before closing the cut. */
taper_status cli_subject_decoder(const cli_subject_cut *cut, taper_decoder **out,
                                 taper_error *error);
/* Image i into *out, whose pixels are the caller's to free. */
taper_status cli_subject_render(taper_decoder *decoder, uint64_t i, taper_image *out,
                                taper_error *error);

/* Cuts spread evenly over the logarithm of the image data, smallest first. cuts: [room]. Returns
 * their number. */
size_t cli_subject_ladder(const cli_subject *subject, uint64_t *cuts, size_t room);

/* Measure the quality at each cut on all images, in accounting `file`. curve->point[k].quality is
 * the cut. threads, read, user, done: as in cli_rd_job; an image counts as done at each cut. */
taper_status cli_subject_curve(const cli_subject *subject, const cli_rd_job *images,
                               const uint64_t *cuts, size_t n_cuts, cli_rd_curve *curve,
                               taper_error *error);

/* The same curve with the model's bytes added once. */
cli_rd_curve cli_subject_with_model(const cli_subject *subject, const cli_rd_curve *file);
#endif
