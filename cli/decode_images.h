/* decode_images.h -- decodes the images of a plan (picture_plan.h). Worker threads take groups,
 * each with its own decoder over the same bytes. */
#ifndef CLI_DECODE_IMAGES_H
#define CLI_DECODE_IMAGES_H
#include "cli/common/inputs.h"
#include "cli/common/progress.h"
#include "cli/decoding.h"
#include "cli/prefetch.h"
#include <pthread.h>

typedef struct cli_decode_worker {
    taper_decoder *decoder;
    cli_canvas canvas;
} cli_decode_worker;

/* A file of the plan that shows an image under a further name. */
typedef struct cli_further_file {
    uint64_t k; /* in the plan */
    uint32_t group;
} cli_further_file;

typedef struct cli_decode_job {
    const cli_decode_request *q;
    const cli_container *container;
    uint64_t cut; /* the container is decoded up to it */
    cli_picture_plan plan;
    cli_further_file *further; /* [n_further] by ascending group */
    size_t n_further;
    cli_decode_worker *worker; /* [threads] */
    taper_image *kept;         /* [plan.count] for formats of one file; else NULL */
    cli_prefetch *prefetch;    /* of a URL */
    bool is_planned; /* the only decoder is worker[0]'s, which has all bytes (planned.h) */
    cli_progress progress;
    pthread_mutex_t lock; /* guards the following members */
    int code;             /* exit code of the failure that ends the work */
    uint32_t passes;      /* that all images have */
    bool is_short;        /* some image is incomplete */
    uint64_t written, damaged;
} cli_decode_job;

/* What the container tells of image k of the plan; false: nothing. */
bool cli_decode_info(const cli_decode_job *j, uint64_t k, taper_image_info *info);
/* Nonzero: the picture is so large that it is written row by row. */
bool cli_decode_goes_by_rows(const cli_decode_job *j, uint64_t k, const taper_image_info *info);
/* Make a decoder, which the caller frees. On failure prints a message and returns an exit code. */
int cli_decode_open(const cli_decode_job *j, taper_decoder **out);
/* Make j->further. Returns an exit code. */
int cli_decode_list_further(cli_decode_job *j);
/* Decode all images of the plan, and write their files, or keep their pixels in j->kept. Takes the
 * decoder of j->worker[0]. Returns an exit code. */
int cli_decode_images(cli_decode_job *j, uint32_t groups);

#endif
