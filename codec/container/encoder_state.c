/* encoder_state.c -- see encoder_state.h. */
#include "codec/container/encoder_state.h"
#include <stdlib.h>

/* --- memory ------------------------------------------------------------------------------ */

taper_status codec_encoder_charge(taper_encoder *e, uint64_t bytes) {
    for (;;) {
        /* Ask before the attempt: the last worker may release memory between the two. */
        int busy = codec_queue_is_busy(e->shared.queue);
        codec_queue_lock(e->shared.queue);
        taper_status status = formats_account_take(e->shared.account, bytes);
        codec_queue_unlock(e->shared.queue);
        if (status == TAPER_OK || !busy) return status;
        codec_queue_wait(e->shared.queue);
    }
}

void codec_encoder_give(taper_encoder *e, uint64_t bytes) {
    codec_queue_lock(e->shared.queue);
    formats_account_give(e->shared.account, bytes);
    codec_queue_unlock(e->shared.queue);
}

taper_status codec_encoder_grow(taper_encoder *e, void **array, size_t count, size_t *capacity,
                                size_t size) {
    enum { FIRST = 16 };
    if (count < *capacity) return TAPER_OK;
    size_t wanted = *capacity ? *capacity * 2 : FIRST;
    TAPER_TRY(codec_encoder_charge(e, wanted * size)); /* realloc may hold both arrays */
    codec_queue_lock(e->shared.queue);                 /* workers write to some arrays */
    void *bigger = realloc(*array, wanted * size);
    if (bigger) *array = bigger;
    codec_queue_unlock(e->shared.queue);
    codec_encoder_give(e, (bigger ? *capacity : wanted) * size);
    if (!bigger) return TAPER_ERR_NOMEM;
    *capacity = wanted;
    return TAPER_OK;
}

taper_status codec_encoder_append(taper_encoder *e, formats_buffer *buffer, const void *bytes,
                                  size_t n) {
    uint64_t most = buffer->capacity + n + 64; /* upper bound of what the buffer grows by */
    TAPER_TRY(codec_encoder_charge(e, most));
    codec_encoder_give(e, most); /* now enough is available, and only this thread takes memory */
    codec_queue_lock(e->shared.queue);
    taper_status status = formats_write_bytes(buffer, bytes, n);
    codec_queue_unlock(e->shared.queue);
    return status;
}

uint64_t codec_encoder_windows(const taper_encoder *e, const taper_image *image) {
    codec_grid grid = codec_windows_grid(e->model->window, image->width, image->height);
    return (uint64_t)grid.columns * grid.rows;
}

uint64_t codec_encoder_image_bytes(const taper_encoder *e, const taper_image *image,
                                   int has_codes) {
    uint64_t samples = (uint64_t)image->width * image->height * image->channels;
    uint64_t codes = codec_encoder_windows(e, image) * e->model->tables.units * sizeof(int16_t);
    return (image->pixels ? samples * (image->depth / 8u) : 0) + (has_codes ? codes : 0);
}

/* --- failures ---------------------------------------------------------------------------- */

void codec_encoder_fail(taper_encoder *e, taper_status status, const taper_error *error) {
    if (e->shared.failed) return;
    e->shared.failed = 1;
    if (error && error->status == status)
        e->shared.error = *error;
    else if (status == TAPER_ERR_LIMIT)
        formats_fail_fact(&e->shared.error, status, TAPER_FACT_MAX_MEMORY,
                          formats_memory_step(&e->limits, e->limits.max_memory),
                          "encoding needs more memory than the limit of %llu bytes; smaller groups "
                          "need less",
                          (unsigned long long)e->limits.max_memory);
    else
        formats_fail(&e->shared.error, status,
                     "no memory to encode a group; use smaller groups or fewer threads");
}

taper_status codec_encoder_end(taper_encoder *e, taper_status status, taper_error *error) {
    codec_queue_lock(e->shared.queue);
    codec_encoder_fail(e, status, error);
    if (error) *error = e->shared.error;
    status = e->shared.error.status;
    codec_queue_unlock(e->shared.queue);
    return status;
}

int codec_encoder_has_failed(const taper_encoder *e) {
    codec_queue_lock(e->shared.queue);
    int failed = e->shared.failed;
    codec_queue_unlock(e->shared.queue);
    return failed;
}

taper_status codec_encoder_check_order(const taper_encoder *e, const char *call,
                                       taper_error *error) {
    if (!e->is_finished) return TAPER_OK;
    return formats_fail(error, TAPER_ERR_ARG,
                        "taper_encoder_%s comes before taper_encoder_finish, which was called",
                        call);
}
