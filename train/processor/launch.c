/* launch.c -- running operations with access to memory, and the pages of the shadow; see
 * launch.h. */
#include "train/processor/launch.h"
#include "codec/backend/pool.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Memory of the shadow; the list is protected by the lock. */
typedef struct train_shadow_piece {
    void *memory;
    size_t bytes; /* whole pages */
    struct train_shadow_piece *next;
} train_shadow_piece;

codec_backend *train_processor_backend(const train_stream *s) {
    return train_processor_of(s->device)->be;
}
codec_pool *train_processor_pool(const train_stream *s) {
    return train_processor_of(s->device)->be->pool;
}

/* --- the shadow's pages ---------------------------------------------------------------- */

static int protect_all(const train_processor *d, int protection) {
    for (const train_shadow_piece *p = d->pieces; p; p = p->next)
        if (mprotect(p->memory, p->bytes, protection) != 0) return 0;
    return 1;
}

static size_t whole_pages(size_t bytes) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return bytes > SIZE_MAX - page ? 0 : (bytes + page - 1) / page * page;
}

taper_status train_shadow_alloc(train_processor *d, size_t bytes, void **memory) {
    train_shadow_piece *p = malloc(sizeof *p);
    size_t size = whole_pages(bytes);
    void *at = size && p ? aligned_alloc((size_t)sysconf(_SC_PAGESIZE), size) : NULL;
    if (!at) {
        free(p);
        return TAPER_ERR_NOMEM;
    }
    memset(at, 0, size);
    *p = (train_shadow_piece){at, size, NULL};
    pthread_mutex_lock(&d->lock);
    int ok = d->open || mprotect(at, size, PROT_NONE) == 0;
    if (ok) p->next = d->pieces, d->pieces = p;
    pthread_mutex_unlock(&d->lock);
    if (ok) {
        *memory = at;
        return TAPER_OK;
    }
    free(at), free(p);
    return TAPER_ERR_NOMEM;
}

void train_shadow_release(train_processor *d, void *memory) {
    pthread_mutex_lock(&d->lock);
    train_shadow_piece **link = &d->pieces;
    while (*link && (*link)->memory != memory) link = &(*link)->next;
    train_shadow_piece *p = *link;
    if (p) *link = p->next;
    pthread_mutex_unlock(&d->lock);
    if (!p) return;
    if (mprotect(p->memory, p->bytes, PROT_READ | PROT_WRITE) == 0) free(p->memory);
    free(p);
}

/* --- operations ------------------------------------------------------------------------ */

taper_status train_processor_begin(train_stream *s) {
    train_processor *d = train_processor_of(s->device);
    taper_status status = TAPER_OK;
    pthread_mutex_lock(&d->lock);
    d->operations++;
    if (d->fail_operation && d->operations >= d->fail_operation) status = TAPER_ERR_DEVICE;
    if (status == TAPER_OK && !d->open && !protect_all(d, PROT_READ | PROT_WRITE))
        status = TAPER_ERR_DEVICE;
    if (status == TAPER_OK) d->open++;
    pthread_mutex_unlock(&d->lock);
    return status;
}

void train_processor_end(train_stream *s) {
    train_processor *d = train_processor_of(s->device);
    pthread_mutex_lock(&d->lock);
    if (!--d->open) (void)protect_all(d, PROT_NONE);
    pthread_mutex_unlock(&d->lock);
}

taper_status train_processor_run(train_stream *s, void (*task)(void *, size_t), void *context,
                                 size_t blocks) {
    TAPER_TRY(train_processor_begin(s));
    codec_pool_run(train_processor_pool(s), task, context, blocks);
    train_processor_end(s);
    return TAPER_OK;
}
