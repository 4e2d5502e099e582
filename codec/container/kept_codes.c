/* kept_codes.c -- see kept_codes.h. Packed codes are pairs of varints: the number of zeros, and the
 * value after them. */
#include "codec/container/kept_codes.h"
#include <stdlib.h>
#include <string.h>

void codec_kept_codes_open(codec_kept_codes *kept, uint64_t images, formats_account *account) {
    uint64_t list = images * sizeof *kept->at, memory = formats_account_left(account) / 2;
    *kept = (codec_kept_codes){.account = account};
    if (list >= memory || list > FORMATS_MOST_BYTES) return;
    memory = memory - list < FORMATS_MOST_BYTES ? memory - list : FORMATS_MOST_BYTES;
    kept->at = calloc((size_t)images, sizeof *kept->at);
    if (!kept->at) return;
    (void)formats_account_take(account, list);
    kept->list = list;
    kept->packed = formats_buffer_make((size_t)memory);
    kept->packed.account = account;
    formats_write_u8(&kept->packed, 0);
}

void codec_kept_codes_close(codec_kept_codes *kept) {
    formats_buffer_free(&kept->packed);
    formats_account_give(kept->account, kept->list);
    free(kept->at);
    *kept = (codec_kept_codes){0};
}

/* Map 0, -1, 1, -2, .. to 0, 1, 2, 3, .. */
static uint32_t fold(int32_t x) { return (uint32_t)(x < 0 ? -2 * x - 1 : 2 * x); }
static int16_t unfold(uint32_t y) {
    return (int16_t)(y & 1 ? -(int32_t)(y / 2) - 1 : (int32_t)(y / 2));
}

void codec_kept_codes_put(codec_kept_codes *kept, uint64_t image, const int16_t *code, size_t n) {
    formats_buffer *to = &kept->packed;
    size_t begin = to->size, zeros = 0;
    if (!kept->at || to->status != TAPER_OK) return;
    for (size_t i = 0; i < n; i++) {
        if (!code[i] && i + 1 < n) {
            zeros++;
            continue;
        }
        formats_write_varint(to, zeros);
        formats_write_varint(to, fold(code[i]));
        zeros = 0;
    }
    if (to->status == TAPER_OK)
        kept->at[image] = begin;
    else
        to->size = begin; /* keep neither this image nor any later one */
}

int codec_kept_codes_has(const codec_kept_codes *kept, uint64_t image) {
    return kept->at && kept->at[image];
}

void codec_kept_codes_get(const codec_kept_codes *kept, uint64_t image, int16_t *code, size_t n) {
    formats_cursor from = {.bytes = kept->packed.data, .size = kept->packed.size};
    from.at = (size_t)kept->at[image];
    memset(code, 0, n * sizeof *code);
    for (size_t i = 0; i < n && from.status == TAPER_OK; i++) {
        i += (size_t)formats_read_varint_max(&from, n - 1 - i);
        code[i] = unfold((uint32_t)formats_read_varint(&from));
    }
}
