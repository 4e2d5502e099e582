/* backend.c -- see backend.h. */
#include "codec/backend/backend.h"
#include "codec/backend/fused.h"
#include "codec/backend/plain.h"
#include "codec/backend/pool.h"
#include <string.h>

void codec_backend_cpu(codec_backend *out) {
    if (codec_backend_fused(out, 512) != TAPER_OK) codec_backend_plain(out);
}

taper_status codec_backend_set_threads(codec_backend *be, unsigned threads) {
    if (!threads) threads = codec_pool_cores();
    if (threads > 256) threads = 256;
    codec_pool *pool = NULL;
    if (threads > 1) TAPER_TRY(codec_pool_create(&pool, threads));
    codec_pool_destroy(be->pool);
    be->pool = pool;
    return TAPER_OK;
}

void codec_backend_close(codec_backend *be) {
    codec_pool_destroy(be->pool);
    memset(be, 0, sizeof *be);
}
