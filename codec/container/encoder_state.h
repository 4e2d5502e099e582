/* encoder_state.h -- the encoder's state, by subject, and what all its parts use: memory and
 * failures. */
#ifndef CODEC_ENCODER_STATE_H
#define CODEC_ENCODER_STATE_H
#include "codec/backend/queue.h"
#include "codec/container/cut_quality.h"
#include "codec/groups/aim.h"
#include "codec/groups/group_writer.h"
#include "codec/groups/strip_writer.h"
#include "codec/taper.h"
#include "formats/container.h"
#include "formats/metadata_writer.h"

/* Shared with the workers: use it with the queue locked. */
typedef struct codec_encoder_shared {
    codec_queue *queue; /* NULL: no workers */
    /* Memory of everything except the model. Workers release memory, only the caller's thread takes
     * it. */
    formats_account own, *account;
    int failed;
    taper_error error; /* the first failure */
} codec_encoder_shared;

/* From images to codes. */
typedef struct codec_encoder_coder {
    codec_backend backend;
    codec_network network; /* the model's, with its own analysis matrix if it is tied */
    float *analysis;       /* that matrix; owned; or NULL */
} codec_encoder_coder;

/* The images of the set. */
typedef struct codec_encoder_set {
    formats_geometry *geometry;
    int32_t *label;
    uint8_t *rate_class;
    size_t images, capacity;
    formats_buffer names, class_names; /* strings, each with its final 0 */
    uint32_t classes;
    int any_name, any_label;
    formats_also *also; /* [alsos] further names; name_at: offsets into also_names */
    size_t alsos, also_capacity;
    formats_buffer also_names;
    int has_classes;                   /* taper_encoder_set_classes was called */
    formats_metadata_writer *metadata; /* NULL: no image has any */
    int has_metadata;                  /* the image that was added last has some */
    /* The metadata of a container whose images are added; owned; NULL: none. */
    uint8_t *carried_metadata;
    size_t carried_metadata_size;
    taper_part part; /* with has_part */
    uint8_t has_part;
} codec_encoder_set;

/* Codes for search, as in formats_front. */
typedef struct codec_encoder_search {
    uint64_t model_id;
    uint32_t bits;
    uint8_t *codes;
    uint8_t *model;
    size_t model_size;
} codec_encoder_search;

/* Where layers end. Chosen by the first group. */
typedef struct codec_encoder_layers {
    uint32_t rate_classes, n;
    uint32_t *end; /* [n][rate_classes] */
    /* The same for all passes, for a set of one group that may be too plain for its target; NULL:
     * none. */
    uint32_t n_longer, *longer_end;
    uint32_t pass_limit; /* 0: none */
} codec_encoder_layers;

/* The layers of the container, in the order of the file. */
typedef struct codec_encoder_order {
    uint32_t n;
    uint8_t kind[FORMATS_MAX_LAYERS];  /* formats_layer_kind */
    uint16_t from[FORMATS_MAX_LAYERS]; /* of passes: the layer of codec_encoder_layers */
} codec_encoder_order;

/* An image without a rate class so far. Owns its pixels and codes. */
typedef struct codec_waiting_image {
    taper_image image;
    int16_t *code;
    size_t number;
    double log_distortion; /* NAN: not known, as there is no memory to estimate it */
} codec_waiting_image;

/* Images that wait until there are enough for the mean distortion. For allocations other than even,
 * and for the small layers of a gallery. */
typedef struct codec_encoder_waiting {
    uint8_t *reference; /* [units] depths at which distortions are compared; NULL: even */
    int is_early;       /* nonzero: rate classes are those of small layers (codec_early_class_of) */
    codec_waiting_image *image;
    size_t n, capacity;
    uint64_t pixels;
    int has_mean;
    double mean; /* of log distortions */
} codec_encoder_waiting;

/* The PSNR at which images end (taper_encoder_set_aim). Rate classes are the ends of aim.h. */
typedef struct codec_encoder_aims {
    int are_set; /* nonzero: images have aims */
    double mse;  /* of the next image; 0: no aim, all passes */
    uint32_t end[CODEC_AIM_ENDS];
    uint64_t out_of_reach; /* images that miss their aims with all passes */
    taper_aim_report report;
    int is_reported;
} codec_encoder_aims;

/* A group of images that is to be encoded. */
typedef struct codec_encode_job {
    taper_encoder *encoder;
    uint32_t group, rate_class;
    codec_group_images of;
    /* Of a group of one large image: its codes, strip by strip; owned; or NULL. */
    codec_strip_codes *strips;
    size_t capacity, code_capacity, indexed_capacity;
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

/* The groups, and the file with their chunks. */
typedef struct codec_encoder_spool {
    FILE *file;
    codec_group_record *group;
    uint8_t *rate_class;
    uint32_t *first; /* the first place of each group; and the number of places */
    size_t groups, groups_capacity, rate_class_capacity, first_capacity;
    uint32_t placed; /* images in groups */
} codec_encoder_spool;

/* The quality of the result, with options.measure. */
typedef struct codec_encoder_quality {
    taper_encode_quality of;
    char *least_name; /* the name of of.least_image; owned */
    int is_known;
} codec_encoder_quality;

struct taper_encoder {
    const taper_model *model;
    taper_model *own_model; /* the built-in one, if none was given */
    taper_encode_options options;
    taper_limits limits;
    int is_for_codes; /* codec_encoder_new_for_codes */
    codec_encoder_shared shared;
    codec_encoder_coder coder;
    codec_encoder_set set;
    codec_encoder_search search;
    codec_encoder_layers layers;
    codec_encoder_order order; /* set by taper_encoder_finish */
    codec_encoder_waiting waiting;
    codec_encoder_aims aims;
    /* The unfinished group of each rate class. */
    codec_encode_job *job[FORMATS_MAX_RATE_CLASSES];
    codec_encoder_spool spool;
    codec_originals originals; /* of a small set */
    codec_encoder_quality quality;
    /* Of taper_encoder_finish: its limit, UINT64_MAX: none; whether it was called; and whether only
     * the target makes the container smaller than the limit. */
    uint64_t max_bytes;
    int is_finished, is_short;
};

/* Charge the account. If it is exhausted, wait until workers release memory. TAPER_ERR_LIMIT. */
taper_status codec_encoder_charge(taper_encoder *encoder, uint64_t bytes);
void codec_encoder_give(taper_encoder *encoder, uint64_t bytes);

/* Make *array large enough for count + 1 elements, by doubling. Charges the account.
 * TAPER_ERR_LIMIT, _NOMEM. */
taper_status codec_encoder_grow(taper_encoder *encoder, void **array, size_t count,
                                size_t *capacity, size_t size);
/* Append n bytes to a buffer. Charges the account. */
taper_status codec_encoder_append(taper_encoder *encoder, formats_buffer *buffer, const void *bytes,
                                  size_t n);

/* Memory of an image until its group is written: its pixels, and its codes with has_codes. */
uint64_t codec_encoder_image_bytes(const taper_encoder *encoder, const taper_image *image,
                                   int has_codes);
uint64_t codec_encoder_windows(const taper_encoder *encoder, const taper_image *image);

/* Record a failure unless there was one before. Call with the queue locked, or without workers. */
void codec_encoder_fail(taper_encoder *encoder, taper_status status, const taper_error *error);
/* Record a failure, and return the first one, with its text. */
taper_status codec_encoder_end(taper_encoder *encoder, taper_status status, taper_error *error);
int codec_encoder_has_failed(const taper_encoder *encoder);

/* Call order: images are added before the search codes, and everything before finish. call: the
 * function's name after "taper_encoder_". */
taper_status codec_encoder_check_order(const taper_encoder *encoder, const char *call,
                                       taper_error *error);

#endif
