/* interleave.h -- several strings in one, so that a prefix of it has about the same share of each.
 *
 * A chunk of several strips (bitplane/strips.h) is a sequence of segments. A segment holds the next
 * bytes of all n strings:
 *     varint[n]   how many of each, up to CODEC_SEGMENT_MOST; in all at least 1
 *     rounds      of which there are R = ceil(sum of these / (CODEC_SEGMENT_PIECE n)). Round r has,
 *                 for one string after the other, its bytes floor(r length / R) up to
 *                 floor((r + 1) length / R)
 * A reader takes any prefix of it, and gets a prefix of each string. */
#ifndef CODEC_INTERLEAVE_H
#define CODEC_INTERLEAVE_H
#include "formats/bytes.h"
#include "formats/layout.h"

enum { CODEC_SEGMENT_PIECE = 64 };
#define CODEC_SEGMENT_MOST UINT32_MAX

/* Append a segment to out: bytes from[i] .. to[i] - 1 of each of the n strings; some of them are
 * not empty. Returns the status of out. */
taper_status codec_segment_write(const formats_buffer *string, const uint64_t *from,
                                 const uint64_t *to, uint32_t n, formats_buffer *out);

/* A reader. */
typedef struct codec_interleaved {
    uint32_t n;
    formats_buffer *string; /* [n] what is known of each */
    uint32_t *length;       /* [n] of the current segment */
    uint64_t rounds;        /* of the current segment; 0: its lengths come next */
    uint64_t round;         /* where the next byte belongs: the round, */
    uint32_t which, taken;  /* the string, and how many bytes of its piece were taken */
    size_t at;              /* bytes that were read */
    uint32_t first, end;    /* the strings that are kept; those of others stay empty */
    int bad;                /* a segment is not legal: nothing more is read */
} codec_interleaved;

/* Lay out a reader of n strings. */
void codec_interleaved_lay_out(codec_interleaved *segments, uint32_t n, formats_layout *at);
/* Begin with empty strings, all of which are kept. Their memory is charged to the account, which is
 * borrowed and may be NULL. */
void codec_interleaved_begin(codec_interleaved *segments, formats_account *account);
/* Free the strings. Leaves it zeroed. */
void codec_interleaved_end(codec_interleaved *segments);
/* Empty the strings, for another chunk. */
void codec_interleaved_clear(codec_interleaved *segments);

/* bytes[size]: the known prefix of the chunk, which may grow from call to call. Append what is new
 * to the strings. Bytes before segments->at are not read again: a caller may leave them out, and
 * lower `at` by as many. TAPER_ERR_LIMIT, TAPER_ERR_NOMEM: for the strings. */
taper_status codec_interleaved_read(codec_interleaved *segments, const uint8_t *bytes, size_t size);

#endif
