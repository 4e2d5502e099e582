/* encoder_groups.h -- the encoder's state, and its middle: images to rate classes, rate classes to
 * groups, groups to chunks in the spool. taper_encoder_add comes before it, taper_encoder_finish
 * after it (encoder.c). */
#ifndef CODEC_ENCODER_GROUPS_H
#define CODEC_ENCODER_GROUPS_H
#include "codec/backend/queue.h"
#include "codec/container/group_writer.h"
#include "codec/container/cut_quality.h"
#include "codec/taper.h"
#include "formats/container.h"

/* Images waiting to be coded. */
typedef struct codec_encode_job {
    struct taper_encoder *encoder;
    uint32_t group, rate_class;
    codec_group_images of;
    size_t capacity, code_capacity;
    uint64_t pixels, charged; /* charged: bytes of the encoder's account, but for the lists */
    codec_group_size size;
} codec_encode_job;

typedef struct codec_group_record {
    uint64_t spool_at;
    codec_written_group of; /* its bounds from spool_at */
} codec_group_record;

/* An image whose rate class is not chosen yet. */
typedef struct codec_waiting_image {
    taper_image image; /* its pixels and codes ours */
    int16_t *code;
    size_t number;
    double log_distortion;
} codec_waiting_image;

struct taper_encoder {
    const taper_model *model;
    taper_encode_options options;
    taper_limits limits;
    formats_account own, *account; /* of all but the model; used with the queue locked, where
                                      workers give and the caller alone takes */
    codec_backend backend;
    codec_network network; /* the model's, with an analysis of our own */
    float *analysis;       /* ours, or NULL */
    FILE *spool;
    codec_encode_job *job[FORMATS_MAX_RATE_CLASSES]; /* the groups being filled, by rate class */
    codec_queue *queue;                              /* NULL: no workers */
    uint32_t rate_classes, n_layers;
    uint32_t *layer_end; /* [n_layers][rate_classes], fixed by the first group */
    codec_group_record *group;
    size_t groups, groups_capacity;
    formats_geometry *geometry;
    int32_t *label;
    uint8_t *image_rate_class, *group_rate_class;
    size_t images, images_capacity, group_start_capacity, group_rate_class_capacity;
    uint32_t *group_first, placed; /* images in groups[] */
    /* of an allocation that is not even: */
    uint8_t *reference;           /* [units] depths at which distortions are compared */
    codec_waiting_image *waiting; /* until there are enough to know the mean */
    size_t n_waiting, waiting_capacity;
    uint64_t waiting_pixels;
    int has_mean;
    double mean;                   /* of log distortions */
    formats_buffer names, classes; /* NUL-ended */
    uint32_t n_classes;
    formats_front search;         /* its codes and model for search alone */
    taper_encode_quality quality; /* once measured */
    char *least_name;             /* its */
    int measured;
    codec_originals originals; /* of a small set */
    uint32_t pass_limit;       /* 0: none */
    int any_name, any_label, failed;
    int has_classes, is_finished; /* the calls that come once were made */
    taper_error error;            /* of the first failure */
};

/* Charge bytes to the account; without room, wait for workers to give back. TAPER_ERR_LIMIT. */
taper_status codec_encoder_charge(taper_encoder *encoder, uint64_t bytes);

/* Room in *array for one more than count, doubling, on the account. TAPER_ERR_LIMIT, _NOMEM. */
taper_status codec_encoder_grow(taper_encoder *encoder, void **array, size_t count,
                                size_t *capacity, size_t size);
/* Append n bytes to a buffer on the account. */
taper_status codec_encoder_append(taper_encoder *encoder, formats_buffer *buffer, const void *bytes,
                                  size_t n);

/* The first failure stays; called with the queue locked, or without workers. */
void codec_encoder_fail(taper_encoder *encoder, taper_status status, const taper_error *error);

/* What an image takes until its group is written: pixels and codes as far as they are kept. */
uint64_t codec_encoder_image_bytes(const taper_encoder *encoder, const taper_image *image,
                                   int has_codes);
uint64_t codec_encoder_windows(const taper_encoder *encoder, const taper_image *image);

/* Image `number` into its rate class's group. Pixels are NULL where there are codes alone, code is
 * NULL where it is not made yet; both, charged, pass over also on failure. The second chooses the
 * rate class as the allocation asks, or has the image wait until enough are there to choose. */
taper_status codec_encoder_place(taper_encoder *encoder, taper_image image, int16_t *code,
                                 size_t number, uint32_t rate_class);
taper_status codec_encoder_allocate(taper_encoder *encoder, taper_image image, size_t number);

/* To work with all that waits or gathers: before the end. */
taper_status codec_encoder_submit_all(taper_encoder *encoder);

/* The queue's work: code a codec_encode_job, then, one at a time, store its chunks. */
void codec_encode_job_run(void *job);
void codec_encode_job_free(codec_encode_job *job); /* NULL is fine */

#endif
