/* kept_codes.h -- images' codes in memory, packed, as many as fit: repack need not decode them
 * twice. */
#ifndef CODEC_KEPT_CODES_H
#define CODEC_KEPT_CODES_H
#include "formats/account.h"
#include "formats/bytes.h"

typedef struct codec_kept_codes {
    uint64_t *at;  /* [images] where in packed an image's begin; 0: they are not kept. NULL: none */
    uint64_t list; /* bytes of at[] */
    formats_buffer packed;    /* a byte for none, then one image's after the other's */
    formats_account *account; /* borrowed; charged with all that it takes */
} codec_kept_codes;

/* For so many images, and at most half of what the account has left. Without memory nothing is
 * kept. */
void codec_kept_codes_open(codec_kept_codes *kept, uint64_t images, formats_account *account);
void codec_kept_codes_close(codec_kept_codes *kept); /* leaves it zeroed: none are kept any more */

/* Keep the n codes of an image if there is room. */
void codec_kept_codes_put(codec_kept_codes *kept, uint64_t image, const int16_t *code, size_t n);
int codec_kept_codes_has(const codec_kept_codes *kept, uint64_t image);
/* The n codes of a kept image. */
void codec_kept_codes_get(const codec_kept_codes *kept, uint64_t image, int16_t *code, size_t n);

#endif
