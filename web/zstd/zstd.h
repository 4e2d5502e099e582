/* zstd.h -- the functions of libzstd that the decoder calls, for the build for browsers, which has
 * no libzstd. Found in place of libzstd's header by the include path of web/web.mk. Nothing is
 * packed: what packs is declared for callers that the linker leaves out.
 *
 * web/zstd/ has: frame (frames and blocks), sequences (matches), literals (Huffman codes), fse
 * (tables of finite-state entropy), backward_bits (streams that are read from their end). */
#ifndef WEB_ZSTD_ZSTD_H
#define WEB_ZSTD_ZSTD_H
#include "web/zstd/frame.h"

static inline unsigned long long ZSTD_getFrameContentSize(const void *frame, size_t size) {
    return web_zstd_content_size(frame, size);
}
static inline size_t ZSTD_decompress(void *to, size_t room, const void *frame, size_t size) {
    return web_zstd_unpack(to, room, frame, size);
}
static inline unsigned ZSTD_isError(size_t got) { return got >= WEB_ZSTD_NO_MEMORY; }

size_t ZSTD_compressBound(size_t size);
size_t ZSTD_compress(void *to, size_t room, const void *from, size_t size, int level);
const char *ZSTD_getErrorName(size_t got);

#endif
