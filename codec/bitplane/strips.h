/* strips.h -- a group as strips that are coded independently, so that threads share an image.
 *
 * A group of one large image is divided into strips of rows of windows, of which each is coded like
 * a group of its own: contexts do not see beyond it, and its probabilities adapt by themselves. A
 * chunk has a string for each strip, in segments (entropy/interleave.h). Any other group is one
 * strip, and its chunks are its strings. The strips of a group are decoded to the same pass, unless
 * the bytes of a chunk are incomplete. */
#ifndef CODEC_STRIPS_H
#define CODEC_STRIPS_H
#include "codec/bitplane/chunk_coder.h"
#include "codec/entropy/interleave.h"

struct codec_pool;

/* An image of n windows has as many strips s as s s CODEC_STRIP_WINDOWS <= n allows: 2 at 1,536
 * windows, 10 at 38,400. So both their number and their size grow with the image. A strip has at
 * least CODEC_STRIP_ROWS rows. */
enum { CODEC_STRIP_WINDOWS = 384, CODEC_STRIP_ROWS = 8 };

/* The most strips of an image of so many windows; at least 1. */
uint32_t codec_strips_most(uint64_t windows);

/* The number of strips of a group of n_images with these grids. */
uint32_t codec_strips_count(const codec_grid *grid, size_t n_images);
/* The first row of strip i, or the number of rows for i == strips. */
static inline uint32_t codec_strip_row(codec_grid grid, uint32_t strips, uint32_t i) {
    return (uint32_t)((uint64_t)grid.rows * i / strips);
}

typedef struct codec_strips {
    uint32_t n;
    codec_chunk_coder *coder; /* [n] */
    uint32_t *first;          /* [n + 1] first window of each strip in the group */
    /* The decoder's state in a chunk: */
    int started;                /* the chunk was begun */
    codec_rc_decoder *rc;       /* [n] */
    codec_interleaved segments; /* of several strips */
    /* Borrowed; threads for large groups. NULL: none. */
    struct codec_pool *pool;
    codec_group_blocks blocks; /* all of this but the strings */
    codec_group_shape shape;   /* of the group */
    /* Levels and what coding needs, in few bytes (parking/parked_strips.h); or none. coding_at:
     * where what coding needs begins in them; 0: there is nothing of it. */
    formats_block parked;
    uint64_t coding_at;
} codec_strips;

/* Allocate the state before the first pass, for n_images with these grids (all >= 1 x 1). All
 * memory is charged to the account, which may be NULL. TAPER_ERR_NOMEM, TAPER_ERR_LIMIT: *strips
 * owns nothing. */
taper_status codec_strips_alloc(codec_strips *strips, const codec_code_tables *tables,
                                const codec_grid *grid, size_t n_images, formats_account *account,
                                taper_error *error);
void codec_strips_free(codec_strips *strips); /* leaves it zeroed; NULL is allowed */
/* Return to the state before the first pass. */
void codec_strips_reset(codec_strips *strips);
/* Free what only coding needs. The groups can then be read, and no more. */
void codec_strips_end_coding(codec_strips *strips);

/* Take the memory of levels where they have none, and of what only coding needs: zeroed, but for
 * norms. codec_strips_give frees both. It leaves the progress, the adaptive probabilities and the
 * strings. TAPER_ERR_NOMEM, TAPER_ERR_LIMIT: as before. */
taper_status codec_strips_take(codec_strips *strips, int for_coding);
void codec_strips_give(codec_strips *strips);
static inline int codec_strips_have_levels(const codec_strips *strips) {
    return strips->blocks.levels.memory != NULL;
}
static inline int codec_strips_can_code(const codec_strips *strips) {
    return strips->blocks.coding.memory != NULL;
}

/* What codec_strips_alloc charges for a group of this shape; saturates. */
uint64_t codec_strips_bytes(const codec_code_tables *tables, const codec_group_shape *shape);

/* The strip that holds a window of the group. */
uint32_t codec_strip_of(const codec_strips *strips, uint32_t window);
/* The group of the strip that has the fewest passes. */
const codec_group *codec_strips_last(const codec_strips *strips);

/* Encode the passes before `end` and append the chunk to out. code: [units][stride] of all windows.
 * most: coding may end once out has more than this many bytes: *ended is then 1, later passes
 * cannot be encoded any more, and the first `most` bytes of out do not depend on it. 0: no limit.
 * Also ends at the ceiling of out, with TAPER_ERR_LIMIT. */
taper_status codec_strips_encode(codec_strips *strips, const int16_t *code, size_t stride,
                                 uint32_t end, uint64_t most, formats_buffer *out, int *ended);

/* The known prefix of a chunk; whole: it is the complete chunk. */
typedef struct codec_chunk_bytes {
    const uint8_t *bytes;
    size_t size;
    int whole;
} codec_chunk_bytes;

/* Decode the passes before `end` as far as these bytes go. The next call may give more bytes of the
 * same chunk, until codec_strips_end_chunk. TAPER_ERR_LIMIT, TAPER_ERR_NOMEM: for its strings. */
taper_status codec_strips_decode(codec_strips *strips, codec_chunk_bytes chunk, uint32_t end);
void codec_strips_end_chunk(codec_strips *strips);

/* Nonzero if a chunk of `size` bytes can contain the passes up to `end` (chunk_coder.h). */
int codec_strips_are_plausible(const codec_strips *strips, uint32_t end, uint64_t size);

/* Strips that are encoded one after the other, and joined to a chunk. A string is encoded from
 * codec_rc_encoder_init to codec_rc_encoder_finish, and its sizes are noted after every
 * CODEC_STRIPS_STEP passes, and after the last one. */
enum { CODEC_STRIPS_STEP = 8 };
typedef struct codec_strip_sizes {
    uint64_t size;  /* bytes of the string so far */
    uint64_t below; /* one past the last of them that is below 255 */
} codec_strip_sizes;
codec_strip_sizes codec_strip_sizes_of(const formats_buffer *string);

typedef struct codec_encoded_strips {
    uint32_t n, steps;
    const formats_buffer *string;   /* [n] finished */
    const codec_strip_sizes *sizes; /* [steps][n] */
} codec_encoded_strips;
/* Append the chunk to out: the bytes of codec_strips_encode, with the same `most` and *ended. */
taper_status codec_strips_join(const codec_encoded_strips *of, uint64_t most, formats_buffer *out,
                               int *ended);

#endif
