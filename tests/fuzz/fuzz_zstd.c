/* fuzz_zstd.c -- the decoder of zstd frames of the build for browsers (web/zstd) beside libzstd.
 *
 * The first byte is odd: the others are data. What libzstd packs of them must unpack to them.
 * It is even: the others are a frame. The rule for any bytes:
 *
 *     - a frame that web_zstd_unpack accepts, libzstd accepts with the same bytes, but for its
 *       checksum, which web_zstd_unpack does not compare, and for windows above libzstd's bound;
 *     - a frame that libzstd accepts may be refused: web_zstd_unpack takes one frame alone, codes
 *       of at most 11 bits and offsets from 1, as RFC 8878 has them. libzstd packs nothing else,
 *       which the odd inputs show. */
#include "web/zstd/frame.h"
#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

enum { MOST_ROOM = 1 << 19 };

static void must(int holds) {
    if (!holds) abort();
}

/* Memory of exactly n bytes, so that an access beyond it is found. */
static uint8_t *exact(size_t n) {
    uint8_t *memory = malloc(n ? n : 1);
    if (!memory) abort();
    return memory;
}

static void packed_data_unpack(const uint8_t *data, size_t n, int level) {
    const size_t bound = ZSTD_compressBound(n);
    uint8_t *packed = exact(bound), *to = exact(n);
    const size_t size = ZSTD_compress(packed, bound, data, n, level);
    must(!ZSTD_isError(size));
    uint8_t *frame = exact(size);
    memcpy(frame, packed, size);
    must(web_zstd_content_size(frame, size) == n);
    must(web_zstd_unpack(to, n, frame, size) == n);
    must(!n || !memcmp(to, data, n));
    if (n) must(web_zstd_unpack(to, n - 1, frame, size) == WEB_ZSTD_DAMAGED);
    free(packed);
    free(frame);
    free(to);
}

/* What libzstd unpacks, without a look at the checksum. */
static size_t unpack_by_libzstd(uint8_t *to, size_t room, const uint8_t *frame, size_t n) {
    static ZSTD_DCtx *context;
    if (!context) context = ZSTD_createDCtx();
    must(context != NULL);
    ZSTD_DCtx_reset(context, ZSTD_reset_session_and_parameters);
    /* the name of this parameter, ZSTD_d_forceIgnoreChecksum, needs libzstd.a */
    must(!ZSTD_isError(ZSTD_DCtx_setParameter(context, ZSTD_d_experimentalParam3, 1)));
    return ZSTD_decompressDCtx(context, to, room, frame, n);
}

static void check_frame(const uint8_t *frame, size_t n, size_t room) {
    uint8_t *ours = exact(room), *theirs = exact(room);
    const uint64_t content = web_zstd_content_size(frame, n);
    const size_t size = web_zstd_unpack(ours, room, frame, n);
    must(size <= room || size == WEB_ZSTD_DAMAGED);
    if (size <= room) {
        const size_t other = unpack_by_libzstd(theirs, room, frame, n);
        must(content == size || content == WEB_ZSTD_NO_SIZE);
        if (ZSTD_isError(other))
            must(ZSTD_getErrorCode(other) == ZSTD_error_frameParameter_windowTooLarge);
        else
            must(other == size && (!size || !memcmp(ours, theirs, size)));
    }
    free(ours);
    free(theirs);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    if (!n) return 0;
    const unsigned what = bytes[0] >> 1;
    if (bytes[0] & 1)
        packed_data_unpack(bytes + 1, n - 1, (int)what % 27 - 5);
    else
        check_frame(bytes + 1, n - 1, (size_t)MOST_ROOM >> what % 20);
    return 0;
}
