/* front.h -- the front matter of a container in memory: a plain struct, and what follows from its
 * fields. container.h reads and writes it. */
#ifndef FORMATS_FRONT_H
#define FORMATS_FRONT_H
#include "formats/bytes.h"

enum {
    FORMATS_CONTAINER_VERSION = 1,
    FORMATS_HEADER_SIZE = 56,
    FORMATS_SECTION_SIZE = 24,
    FORMATS_MAX_SECTIONS = 64,
    FORMATS_MAX_LAYERS = 4096,
    FORMATS_MAX_SIDE = 1 << 24, /* pixels, of an image */
    FORMATS_MAX_CLASSES = 1 << 20,
    FORMATS_MAX_RATE_CLASSES = 16,
    FORMATS_FEATURE_RATE_CLASSES = 1, /* of the header's required features */
    FORMATS_FEATURE_RAISED = 2,       /* likewise: some group has planes above its model's */
    FORMATS_MOST_RAISED = 15,         /* of a unit */
    FORMATS_MAX_SEARCH_BITS = 65536,
    FORMATS_MAX_CHECKSUM_SPAN = 1024 /* chunks that share a checksum: a bound on reading for one */
};

typedef struct formats_geometry {
    uint32_t width, height;
    uint8_t channels, depth; /* 1 or 3; 8 or 16 */
} formats_geometry;

/* Planes of a unit that a group has above the model's own (codec/bitplane/raised_planes.h). */
typedef struct formats_raised {
    uint16_t unit;
    uint8_t planes; /* 1 .. FORMATS_MOST_RAISED */
} formats_raised;

typedef struct formats_front {
    uint64_t model_id;
    uint8_t layout;     /* taper_layout */
    uint8_t tail;       /* 1: the last layer's chunks from group first_cut on are cut; else 0 */
    uint32_t first_cut; /* a group; 0 when tail is 0 */
    uint64_t holds;     /* which cuts are drawn as shorter ones (formats/holds.h); 0: none */
    uint32_t images, groups, layers;
    formats_geometry *geometry; /* [images] */
    uint32_t *group_first; /* [groups + 1] first place of each group, then `images`; in place p is
                              image formats_front_image(p): p itself with one rate class */
    uint32_t rate_classes; /* 1 .. FORMATS_MAX_RATE_CLASSES: a layer has other passes in each */
    uint8_t *group_rate_class; /* [groups]; NULL with one rate class, and so are the next three */
    uint8_t *image_rate_class; /* [images] */
    uint32_t *image_at;  /* [images] of each place: formats_front_place_images makes these two */
    uint32_t *place_of;  /* [images] of each image */
    uint32_t *layer_end; /* [layers][rate_classes] passes up to each layer's end: not falling,
                            with one rate class rising */
    uint32_t chunks_per_checksum; /* consecutive chunks of one layer share a CRC32C */
    uint64_t *chunk_at;  /* [layers * groups + 1] offset of each chunk from the start of the data,
                            layer after layer; the last entry is the size of the data */
    uint32_t *checksum;  /* [formats_front_checksums()] */
    uint32_t *raised_at; /* [groups + 1] where each group's units begin in raised[]; NULL: none */
    formats_raised *raised; /* [raised_at[groups]] in a group by rising unit */
    char *names;            /* one NUL-ended name an image; NULL: none */
    uint32_t *name_at;      /* [images] offsets into names */
    int32_t *label;         /* [images], -1: none; NULL: no labels */
    uint32_t classes;
    char *class_names;       /* one NUL-ended name a class; NULL with classes 0 */
    uint32_t *class_name_at; /* [classes] */
    uint64_t search_model_id; /* of the binary model of search_codes */
    uint32_t search_bits;     /* of each; 0: there are none */
    uint8_t *search_codes;    /* [images][(search_bits + 7) / 8] the first bit the highest */
    uint8_t *search_model;    /* that model's .tpm file; NULL: not here, as without codes */
    size_t search_model_size;
    uint8_t *model;           /* embedded .tpm file; NULL: none */
    size_t model_size;
    uint64_t front_size;     /* bytes before the data; set by read and write */
    formats_account account; /* what it holds, and what writing takes; limit 0: none is kept */
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
/* Passes of a group up to the end of a layer; of the group that has most. */
static inline uint32_t formats_front_layer_end(const formats_front *f, uint32_t layer,
                                               uint32_t group) {
    return f->layer_end[(size_t)layer * f->rate_classes + formats_front_rate_class(f, group)];
}
uint32_t formats_front_passes(const formats_front *front, uint32_t layer);
/* The group that holds an image. */
uint32_t formats_front_group(const formats_front *front, uint32_t image);

/* From group_first and the rate classes: the images of a rate class fill its groups in order.
 * TAPER_ERR_CORRUPT: a rate class's groups do not hold as many images as it has; _NOMEM. */
taper_status formats_front_place_images(formats_front *front);

/* The units of group g with raised planes, and their number. */
static inline const formats_raised *formats_front_raised(const formats_front *f, uint32_t g,
                                                         uint32_t *n) {
    *n = f->raised_at ? f->raised_at[g + 1] - f->raised_at[g] : 0;
    return f->raised_at ? f->raised + f->raised_at[g] : NULL;
}

/* Blocks of chunks_per_checksum chunks; blocks do not cross layers. */
uint64_t formats_front_checksums(const formats_front *front);

/* How many bytes of the data are drawn of a cut that has so many: all, if it is whole. */
uint64_t formats_front_drawn(const formats_front *front, uint64_t bytes);

/* The name of image i, or NULL; of class k, or NULL. */
const char *formats_front_name(const formats_front *front, uint32_t i);
const char *formats_front_class_name(const formats_front *front, uint32_t k);

/* *array, of any type, to zeroed memory for n + 1 of `size` bytes each, charged to the front's
 * account. TAPER_ERR_LIMIT, TAPER_ERR_NOMEM. */
taper_status formats_front_take(formats_front *front, uint64_t n, size_t size, void *array,
                                taper_error *error);
/* Charge bytes that are taken elsewhere for its sake, with the same sentence. */
taper_status formats_front_charge(formats_front *front, uint64_t bytes, taper_error *error);
/* That sentence, where so many bytes more are wanted. */
taper_status formats_front_refuse(const formats_front *front, uint64_t bytes, taper_error *error);
/* For buffers that grow on its account: NULL where none is kept. */
static inline formats_account *formats_front_account(formats_front *front) {
    return front->account.limit ? &front->account : NULL;
}

/* Bytes of an image's code for search. */
static inline size_t formats_front_search_bytes(const formats_front *f) {
    return ((size_t)f->search_bits + 7) / 8;
}

void formats_front_free(formats_front *front); /* leaves it zeroed */

/* A relative path of one or more plain parts: no empty part, "." or "..", no control characters, no
 * backslash but that of an escape (name_key.h), at most 4,095 bytes: what a container may hold as a
 * name. */
int formats_name_is_legal(const char *name);

#endif
