/* encoder_groups.h -- the encoder's state, and its steps between taper_encoder_add and
 * taper_encoder_finish: images to rate classes, rate classes to groups, groups to chunks in the
 * spool. */
#ifndef CODEC_ENCODER_GROUPS_H
#define CODEC_ENCODER_GROUPS_H
#include "codec/backend/queue.h"
#include "codec/container/group_writer.h"
#include "codec/container/cut_quality.h"
#include "codec/taper.h"
#include "formats/container.h"

/* A group of images that is to be encoded. */
typedef struct codec_encode_job {
    struct taper_encoder *encoder;
    uint32_t group, rate_class;
    codec_group_images of;
    size_t capacity, code_capacity;
    uint64_t pixels;
    /* Bytes that the encoder's account is charged with, without the lists. */
    uint64_t charged;
    codec_group_size size;
    /* See codec_group_writer; only the group of a set of one group has them. */
    uint64_t most, least;
} codec_encode_job;

typedef struct codec_group_record {
    uint64_t spool_at;
    uint64_t most;          /* bytes of it that are kept; 0: not known before coding */
    codec_written_group of; /* its bounds count from spool_at */
} codec_group_record;

/* An image without a rate class so far. Owns its pixels and codes. */
typedef struct codec_waiting_image {
    taper_image image;
    int16_t *code;
    size_t number;
    double log_distortion;
} codec_waiting_image;

struct taper_encoder {
    const taper_model *model;
    taper_encode_options options;
    taper_limits limits;
    /* Memory of everything except the model. Use it with the queue locked: workers release memory,
     * only the caller's thread takes it. */
    formats_account own, *account;
    codec_backend backend;
    /* The model's network, with its own analysis matrix if it is tied. */
    codec_network network;
    /* That matrix; owned; or NULL. */
    float *analysis;
    FILE *spool;
    /* The unfinished group of each rate class. */
    codec_encode_job *job[FORMATS_MAX_RATE_CLASSES];
    codec_queue *queue; /* NULL: no workers */
    uint32_t rate_classes, n_layers;
    /* [n_layers][rate_classes], chosen by the first group. */
    uint32_t *layer_end;
    /* The same for all passes, for a set of one group that may be too plain for its target; NULL:
     * none. */
    uint32_t n_longer, *longer_end;
    codec_group_record *group;
    size_t groups, groups_capacity;
    formats_geometry *geometry;
    int32_t *label;
    uint8_t *image_rate_class, *group_rate_class;
    size_t images, images_capacity, group_start_capacity, group_rate_class_capacity;
    uint32_t *group_first;
    /* Images in groups[]. */
    uint32_t placed;

    /* For allocations other than even: */
    uint8_t *reference; /* [units] depths at which distortions are compared */
    /* Images that wait until there are enough for the mean distortion. */
    codec_waiting_image *waiting;
    size_t n_waiting, waiting_capacity;
    uint64_t waiting_pixels;
    int has_mean;
    double mean; /* of log distortions */

    /* Strings, each with its final 0. */
    formats_buffer names, classes;
    uint32_t n_classes;
    /* Only its members for search are used. */
    formats_front search;
    taper_encode_quality quality;
    /* The name of quality.least_image; owned. */
    char *least_name;
    int measured; /* quality is valid */
    codec_originals originals;
    uint32_t pass_limit; /* 0: none */
    int any_name, any_label, failed;
    /* taper_encoder_set_classes and taper_encoder_finish were called. */
    int has_classes, is_finished;
    /* The first failure. */
    taper_error error;
};

/* Charge the account. If it is exhausted, wait until workers release memory. TAPER_ERR_LIMIT. */
taper_status codec_encoder_charge(taper_encoder *encoder, uint64_t bytes);

/* Make *array large enough for count + 1 elements, by doubling. Charges the account.
 * TAPER_ERR_LIMIT, _NOMEM. */
taper_status codec_encoder_grow(taper_encoder *encoder, void **array, size_t count,
                                size_t *capacity, size_t size);
/* Append n bytes to a buffer. Charges the account. */
taper_status codec_encoder_append(taper_encoder *encoder, formats_buffer *buffer, const void *bytes,
                                  size_t n);

/* Record a failure unless there was one before. Call with the queue locked, or without workers. */
void codec_encoder_fail(taper_encoder *encoder, taper_status status, const taper_error *error);

/* Memory of an image until its group is written: its pixels, and its codes with has_codes. */
uint64_t codec_encoder_image_bytes(const taper_encoder *encoder, const taper_image *image,
                                   int has_codes);
uint64_t codec_encoder_windows(const taper_encoder *encoder, const taper_image *image);

/* Add image `number` to the group of its rate class. Its pixels are NULL if there are only codes;
 * code is NULL if it is not computed yet. Both must be charged; the encoder owns them, also after a
 * failure. codec_encoder_allocate chooses the rate class by the allocation. It defers this until
 * there are enough images. */
taper_status codec_encoder_place(taper_encoder *encoder, taper_image image, int16_t *code,
                                 size_t number, uint32_t rate_class);
taper_status codec_encoder_allocate(taper_encoder *encoder, taper_image image, size_t number);

/* Encode all deferred images and unfinished groups. */
taper_status codec_encoder_submit_all(taper_encoder *encoder);

/* A job of the queue: encode a codec_encode_job and store its chunks in the spool. Only one job at
 * a time writes to the spool. Frees the job. */
void codec_encode_job_run(void *job);
/* NULL is allowed. */
void codec_encode_job_free(codec_encode_job *job);

#endif
