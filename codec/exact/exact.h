/* exact.h -- the exact layer: what makes decoded images equal to their originals.
 *
 * A string of the range coder holds the images of a group in order, rows from top to bottom. Each
 * sample is predicted from the lossy image and from what is known of the exact one. What is left is
 * coded. Its statistics go on from image to image. A prefix of the string makes the first images
 * exact, and the first rows of the next one. Integers only, so that every machine gets the same.
 *
 * The directory codec/exact/:
 *   exact_decode exact_encode   the two directions; exact_coder: what they share
 *   exact_images                the images of a group, decoded
 *   exact_rows                  the rows around a sample
 *   exact_predict exact_weights what a sample is expected to be; the weights for that, in bits
 *   exact_fit                   the weights that the encoder chooses
 *   exact_bits                  what is left, in bits of mixed probabilities */
#ifndef CODEC_EXACT_H
#define CODEC_EXACT_H
#include "formats/bytes.h"

typedef struct codec_exact codec_exact;

/* Memory of a coder for images up to this width, with up to so many channels (1..4). */
uint64_t codec_exact_bytes(uint32_t width, uint32_t channels);
/* TAPER_ERR_LIMIT: the account has less. TAPER_ERR_NOMEM. On failure *out is NULL. account:
 * borrowed; NULL: not counted. */
taper_status codec_exact_open(codec_exact **out, uint32_t width, uint32_t channels,
                              formats_account *account);
void codec_exact_close(codec_exact *exact); /* NULL is allowed */

/* Append the string of n images to `out`. lossy[i]: what decoders have of original[i], of the same
 * size, channels and depth; within what codec_exact_open was told. Returns the status of out;
 * TAPER_ERR_NOMEM, TAPER_ERR_LIMIT: memory of the encoder. */
taper_status codec_exact_encode(codec_exact *exact, const taper_image *original,
                                const taper_image *lossy, size_t n, formats_buffer *out);

/* Begin to decode. bytes[size]: the known prefix of the string; borrowed until the last image.
 * whole: it is all of it. */
void codec_exact_decode_begin(codec_exact *exact, const uint8_t *bytes, size_t size, int whole);
/* Make the next image exact, in place, as far as the bytes reach. Returns how many of its rows are
 * exact; the others are unchanged behind the pixel where the bytes end. Any bytes are legal. */
uint32_t codec_exact_decode(codec_exact *exact, taper_image *image);

#endif
