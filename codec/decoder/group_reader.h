/* group_reader.h -- decoding one group from its chunks, which may arrive in pieces. */
#ifndef CODEC_GROUP_READER_H
#define CODEC_GROUP_READER_H
#include "codec/bitplane/strips.h"
#include "codec/bitplane/raised_planes.h"
#include "codec/decoder/byte_store.h"
#include "codec/model/model.h"
#include "formats/container.h"

typedef struct codec_group_reader {
    codec_strips strips;
    /* The tables of its coders if the group has raised planes; else zeroed. */
    codec_code_tables raised;
    uint32_t group, images;
    uint32_t number; /* of the group in the container; `group` is that in its front */
    uint32_t *first; /* [images + 1] first window of each image */
    /* The current layer; front->layers after the last. */
    uint32_t layer;
    /* The received bytes of the current chunk. */
    formats_buffer chunk;
    /* With taper_decoder_push: the chunks before it, to decode them again if it is damaged. */
    formats_buffer kept;
    int here;      /* the chunk is complete, but not its checksum block */
    int plausible; /* if its decoding was started and it is complete: the chunk is plausible */
    /* A checksum is wrong or a chunk is not plausible: nothing more is decoded. */
    int bad;
    /* Passes, at most, that are decoded. */
    uint32_t pass_limit;
    uint64_t bytes_used;
    /* Borrowed; charged with all memory of the reader. */
    formats_account *account;
    uint64_t charged; /* without the two buffers */
} codec_group_reader;

/* Open group g, before its first byte. TAPER_ERR_LIMIT: the account has too little memory. */
taper_status codec_group_reader_open(codec_group_reader *reader, const taper_model *model,
                                     const formats_front *front, uint32_t g,
                                     formats_account *account, taper_error *error);
/* Leaves it zeroed. NULL is allowed. */
void codec_group_reader_close(codec_group_reader *reader);

/* Append bytes to the current chunk. */
taper_status codec_group_reader_feed(codec_group_reader *reader, const void *bytes, size_t n);
/* Decode all received bytes, even if their checksum is not known yet. TAPER_ERR_LIMIT,
 * TAPER_ERR_NOMEM: no memory for the strings of a chunk of several strips. */
taper_status codec_group_reader_decode(codec_group_reader *reader, const formats_front *front,
                                       taper_error *error);
/* Finish the current chunk, once its checksum block is complete. holds: the checksum is right. If
 * so, decode the chunk and go to the next layer. Otherwise undo what was decoded of it and stop. */
taper_status codec_group_reader_end_chunk(codec_group_reader *reader, const formats_front *front,
                                          int holds);
/* The model's passes that all windows of the group have completely. */
uint32_t codec_group_reader_passes(const codec_group_reader *reader);
/* Nonzero if all received image data of the group are decoded, with or without checksum. */
int codec_group_reader_is_done(const codec_group_reader *reader, const formats_front *front);

/* Nonzero if taper_truncate shortened the chunk of this layer and group. */
int codec_chunk_is_cut(const formats_front *front, uint32_t layer, uint32_t group);

/* A range of the file, in bytes. */
typedef struct codec_file_range {
    uint64_t at, size;
} codec_file_range;

/* The range of the chunk of this layer and group, and that of the block of chunks that share its
 * checksum; and that checksum, a CRC-32C. */
codec_file_range codec_chunk_range(const formats_front *front, uint32_t layer, uint32_t group);
codec_file_range codec_block_range(const formats_front *front, uint32_t layer, uint32_t group);
uint32_t codec_block_checksum(const formats_front *front, uint32_t layer, uint32_t group);

/* A cache: the last checked block of several chunks. The bytes of a small block are kept, as the
 * next image that is read is usually in it. */
typedef struct codec_checked_block {
    uint64_t at, size; /* in the file; size 0: empty */
    int holds;         /* the checksum is right */
    /* [CODEC_BLOCK_CAPACITY] or NULL; filled if size <= CODEC_BLOCK_CAPACITY. */
    uint8_t *bytes;
} codec_checked_block;

enum { CODEC_BLOCK_CAPACITY = 1 << 16 };

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

/* Returns TAPER_ERR_LIMIT, with a message for a front matter of this size. */
taper_status codec_front_refuse(const taper_limits *limits, uint64_t bytes, taper_error *error);

/* Read a container's front matter from a source. */
taper_status codec_front_load(const taper_source *source, const taper_limits *limits,
                              formats_front *front, taper_error *error);
/* The prefix of the source that is rendered (formats/holds.h). */
taper_source codec_front_drawn(const formats_front *front, const taper_source *source);
/* Load the model that the front carries or, if it carries none, the built-in model of its id. On
 * failure *out is NULL. TAPER_ERR_MODEL: there is neither. TAPER_ERR_CORRUPT: the carried model is
 * damaged, incomplete, or has another id. Also the errors of taper_model_load. */
taper_status codec_front_model(const formats_front *front, const taper_limits *limits,
                               taper_model **out, taper_error *error);
/* Load the model of the search codes that the front carries. On failure *out is NULL.
 * TAPER_ERR_CORRUPT: it has another id, is not binary or has too few units. Also the errors of
 * codec_front_model. */
taper_status codec_front_search_model(const formats_front *front, const taper_limits *limits,
                                      taper_model **out, taper_error *error);
/* Check the models that the front carries. TAPER_ERR_CORRUPT: one is damaged, has another id, or
 * does not fit the front; all functions that read a container reject it then. A model of another
 * version or above the limits is accepted here, as it may be intact; loading it fails where it is
 * needed. is_known: nonzero: the model of the images was already loaded and matched.
 * TAPER_ERR_NOMEM. */
taper_status codec_front_check_models(const formats_front *front, int is_known,
                                      const taper_limits *limits, taper_error *error);
/* Check that this model decodes this front. TAPER_ERR_MODEL: it has another id. TAPER_ERR_CORRUPT:
 * it has no decoder, or the front has more passes than it. */
taper_status codec_front_match(const formats_front *front, const taper_model *model,
                               taper_error *error);
/* The part of it that looks at images and groups, for the front of a leaf. codec_front_match calls
 * it unless the front is of a root, which has none. */
taper_status codec_front_match_images(const formats_front *front, const taper_model *model,
                                      taper_error *error);

#endif
