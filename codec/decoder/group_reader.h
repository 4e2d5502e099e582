/* group_reader.h -- decoding one group as its chunks arrive, whole or in pieces. */
#ifndef CODEC_GROUP_READER_H
#define CODEC_GROUP_READER_H
#include "codec/bitplane/chunk_coder.h"
#include "codec/bitplane/raised_planes.h"
#include "codec/decoder/byte_store.h"
#include "codec/model/model.h"
#include "formats/container.h"

typedef struct codec_group_reader {
    codec_chunk_coder coder;
    codec_code_tables raised; /* the coder's, where the group has raised planes; else zeroed */
    uint32_t group, images;
    uint32_t *first;      /* [images + 1] first window of each image */
    uint32_t layer;       /* layer in work; front->layers when all are done */
    formats_buffer chunk; /* its bytes at hand */
    formats_buffer kept;  /* pushed: the chunks before it, to begin again where it turns out bad */
    codec_rc_decoder rc;
    int here;        /* all bytes of the chunk are at hand, but not yet the rest of its block */
    int started;     /* rc has begun on this chunk */
    int plausible;   /* if started and whole: the chunk is plausible */
    int bad;         /* a checksum failed or the chunk is not plausible: nothing more is decoded */
    uint32_t enough; /* passes after which no more are decoded */
    uint64_t bytes_used;
    formats_account *account; /* borrowed; charged with all that it takes */
    uint64_t charged;         /* but for the two buffers */
} codec_group_reader;

/* State before the first byte of group g. TAPER_ERR_LIMIT: the account has too little left. */
taper_status codec_group_reader_open(codec_group_reader *reader, const taper_model *model,
                                     const formats_front *front, uint32_t g,
                                     formats_account *account, taper_error *error);
void codec_group_reader_close(codec_group_reader *reader); /* leaves it zeroed; NULL is fine */

/* Append bytes of the chunk in work. */
taper_status codec_group_reader_feed(codec_group_reader *reader, const void *bytes, size_t n);
/* Decode as far as the bytes at hand go, also where the checksum is not known yet. */
void codec_group_reader_decode(codec_group_reader *reader, const formats_front *front);
/* The chunk and its checksum block are all at hand; holds: the checksum does. Decode the chunk for
 * good and step to the next layer, or take back what was decoded of it and go no further. */
taper_status codec_group_reader_settle(codec_group_reader *reader, const formats_front *front,
                                       int holds);
/* Is all that there is of its image data decoded, checksum or not? */
int codec_group_reader_is_done(const codec_group_reader *reader, const formats_front *front);

/* Has truncate cut the chunk of this layer and group? */
int codec_chunk_is_cut(const formats_front *front, uint32_t layer, uint32_t group);

/* A stretch of the file. */
typedef struct codec_stretch {
    uint64_t at, size;
} codec_stretch;

/* Where the chunk of this layer and group is, and the block of chunks that share its checksum. */
codec_stretch codec_chunk_stretch(const formats_front *front, uint32_t layer, uint32_t group);
codec_stretch codec_block_stretch(const formats_front *front, uint32_t layer, uint32_t group);
uint32_t codec_block_checksum(const formats_front *front, uint32_t layer, uint32_t group);

/* The block of several chunks whose checksum was tested last. The bytes of a small one are kept:
 * mostly the next image asked for is in it. */
typedef struct codec_checked_block {
    uint64_t at, size; /* in the file; size 0: none */
    int holds;
    uint8_t *bytes; /* [CODEC_BLOCK_ROOM], or NULL; they are there where size is not more */
} codec_checked_block;

enum { CODEC_BLOCK_ROOM = 1 << 16 };

/* Groups of a source, one of each rate class open at a time: a rate class's images fill its groups
 * in order, so reading all images in order opens every group once. Begins zeroed. */
typedef struct codec_group_readers {
    formats_account *account; /* borrowed; charged with all that they take. NULL: none is kept */
    codec_group_reader of_rate_class[FORMATS_MAX_RATE_CLASSES];
    codec_checked_block block;
    struct codec_pool *pool;      /* borrowed; for their groups. NULL: none */
    const codec_byte_store *held; /* borrowed; what there is of the source. NULL: all */
    const uint32_t *enough; /* borrowed; of a rate class as in its groups. NULL: all are decoded */
} codec_group_readers;

/* *out: group g, loaded as far as the source goes; chunks whose checksum fails are not decoded. If
 * the account has too little left, the groups of other rate classes are closed. On failure the
 * group is closed; TAPER_ERR_LIMIT: it does not fit by itself. */
taper_status codec_group_readers_turn(codec_group_readers *readers, const taper_model *model,
                                      const formats_front *front, uint32_t g,
                                      const taper_source *source, codec_group_reader **out,
                                      taper_error *error);
/* Close all groups, or all but that of one rate class. */
void codec_group_readers_close(codec_group_readers *readers); /* leaves all but pool and account */
void codec_group_readers_keep(codec_group_readers *readers, uint32_t rate_class);

/* TAPER_ERR_LIMIT: front matter of so many bytes. */
taper_status codec_front_refuse(const taper_limits *limits, uint64_t bytes, taper_error *error);

/* Read a container's front matter from a source. */
taper_status codec_front_load(const taper_source *source, const taper_limits *limits,
                              formats_front *front, taper_error *error);
/* The source as far as it is drawn (formats/holds.h). */
taper_source codec_front_drawn(const formats_front *front, const taper_source *source);
/* The model that the front carries, or, where it carries none, the one of its id that ships.
 * TAPER_ERR_MODEL: neither is there. As the front is whole, a model that ends too early is
 * TAPER_ERR_CORRUPT, and so is another than the images are of; else as taper_model_load. *out is
 * NULL on failure. */
taper_status codec_front_model(const formats_front *front, const taper_limits *limits,
                               taper_model **out, taper_error *error);
/* The model of the codes for search that the front carries. TAPER_ERR_CORRUPT: it is not theirs, or
 * not binary, or they have more bits than it makes; else as codec_front_model. *out is NULL on
 * failure. */
taper_status codec_front_search_model(const formats_front *front, const taper_limits *limits,
                                      taper_model **out, taper_error *error);
/* The models that the front carries. TAPER_ERR_CORRUPT: one is broken, or another than the front
 * says, or does not fit it: whoever decodes or passes the front on refuses it. A model of another
 * version or above the limits is none of these, for it may be whole: what needs it says so.
 * is_known: nonzero: the model of the images was loaded and matched before. TAPER_ERR_NOMEM. */
taper_status codec_front_check_models(const formats_front *front, int is_known,
                                      const taper_limits *limits, taper_error *error);
/* Does this model decode this front? TAPER_ERR_MODEL, or TAPER_ERR_CORRUPT when it has no decoder
 * or the front's passes exceed its own. */
taper_status codec_front_match(const formats_front *front, const taper_model *model,
                               taper_error *error);

#endif
