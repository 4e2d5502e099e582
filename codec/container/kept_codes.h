/* kept_codes.h -- a cache of images' codes, packed, so that repack need not decode them twice. */
#ifndef CODEC_KEPT_CODES_H
#define CODEC_KEPT_CODES_H
#include "formats/account.h"
#include "formats/bytes.h"

typedef struct codec_kept_codes {
    /* [images] offset of an image's codes in packed; 0: not kept. NULL: the cache is empty. */
    uint64_t *at;
    uint64_t list; /* size of at[] in bytes */
    /* One unused byte, then the codes of one image after the other. */
    formats_buffer packed;
    /* Borrowed; charged with the memory of the cache. */
    formats_account *account;
} codec_kept_codes;

/* Create the cache. It uses at most half of the memory that the account has available. If memory
 * runs out, nothing more is kept. */
void codec_kept_codes_open(codec_kept_codes *kept, uint64_t images, formats_account *account);
/* Leaves it zeroed, as an empty cache. */
void codec_kept_codes_close(codec_kept_codes *kept);

/* Keep the n values of an image's codes if there is memory. */
void codec_kept_codes_put(codec_kept_codes *kept, uint64_t image, const int16_t *code, size_t n);
int codec_kept_codes_has(const codec_kept_codes *kept, uint64_t image);
/* Get the n values of a kept image. */
void codec_kept_codes_get(const codec_kept_codes *kept, uint64_t image, int16_t *code, size_t n);

#endif
