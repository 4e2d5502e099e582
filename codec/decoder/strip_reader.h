/* strip_reader.h -- decoding the strips of a large image (bitplane/strips.h) one after the other.
 *
 * All chunks of the image are read once, in pieces; what is kept of them are the strings of the
 * strips that are wanted, as compressed as they are in the file. The state of a strip is in memory
 * while it is decoded and rendered, and no longer. */
#ifndef CODEC_STRIP_READER_H
#define CODEC_STRIP_READER_H
#include "codec/decoder/group_reader.h"

/* A layer as far as it is there. */
typedef struct codec_layer_strings {
    formats_buffer *string; /* [strips]; empty of strips that are not wanted */
    uint32_t end;           /* passes up to its end, with raised ones */
    int whole;              /* the chunk is complete */
} codec_layer_strings;

/* A decoded strip. Begins zeroed. */
typedef struct codec_read_strip {
    codec_chunk_coder coder; /* its group is the state; what only coding needs is freed */
    codec_group_blocks blocks;
} codec_read_strip;

typedef struct codec_strip_reader {
    const codec_code_tables *tables; /* the model's, or &raised */
    codec_code_tables raised;
    codec_grid grid;
    uint32_t strips, layers;    /* of the image; layers that have bytes */
    codec_layer_strings *layer; /* [layers] */
    uint32_t most;              /* passes to decode, at most, with raised ones */
    uint32_t passes;            /* those that all strips have, at least */
    /* As in codec_group_reader. layer_at: that behind the last one that is used. */
    uint32_t number, layer_at, pass_limit, known_passes;
    int bad, is_done;
    uint64_t bytes_used;
    formats_account *account; /* borrowed; charged with everything */
    formats_block lists;
} codec_strip_reader;

/* What is read: the strings of strips first .. end - 1, and the model's passes, at most. */
typedef struct codec_strips_wanted {
    uint32_t first, end, passes;
} codec_strips_wanted;

/* Read the chunks of group g, of one image of several strips. TAPER_ERR_LIMIT, _NOMEM, and the
 * errors of the source: *reader owns nothing. */
taper_status codec_strip_reader_open(codec_strip_reader *reader, const taper_model *model,
                                     const codec_chunk_source *from, uint32_t g,
                                     const codec_strips_wanted *wanted, formats_account *account,
                                     taper_error *error);
/* Leaves it zeroed. */
void codec_strip_reader_close(codec_strip_reader *reader);

/* Nonzero if all strips have the same complete passes: those of any of them. Otherwise the file
 * ends within their strings, and they have about the same. */
int codec_strip_reader_is_even(const codec_strip_reader *reader);

/* Take the memory of strip i, which is charged; then decode it, up to `most` passes, with raised
 * ones. Threads may decode several strips at once. codec_read_strip_end_coding frees what only
 * decoding needs. */
taper_status codec_strip_reader_take(codec_strip_reader *reader, uint32_t i, codec_read_strip *out,
                                     taper_error *error);
void codec_strip_reader_decode(const codec_strip_reader *reader, uint32_t i, uint32_t most,
                               codec_read_strip *strip);
void codec_read_strip_end_coding(codec_read_strip *strip);
void codec_read_strip_free(codec_read_strip *strip); /* leaves it zeroed */

/* The memory of a strip of an image of this grid, at most. */
uint64_t codec_read_strip_bytes(const codec_code_tables *tables, codec_grid grid);

#endif
