/* decoder.h -- the state of a decoder (taper.h), shared by the source files of this directory.
 *
 * The directory codec/decoder/: containers to images.
 *   open_container   an open container: front matter, model, source, and their properties
 *   container_file   opens files and bytes in memory; decodes one image of a file; files of which
 *                    the front matter is read in parts
 *   decoder          opening a decoder, and its groups
 *   pushed           taper_decoder_push: bytes in file order
 *   supplied         taper_decoder_supply: bytes in any order
 *   kept_groups      groups of supplied bytes, which further bytes continue
 *   planned          taper_decoder_plan and _plan_name: the bytes that an image needs
 *   planned_images   taper_decoder_plan_images: the bytes that many images need
 *   rendering        the pixels of an image whose group is in memory
 *   parts            taper_decoder_render: images, their rows, rectangles and small versions
 *   strip_reader     decodes the strips of a large image one after the other
 *   batch            crops of many images in one array
 *   group_reader     decodes one group, chunk by chunk
 *   front_load       the front matter from a source, and its models
 *   verify           checks that a container is complete and undamaged
 *   levels           the decoded integers as text, to compare decoders */
#ifndef CODEC_DECODER_H
#define CODEC_DECODER_H
#include "codec/backend/backend.h"
#include "codec/decoder/group_reader.h"
#include "codec/decoder/kept_groups.h"
#include "codec/decoder/open_container.h"
#include "codec/render/strip_renderer.h"
#include "codec/transform/picture.h"
#include "codec/transform/small_basis.h"

enum {
    /* Windows that are rendered at once, unless an image has more. */
    CODEC_RENDER_WINDOWS = 512
};

/* A cache of rendered windows of one group. */
typedef struct codec_rendered {
    int16_t *value;           /* [capacity][inputs], picture.h */
    size_t capacity;          /* in windows */
    uint32_t group, first, n; /* n 0: empty */
    uint32_t pass, position;  /* the decoded state that was rendered */
    /* What rendered an earlier group, or zeroed, and its memory: the next group is like it. */
    codec_strip_renderer earlier;
    uint64_t earlier_bytes;
} codec_rendered;

/* Where a decoder's bytes come from. */
typedef enum codec_feed {
    CODEC_FEED_UNKNOWN, /* of a streaming decoder before its first bytes */
    CODEC_FEED_SOURCE,
    CODEC_FEED_PUSHED,
    CODEC_FEED_SUPPLIED
} codec_feed;

/* Of a decoder with a source, or with supplied bytes, which are read like one. */
typedef struct codec_reading {
    taper_source source; /* up to the cut, as far as it is rendered */
    codec_group_readers readers;
    /* [rate class] the model's passes that its open group is decoded to, at most. */
    uint32_t pass_limit[FORMATS_MAX_RATE_CLASSES];
    /* The leaf whose groups the readers are of; or that of the container; or NULL. */
    const formats_front *current;
} codec_reading;

typedef struct codec_pushing {
    codec_group_reader **reader; /* [groups], opened when their first bytes arrive; else NULL */
    codec_awake_strips awake;    /* of these */
    formats_buffer head;         /* bytes of the front matter */
    formats_buffer waiting;      /* image data that is not rendered yet (formats/holds.h) */
    formats_buffer stage;        /* bytes of the next stage of the model */
    uint64_t arrived;            /* bytes of image data, with those in `waiting` */
    uint64_t chunk;              /* the current chunk */
    uint64_t in_chunk;           /* its bytes so far */
    uint32_t crc;                /* of the current checksum block */
    int is_lost;                 /* memory lacked to decode with another stage of the model */
} codec_pushing;

typedef struct codec_supplying {
    codec_byte_store held;
    codec_kept_groups groups; /* of which all passes are wanted */
    uint64_t cut;             /* the size of the cut file that the bytes stand for */
    uint64_t head_bytes;      /* the part of the front matter that is not held as it was read */
    taper_status stage;       /* of the last stage of the model that was here whole */
} codec_supplying;

struct taper_decoder {
    codec_feed feed;
    /* The caller's, or &own. */
    const taper_container *container;
    /* Of a streaming decoder: its container, as far as bytes have arrived. */
    taper_container own;
    const taper_model *given_model; /* for `own` */
    taper_model *cut_model; /* that of the container as far as the cut has it; NULL: whole */
    taper_limits limits;
    int front_ready;
    uint64_t need; /* streaming: size of the front matter, as far as known */
    codec_reading reading;
    codec_pushing pushing;
    codec_supplying supplying;

    codec_backend backend;
    /* All memory of the decoder and of its container, except the model, is charged here. */
    formats_account account;
    codec_rendered rendered[FORMATS_MAX_RATE_CLASSES];
    /* Of the last scale, for taper_decoder_render_scaled; charged to the account. */
    codec_small_basis small;
    /* The complete passes, with raised ones, of the last image that was rendered strip by strip and
     * whose strips end differently. Of a decoder with a source, which does not change. */
    struct {
        uint64_t image;
        uint32_t passes;
        int is_known;
    } strips;
    /* Of each rate class: the last image of which single strips were decoded, and how many in all:
     * once these would be the whole image, its group is decoded, and kept. */
    struct {
        uint64_t image;
        uint32_t strips; /* 0: none */
    } parts[FORMATS_MAX_RATE_CLASSES];
    /* Of taper_decoder_render_batch: a decoder for each thread. */
    taper_decoder **helper;
    unsigned helpers;
    /* taper_decode_options */
    uint64_t cut;
    uint32_t asked_passes; /* UINT32_MAX: all */
    /* taper_decoder_set_scale, and the fewer of asked_passes and those that this scale shows. */
    uint32_t scale, passes;
    /* After taper_decoder_push: final. After taper_decoder_supply: the error in the front matter
     * as it was supplied. */
    taper_error failure;
};

/* The model. The front matter is complete. */
static inline const taper_model *codec_decoder_model(const taper_decoder *d) {
    return d->cut_model ? d->cut_model : d->container->model;
}

/* Returns TAPER_ERR_LIMIT, with a message for a front matter of this size. */
taper_status codec_decoder_refuse_front(const taper_decoder *decoder, uint64_t bytes,
                                        taper_error *error);

/* Image i: its properties, its group, and its windows there: n from first.
 * codec_decoder_find returns the properties only. codec_decoder_load_image also decodes the group,
 * from the bytes received so far, up to `passes` of the model's passes. (With taper_decoder_push
 * all passes are decoded.) TAPER_ERR_TRUNCATED: the front matter is incomplete. TAPER_ERR_ARG:
 * there is no such image. Also the errors of codec_group_readers_open. */
typedef struct codec_decoder_image {
    taper_image_info info;
    codec_group_reader *group;
    uint32_t first, n; /* n 0: an indexed image */
    /* Alpha, or an indexed image; NULL: neither. */
    const codec_pixel_image *pixels;
} codec_decoder_image;
taper_status codec_decoder_find(const taper_decoder *decoder, uint64_t i, taper_image_info *info,
                                taper_error *error);
taper_status codec_decoder_load_image(taper_decoder *decoder, uint64_t i, uint32_t passes,
                                      codec_decoder_image *out, taper_error *error);

/* For a loaded image: how complete it is; and TAPER_ERR_CORRUPT if its group is damaged. */
taper_completeness codec_decoder_completeness(const taper_decoder *decoder,
                                              const codec_group_reader *group);
taper_status codec_decoder_damage(const codec_group_reader *group, taper_error *error);

/* Fail with TAPER_ERR_LIMIT: rendering an image needs this memory. */
taper_status codec_decoder_refuse(const taper_decoder *decoder, uint64_t bytes, taper_error *error);
/* Check, before decoding, that an image of these windows and this memory for rendering it fit in
 * max_memory. */
taper_status codec_decoder_check_memory(const taper_decoder *decoder, codec_grid grid,
                                        uint64_t bytes, taper_error *error);
/* Check, after decoding, that this memory for rendering an image is left. Caches are dropped if
 * necessary. */
taper_status codec_decoder_need(taper_decoder *decoder, const taper_image_info *info,
                                uint64_t bytes, taper_error *error);

/* Render a loaded image to its picture, before the lap and without a cache. Its memory is that of
 * codec_decoder_picture_bytes, which also counts the restoration. *out is the caller's to free. */
taper_status codec_decoder_picture(taper_decoder *decoder, const codec_decoder_image *image,
                                   codec_picture *out, taper_error *error);
uint64_t codec_decoder_picture_bytes(const taper_decoder *decoder, const taper_image_info *info);

/* Make the small basis of a scale, if it is not there. TAPER_ERR_NOMEM. codec_decoder_drop_basis
 * frees it. */
taper_status codec_decoder_make_basis(taper_decoder *decoder, uint32_t scale, taper_error *error);
void codec_decoder_drop_basis(taper_decoder *decoder);
/* Set `passes`, now that the model is known. TAPER_ERR_LIMIT, TAPER_ERR_NOMEM. */
taper_status codec_decoder_apply_scale(taper_decoder *decoder, taper_error *error);
/* TAPER_ERR_ARG: the scale is not 1, 2, 4, 8 or 16. */
taper_status codec_decoder_check_scale(uint32_t scale, taper_error *error);

/* With taper_decoder_supply. codec_supplied_begin: the first call makes a decoder one for supplied
 * bytes; TAPER_ERR_ARG: it is another one already. codec_supplied_end: the size of the source for
 * the cut. codec_supplied_leaf: read leaf k if its bytes are there; *missing: nonzero if they are
 * not. TAPER_ERR_CORRUPT, _LIMIT, _NOMEM. */
taper_status codec_supplied_begin(taper_decoder *decoder, taper_error *error);
uint64_t codec_supplied_end(const taper_decoder *decoder);
taper_status codec_supplied_leaf(taper_decoder *decoder, uint32_t k, int *missing,
                                 taper_error *error);

/* Of a streaming decoder, stages of its model that lie between the layers.
 * codec_decoder_next_stage: the layer that has the next one; UINT32_MAX: none is wanted.
 * codec_decoder_take_stage: all bytes of it are there; what was decoded is decoded again, or
 * dropped. TAPER_ERR_CORRUPT: it is damaged, nothing has changed. TAPER_ERR_LIMIT, TAPER_ERR_NOMEM.
 */
uint32_t codec_decoder_next_stage(const taper_decoder *decoder);
taper_status codec_decoder_take_stage(taper_decoder *decoder, const uint8_t *bytes, size_t n,
                                      taper_error *error);
/* With supplied bytes: take the stages that are complete and hold. */
void codec_supplied_stages(taper_decoder *decoder);

/* With taper_decoder_push: the reader of group g, opened if necessary. */
taper_status codec_decoder_pushed_group(taper_decoder *decoder, uint32_t g,
                                        codec_group_reader **out, taper_error *error);

/* taper_decoder_render, of an image whose group is decoded as a whole and kept. */
taper_status codec_decoder_render_loaded(taper_decoder *decoder, uint64_t i, taper_image *out,
                                         taper_completeness *done, taper_error *error);
/* Nonzero: image i is so large that it is rendered strip by strip, and its group is not kept. */
int codec_decoder_goes_by_strips(taper_decoder *decoder, uint64_t i);

/* Free the decoders of taper_decoder_render_batch. */
void codec_decoder_free_helpers(taper_decoder *decoder);

/* Release memory: the open groups of other rate classes and all rendered windows; or the rendered
 * windows of one rate class. */
void codec_decoder_drop_others(taper_decoder *decoder, uint32_t rate_class);
void codec_decoder_drop_rendered(taper_decoder *decoder, codec_rendered *rendered);

#endif
