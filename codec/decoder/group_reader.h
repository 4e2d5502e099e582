/* group_reader.h -- decoding one group from its chunks, which may arrive in pieces. */
#ifndef CODEC_GROUP_READER_H
#define CODEC_GROUP_READER_H
#include "codec/bitplane/strips.h"
#include "codec/bitplane/raised_planes.h"
#include "codec/chunks/checked_blocks.h"
#include "codec/exact/exact_images.h"
#include "codec/model/model.h"
#include "codec/parking/parked_strips.h"
#include "codec/pixels/pixel_group.h"

typedef struct codec_group_reader {
    /* Of the images that have windows. Of a group without windows, those of one window, which are
     * never decoded. */
    codec_strips strips;
    int has_windows;
    codec_pixel_group pixels; /* n 0: no image of the group has pixels in pixel layers */
    /* The tables of its coders if the group has raised planes; else zeroed. */
    codec_code_tables raised;
    uint32_t group, images;
    uint32_t number;     /* of the group in the container; `group` is that in its front */
    uint32_t *first;     /* [images + 1] first window of each image; indexed ones have none */
    formats_block lists; /* that, and the images' grids while the group is opened */
    /* The current layer; front->layers after the last. Layers without bytes for the group that have
     * none of its windows or planes are passed over. */
    uint32_t layer;
    /* The received bytes of the current chunk. */
    formats_buffer chunk;
    /* With taper_decoder_push: the chunks before it, to decode them again if it is damaged. */
    formats_buffer kept;
    /* Of the exact layer: the bytes of its chunk, once they are not in `chunk`, and whether these
     * are all; and the images, when they are needed, of a group of several. */
    formats_buffer exact;
    int exact_whole;
    codec_exact_images exact_images;
    /* Bytes of the current chunk that were decoded: of pixels; of passes. */
    size_t pixel_bytes, pass_bytes;
    int here;      /* the chunk is complete, but not its checksum block */
    int plausible; /* if its decoding was started and it is complete: the chunk is plausible */
    /* A checksum is wrong or a chunk is not plausible: nothing more is decoded. */
    int bad;
    /* is_supplied: no chunk is kept. again: part of a damaged chunk was decoded; the group must be
     * opened again. Only with is_supplied. */
    int is_supplied, again;
    /* Passes, at most, that are decoded; of these the ones that the model's stages can decode. */
    uint32_t pass_limit, known_passes;
    uint64_t bytes_used;
    /* Borrowed; charged with all memory of the reader. */
    formats_account *account;
} codec_group_reader;

/* The state of a reader of pushed or supplied bytes may be parked between these calls
 * (parking/awake_strips.h). Whoever reads it wakes it for reading before. Decoding wakes it where
 * there is something to decode. */

/* Open group g, before its first byte. TAPER_ERR_LIMIT: the account has too little memory. */
taper_status codec_group_reader_open(codec_group_reader *reader, const taper_model *model,
                                     const formats_front *front, uint32_t g,
                                     formats_account *account, taper_error *error);
/* Continue with a model that has more stages, and decode what is kept again. TAPER_ERR_LIMIT,
 * _NOMEM: it is closed. */
taper_status codec_group_reader_rebind(codec_group_reader *reader, const taper_model *model,
                                       const formats_front *front, taper_error *error);
/* Leaves it zeroed. NULL is allowed. */
void codec_group_reader_close(codec_group_reader *reader);
/* Decode at most so many of the model's passes; UINT32_MAX: all. Before its first byte. */
void codec_group_reader_limit(codec_group_reader *reader, uint32_t passes);

/* Append bytes to the current chunk. */
taper_status codec_group_reader_feed(codec_group_reader *reader, const void *bytes, size_t n);
/* Decode all received bytes, even if their checksum is not known yet. TAPER_ERR_LIMIT,
 * TAPER_ERR_NOMEM: no memory for the strings of a chunk of several strips. */
taper_status codec_group_reader_decode(codec_group_reader *reader, const formats_front *front,
                                       taper_error *error);
/* Finish the chunk of a layer, once its checksum block is complete; layers that have nothing of the
 * group were passed over. holds: the checksum is right. If so, or if the chunk has no bytes, decode
 * the chunk and go to the next layer. Otherwise undo what was decoded of it and stop. */
taper_status codec_group_reader_end_chunk(codec_group_reader *reader, const formats_front *front,
                                          uint32_t layer, int holds);
/* Nothing more is decoded: free what only that needs. The group can be read. */
void codec_group_reader_end(codec_group_reader *reader, const formats_front *front);
/* The model's passes that all windows of the group have completely; of a group without windows,
 * those of the layers that are here. */
uint32_t codec_group_reader_passes(const codec_group_reader *reader, const formats_front *front);
/* What pixel layers have of image i of the group; NULL: nothing, for no image of the group. */
const codec_pixel_image *codec_group_reader_pixels(const codec_group_reader *reader, uint32_t i);
/* Nonzero: what comes before the exact layer is complete, and of that there are bytes: *out, which
 * are valid until the reader changes. */
int codec_group_reader_exact(const codec_group_reader *reader, const formats_front *front,
                             codec_exact_string *out);
/* Nonzero if all received image data of the group are decoded, with or without checksum. */
int codec_group_reader_is_done(const codec_group_reader *reader, const formats_front *front);

/* The open groups of a source, one per rate class. The images of a rate class fill its groups in
 * order, so reading all images in order opens every group once. Begins zeroed. */
typedef struct codec_group_readers {
    /* Borrowed; charged with their memory. NULL: no account. */
    formats_account *account;
    codec_group_reader of_rate_class[FORMATS_MAX_RATE_CLASSES];
    codec_checked_block block;
    /* Borrowed; threads for large groups. NULL: none. */
    struct codec_pool *pool;
    /* Borrowed; the bytes of the source that are available. NULL: all. */
    const codec_byte_store *held;
    /* [rate classes] borrowed; the model's passes, at most, to decode. NULL: all. */
    const uint32_t *pass_limit;
} codec_group_readers;

/* Open group g and decode it as far as the source goes. Chunks with a wrong checksum are not
 * decoded. *out is borrowed. If the account has too little memory, the groups of other rate classes
 * are closed. On failure the group is closed. TAPER_ERR_LIMIT: the group alone needs too much
 * memory. */
taper_status codec_group_readers_open(codec_group_readers *readers, const taper_model *model,
                                      const formats_front *front, uint32_t g,
                                      const taper_source *source, codec_group_reader **out,
                                      taper_error *error);
/* Close all groups, or all but the one of this rate class. The borrowed members stay. */
void codec_group_readers_close(codec_group_readers *readers);
void codec_group_readers_keep(codec_group_readers *readers, uint32_t rate_class);

#endif
