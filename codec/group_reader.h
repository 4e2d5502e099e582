/* group_reader.h -- decoding one group as its chunks arrive, whole or in pieces; for decoder.c and
 * recut.c. */
#ifndef CODEC_GROUP_READER_H
#define CODEC_GROUP_READER_H
#include "../formats/container.h"
#include "chunk_coder.h"
#include "model.h"
#include "raised_planes.h"

typedef struct codec_group_reader {
    codec_group state;
    codec_code_tables raised; /* the state's, where the group has raised planes; else zeroed */
    uint32_t group, images;
    uint32_t *first;      /* [images + 1] first window of each image */
    uint32_t layer;       /* layer in work; front->layers when all are done */
    formats_buffer chunk; /* its bytes at hand */
    formats_buffer kept;  /* pushed: the chunks before it, to begin again where it turns out bad */
    codec_rc_decoder rc;
    int here;      /* all bytes of the chunk are at hand, but not yet the rest of its block */
    int started;   /* rc has begun on this chunk */
    int plausible; /* if so: whole, the chunk is */
    int bad;       /* a checksum failed or the chunk is not plausible: nothing more is decoded */
    uint64_t bytes_used;
} codec_group_reader;

/* State before the first byte of group g. TAPER_ERR_LIMIT when it needs more than max_memory. */
taper_status codec_group_reader_open(codec_group_reader *reader, const taper_model *model,
                                     const formats_front *front, uint32_t g, uint64_t max_memory,
                                     taper_error *error);
void codec_group_reader_close(codec_group_reader *reader); /* leaves it zeroed; NULL is fine */

/* Append bytes of the chunk in work. */
taper_status codec_group_reader_feed(codec_group_reader *reader, const void *bytes, size_t n);
/* Decode as far as the bytes at hand go: of a chunk whose checksum is not known yet, for now. */
void codec_group_reader_decode(codec_group_reader *reader, const formats_front *front);
/* The chunk is all at hand and its checksum block, too, which holds or does not: decode it for good
 * and step to the next layer, or take back what was decoded of it and go no further. */
taper_status codec_group_reader_settle(codec_group_reader *reader, const formats_front *front,
                                       int holds);
/* All that there is of its image data, checksum or not, is decoded. */
int codec_group_reader_is_done(const codec_group_reader *reader, const formats_front *front);

/* Is the chunk of this layer and group one that truncate has cut? */
int codec_chunk_is_cut(const formats_front *front, uint32_t layer, uint32_t group);

/* Read group g from a source as far as it goes: checksums are verified before chunks are decoded.
 */
taper_status codec_group_reader_load(codec_group_reader *reader, const formats_front *front,
                                     uint32_t g, const taper_source *source, taper_error *error);

/* Groups of a source, one of each track open at a time: as a track's images fill its groups in
 * order, all images in their order open every group once. Begins zeroed. */
typedef struct codec_group_readers {
    codec_group_reader of_track[FORMATS_MAX_TRACKS];
    struct codec_pool *pool; /* borrowed; for their groups. NULL: none */
} codec_group_readers;

/* *out: group g, loaded. Where the open groups would not fit max_memory together, the others are
 * closed. On failure the group is closed; TAPER_ERR_LIMIT: it does not fit by itself. */
taper_status codec_group_readers_turn(codec_group_readers *readers, const taper_model *model,
                                      const formats_front *front, uint32_t g,
                                      const taper_source *source, uint64_t max_memory,
                                      codec_group_reader **out, taper_error *error);
void codec_group_readers_close(codec_group_readers *readers); /* leaves all but the pool zeroed */

/* Read a container's front matter from a source. */
taper_status codec_front_load(const taper_source *source, const taper_limits *limits,
                              formats_front *front, taper_error *error);
/* Does this model decode this front? TAPER_ERR_MODEL, or TAPER_ERR_CORRUPT when its passes exceed
 * the model's. */
taper_status codec_front_match(const formats_front *front, const taper_model *model,
                               taper_error *error);

#endif
