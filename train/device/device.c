/* device.c -- streams and arenas, the same for every device; see device.h. */
#include "train/device/device.h"
#include <string.h>

taper_status train_stream_open(train_stream *stream, train_device *device) {
    *stream = (train_stream){.device = device, .ops = device->operations};
    taper_status status = device->open(device, stream);
    if (status != TAPER_OK) *stream = (train_stream){0};
    return status;
}

void train_stream_close(train_stream *stream) {
    if (stream->device) stream->device->close(stream);
    *stream = (train_stream){0};
}

taper_status train_zero(train_stream *s, void *to, size_t bytes) {
    return bytes ? s->device->memory->zero(s, to, bytes) : TAPER_OK;
}

taper_status train_copy(train_stream *s, void *to, const void *from, size_t bytes) {
    return bytes ? s->device->memory->copy(s, to, from, bytes) : TAPER_OK;
}

taper_status train_upload(train_stream *s, void *to, const void *host, size_t bytes) {
    return bytes ? s->device->memory->upload(s, to, host, bytes) : TAPER_OK;
}

taper_status train_download(train_stream *s, void *host, const void *from, size_t bytes) {
    return bytes ? s->device->memory->download(s, host, from, bytes) : TAPER_OK;
}

taper_status train_keep(train_device *device, train_keeping how, float *array, size_t n) {
    return device->memory->keep ? device->memory->keep(device, how, array, n) : TAPER_OK;
}

/* --- arenas ---------------------------------------------------------------------------- */

enum { LINE = 64 };

void *train_arena_take(train_arena *a, size_t rows, size_t columns, size_t size) {
    if (columns && rows > (SIZE_MAX - LINE) / columns / size) a->overflow = 1;
    size_t bytes = a->overflow ? 0 : (rows * columns * size + LINE - 1) / LINE * LINE;
    if (bytes > SIZE_MAX - a->used) a->overflow = 1;
    if (a->overflow) return NULL;
    void *at = a->memory ? a->memory + a->used : NULL;
    a->used += bytes;
    return at;
}

float *train_arena_floats(train_arena *a, size_t rows, size_t columns) {
    return train_arena_take(a, rows, columns, sizeof(float));
}

taper_status train_arena_alloc(train_arena *a, train_device *device) {
    void *memory;
    size_t size = a->used ? a->used : LINE;
    if (a->overflow) return TAPER_ERR_NOMEM;
    TAPER_TRY(device->memory->alloc(device, size, &memory));
    *a = (train_arena){.device = device, .memory = memory, .size = size};
    return TAPER_OK;
}

void train_arena_free(train_arena *a) {
    if (a->device) a->device->memory->release(a->device, a->memory, a->size);
    *a = (train_arena){0};
}

/* --- arrays of the host on a device ------------------------------------------------------ */

taper_status train_mirror_open(train_mirror *mirror, train_stream *s, const void *host,
                               size_t bytes) {
    *mirror = (train_mirror){.bytes = bytes};
    if (s->device->in_host_memory) {
        mirror->at = host;
        return TAPER_OK;
    }
    train_arena_take(&mirror->arena, bytes, 1, 1);
    taper_status status = train_arena_alloc(&mirror->arena, s->device);
    if (status == TAPER_OK) {
        mirror->at = mirror->arena.memory;
        status = train_mirror_update(mirror, s, host);
    }
    if (status != TAPER_OK) train_mirror_free(mirror);
    return status;
}

taper_status train_mirror_update(train_mirror *mirror, train_stream *s, const void *host) {
    return train_mirror_replace(mirror, s, host, mirror->bytes);
}

taper_status train_mirror_replace(train_mirror *mirror, train_stream *s, const void *host,
                                  size_t bytes) {
    if (!s->device->in_host_memory) return train_upload(s, mirror->arena.memory, host, bytes);
    mirror->at = host;
    return TAPER_OK;
}

void train_mirror_free(train_mirror *mirror) {
    train_arena_free(&mirror->arena);
    *mirror = (train_mirror){0};
}
