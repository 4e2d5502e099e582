/* front.h -- the front matter of a container in memory: a plain struct, and values derived from its
 * members. container.h reads and writes it. */
#ifndef FORMATS_FRONT_H
#define FORMATS_FRONT_H
#include "formats/bytes.h"
#include "formats/name_escape.h"

enum {
    FORMATS_CONTAINER_VERSION = 2,
    FORMATS_HEADER_SIZE = 56,
    FORMATS_SECTION_SIZE = 24,
    FORMATS_MAX_SECTIONS = 64,
    FORMATS_MAX_LAYERS = 4096,
    FORMATS_MAX_SIDE = 1 << 24, /* width and height of an image, in pixels */
    FORMATS_MAX_CLASSES = 1 << 20,
    FORMATS_MAX_RATE_CLASSES = 16,
    /* Bits of the header's required features: rate classes; raised planes in at least one group;
     * the front matter is in pages; kinds of layers; layers with stages of the model. */
    FORMATS_FEATURE_RATE_CLASSES = 1,
    FORMATS_FEATURE_RAISED = 2,
    FORMATS_FEATURE_PAGED = 4,   /* a root and leaves: root.h */
    FORMATS_FEATURE_PIXELS = 8,  /* layers have kinds: some hold pixels instead of passes */
    FORMATS_FEATURE_STAGES = 16, /* section modl has the first stages of the model; the others are
                                    layers */
    FORMATS_MOST_RAISED = 15,    /* raised planes of a unit */
    FORMATS_MAX_SEARCH_BITS = 65536,
    /* Chunks that share a checksum; bounds the bytes that must be read to test one chunk. */
    FORMATS_MAX_CHECKSUM_SPAN = 1024
};

typedef struct formats_geometry {
    uint32_t width, height;
    uint8_t channels, depth; /* 1 or 3; 8 or 16 */
    /* Only with pixel layers. alpha: there is an alpha channel beside these. indexed: the image has
     * no windows, as a pixel layer has its colours; its depth is 8. */
    uint8_t alpha, indexed;
} formats_geometry;

/* What the chunks of a layer hold (SPEC 5.8). Each kind but passes and stages occurs at most once.
 */
typedef enum formats_layer_kind {
    FORMATS_LAYER_PASSES = 0,
    FORMATS_LAYER_FIRST = 1, /* indexed images, and alpha or its upper bits */
    FORMATS_LAYER_ALPHA = 2, /* the other bits of alpha */
    FORMATS_LAYER_EXACT = 3, /* what makes images equal to their originals */
    FORMATS_LAYER_MODEL = 4, /* the next stage of the model, in the chunk of group 0 */
    FORMATS_LAYER_KINDS = 5
} formats_layer_kind;

/* Bit planes of a unit that a group has above those of the model (codec/bitplane/raised_planes.h).
 */
typedef struct formats_raised {
    uint16_t unit;
    uint8_t planes; /* 1 .. FORMATS_MOST_RAISED */
} formats_raised;

/* A further name of an image: that of a file that was equal to the image's (also.h). */
typedef struct formats_also {
    int64_t modified_ns; /* as in taper_metadata */
    uint32_t image;
    uint32_t name_at; /* offset into also_names */
    int32_t label;    /* -1: none */
    uint8_t has_modified;
} formats_also;

/* Images are stored in places 0 .. images - 1, group after group. With one rate class, place p
 * holds image p. With several, the images of each rate class fill the groups of that class. */
enum { FORMATS_MOST_LAYOUT = 2 };
typedef struct formats_front {
    uint64_t model_id;
    uint8_t layout; /* taper_layout: 0 .. FORMATS_MOST_LAYOUT */

    /* 1: the chunks of the last layer from group first_cut on are truncated; else 0, and so is
     * first_cut. */
    uint8_t tail;
    uint32_t first_cut;

    uint64_t holds; /* packed, see formats/holds.h; 0: none */
    uint32_t images, groups, layers;
    formats_geometry *geometry; /* [images] */
    uint32_t *group_first;      /* [groups + 1] first place of each group, then `images` */

    /* 1 .. FORMATS_MAX_RATE_CLASSES. Each class has its own number of passes in a layer. The four
     * arrays are NULL with one rate class; formats_front_place_images makes the last two. */
    uint32_t rate_classes;
    uint8_t *group_rate_class; /* [groups] */
    uint8_t *image_rate_class; /* [images] */
    uint32_t *image_at;        /* [images] the image in each place */
    uint32_t *place_of;        /* [images] the place of each image */

    /* [layers][rate_classes] passes up to the end of each layer; never decreasing from layer to
     * layer, and increasing with one rate class over layers of passes. */
    uint32_t *layer_end;
    uint8_t has_pixels;  /* the header has FORMATS_FEATURE_PIXELS; then layer_kind is set */
    uint8_t *layer_kind; /* [layers] formats_layer_kind; NULL: all layers are of passes */

    uint32_t chunks_per_checksum; /* consecutive chunks of one layer that share a CRC32C */
    /* [layers * groups + 1] offset of each chunk from the start of the data, layer after layer; the
     * last entry is the size of the data. */
    uint64_t *chunk_at;
    uint32_t *checksum; /* [formats_front_checksums()] */

    /* Of the front of one leaf only (leaf.h); else NULL and 0. A leaf numbers its images and groups
     * from 0: first_image and first_group are added for their numbers in the container. layer_at:
     * [layers], added to chunk_at of a layer modulo 2^64, as chunks of other leaves lie between. */
    uint64_t *layer_at;
    uint32_t first_image, first_group;
    /* The size of the data. Of the front of a leaf or a root only; else 0. */
    uint64_t data_bytes;

    /* Raised planes: raised[raised_at[g]] .. raised[raised_at[g + 1] - 1] are those of group g, by
     * ascending unit. raised_at: [groups + 1]; both NULL: none. */
    uint32_t *raised_at;
    formats_raised *raised;

    char *names;       /* the NUL-terminated names of all images; NULL: none */
    uint32_t *name_at; /* [images] offsets into names */
    int32_t *label;    /* [images], -1: none; NULL: no labels */
    uint32_t classes;
    char *class_names;       /* the NUL-terminated names of all classes; NULL: no classes */
    uint32_t *class_name_at; /* [classes] offsets into class_names */

    uint32_t alsos;     /* further names of images; 0: none */
    formats_also *also; /* [alsos] */
    char *also_names;   /* their NUL-terminated names */

    /* Codes for search, of the binary model search_model_id. search_bits: bits of a code; 0: no
     * codes. The first bit of a code is the highest bit of its first byte. */
    uint64_t search_model_id;
    uint32_t search_bits;
    uint8_t *search_codes; /* [images][(search_bits + 7) / 8] */
    uint8_t *search_model; /* the embedded .tpm file of that model; NULL: none */
    size_t search_model_size;

    taper_part part; /* the part of a set; all 0 without has_part (set_part.h) */
    uint8_t has_part;

    uint8_t *metadata; /* the content of section `meta` (metadata_reader.h); NULL: none */
    size_t metadata_size;

    /* The embedded .tpm file, or the beginning of it that is there; NULL: none. With has_stages, of
     * FORMATS_FEATURE_STAGES, the first model_in_front bytes of it are in section modl, and layers
     * have the other stages. */
    uint8_t *model;
    size_t model_size, model_in_front;
    uint8_t has_stages;
    uint64_t front_size; /* bytes before the data; set by read and write */
    /* Charged with the memory of this struct, and with that of writing. limit 0: not counted. */
    formats_account account;
} formats_front;

static inline uint32_t formats_front_image(const formats_front *f, uint32_t place) {
    return f->image_at ? f->image_at[place] : place;
}
static inline uint32_t formats_front_place(const formats_front *f, uint32_t image) {
    return f->place_of ? f->place_of[image] : image;
}
static inline uint32_t formats_front_rate_class(const formats_front *f, uint32_t group) {
    return f->group_rate_class ? f->group_rate_class[group] : 0;
}
static inline uint32_t formats_front_layer_kind(const formats_front *f, uint32_t layer) {
    return f->layer_kind ? f->layer_kind[layer] : FORMATS_LAYER_PASSES;
}
/* Passes of a group up to the end of a layer. */
static inline uint32_t formats_front_layer_end(const formats_front *f, uint32_t layer,
                                               uint32_t group) {
    return f->layer_end[(size_t)layer * f->rate_classes + formats_front_rate_class(f, group)];
}
/* Passes up to the end of a layer, of the rate class that has most. */
uint32_t formats_front_passes(const formats_front *front, uint32_t layer);
/* The group that holds an image. */
uint32_t formats_front_group(const formats_front *front, uint32_t image);

/* Make image_at and place_of: the images of each rate class fill its groups in order.
 * TAPER_ERR_CORRUPT: the groups of a class do not hold as many images as it has; TAPER_ERR_NOMEM.
 */
taper_status formats_front_place_images(formats_front *front);

/* The units of group g with raised planes; *n: their number. NULL if the container has none. */
static inline const formats_raised *formats_front_raised(const formats_front *f, uint32_t g,
                                                         uint32_t *n) {
    *n = f->raised_at ? f->raised_at[g + 1] - f->raised_at[g] : 0;
    return f->raised_at ? f->raised + f->raised_at[g] : NULL;
}

/* Where chunk c = layer * groups + group begins, and where the data ends, from the start of the
 * data. Whole fronts have both in chunk_at; these are for fronts that may be of a leaf. */
static inline uint64_t formats_front_chunk_at(const formats_front *f, uint64_t c, uint32_t layer) {
    return f->chunk_at[c] + (f->layer_at ? f->layer_at[layer] : 0);
}
static inline uint64_t formats_front_data(const formats_front *f) {
    return f->data_bytes ? f->data_bytes
           : f->chunk_at ? f->chunk_at[(uint64_t)f->layers * f->groups]
                         : 0;
}

/* Number of checksums: one per block of chunks_per_checksum chunks. No block crosses layers. */
uint64_t formats_front_checksums(const formats_front *front);

/* How many bytes of the data are rendered when `bytes` of them are there. Holds make it fewer;
 * they do not apply to a complete file. */
uint64_t formats_front_drawn(const formats_front *front, uint64_t bytes);

/* The name of image i, or NULL; of class k, or NULL. */
const char *formats_front_name(const formats_front *front, uint32_t i);
const char *formats_front_class_name(const formats_front *front, uint32_t k);

/* Allocate zeroed memory for n + 1 elements of `size` bytes, charged to the account. array: address
 * of the pointer to set. TAPER_ERR_LIMIT, TAPER_ERR_NOMEM. */
taper_status formats_front_take(formats_front *front, uint64_t n, size_t size, void *array,
                                taper_error *error);
/* Charge memory that the caller allocates for this front matter. TAPER_ERR_LIMIT, with the same
 * text. */
taper_status formats_front_charge(formats_front *front, uint64_t bytes, taper_error *error);
/* Return TAPER_ERR_LIMIT with that text: `bytes` more are needed. */
taper_status formats_front_refuse(const formats_front *front, uint64_t bytes, taper_error *error);
/* The account for buffers; NULL where memory is not counted. */
static inline formats_account *formats_front_account(formats_front *front) {
    return front->account.limit ? &front->account : NULL;
}

/* Bytes of one code for search. */
static inline size_t formats_front_search_bytes(const formats_front *f) {
    return ((size_t)f->search_bits + 7) / 8;
}

void formats_front_free(formats_front *front); /* leaves it zeroed */

#endif
