/* open_container.h -- an open container (taper_container of taper.h): its front matter, its model
 * and its source. Read-only once it is open: decoders of several threads share it. Only the
 * container of a streaming decoder (decoder.h) changes, as its leaves arrive. */
#ifndef CODEC_OPEN_CONTAINER_H
#define CODEC_OPEN_CONTAINER_H
#include "codec/chunks/checked_blocks.h"
#include "codec/decoder/front_load.h"
#include "codec/taper.h"
#include "formats/leaf.h"

struct taper_container {
    /* The caller's, or own_model, the carried or built-in one; NULL: none was bound. */
    const taper_model *model;
    taper_model *own_model;
    taper_limits limits;
    /* Of a paged container that is supplied, the front of its root, without images; they are in
     * the leaves then. */
    formats_front front;
    formats_root root;    /* leaves 0: none */
    formats_front **leaf; /* [leaves] owned; NULL: not supplied yet, or damaged */
    uint64_t leaves_used; /* memory of all of them */
    /* All bytes, as they were given; read NULL: of a streaming decoder. */
    taper_source source;
    /* Called by taper_container_close; NULL: the caller keeps the source. */
    void (*close_source)(void *user);
};

/* Add up what a complete front matter does not say. */
void codec_container_count(taper_container *c);
/* Free what it has; leaves it without front matter and model. */
void codec_container_empty(taper_container *c);

/* As taper_container_get_image, to a struct of this library. */
taper_status codec_container_image(const taper_container *c, uint64_t i, taper_image_info *out,
                                   taper_error *error);

/* *i, an image or a further name, becomes the image. TAPER_ERR_ARG: there is none. */
taper_status codec_container_shown(const taper_container *c, uint64_t *i, taper_error *error);

/* The front that has image i, or group g, of the container: that of the container or of a leaf;
 * NULL: it is not here. It numbers its images and groups from its first_image and first_group. */
const formats_front *codec_container_leaf_of_image(const taper_container *c, uint32_t i);
const formats_front *codec_container_leaf_of_group(const taper_container *c, uint32_t g);
/* The rate class of group g; its leaf is here. */
uint32_t codec_container_rate_class(const taper_container *c, uint32_t g);

#endif
