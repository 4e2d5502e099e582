/* readahead.c -- a ring buffer of images between reading threads and one consumer; see readahead.h.
 *  */
#include "cli/common/readahead.h"
#include "formats/image.h"
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

enum { MAX_READERS = 64, WAKE_EVERY = 32 };

typedef struct slot {
    bool ready;
    taper_status status;
    taper_image image;
    formats_metadata metadata;
    taper_error error;
} slot;

struct cli_readahead {
    const formats_imageset *set;
    int with_metadata;
    size_t first;               /* number in the set of the first image that is read */
    size_t count, taken, begun; /* from there on; below `begun`, a reader has taken the image */
    size_t held_bytes;          /* bytes of pixels in ready slots */
    slot *ring;                 /* NULL: no readers, images are read on demand */
    pthread_mutex_t lock;
    pthread_cond_t came; /* signals that the image for the consumer is ready */
    pthread_cond_t room; /* signals that readers may continue */
    pthread_t reader[MAX_READERS];
    unsigned readers, idle;
    bool closing;
};

static size_t bytes_of(const slot *s) {
    const formats_metadata *m = &s->metadata;
    return formats_image_bytes(&s->image) + m->icc.size + m->exif.size + m->xmp.size;
}

static bool may_begin(const cli_readahead *r) {
    if (r->begun == r->taken)
        return true; /* the image that the consumer waits for is always allowed */
    return r->begun - r->taken < CLI_READAHEAD_IMAGES && r->held_bytes < CLI_READAHEAD_BYTES;
}

static void *read_images(void *of) {
    cli_readahead *r = of;
    pthread_mutex_lock(&r->lock);
    while (!r->closing && r->begun < r->count) {
        if (!may_begin(r)) {
            r->idle++;
            pthread_cond_wait(&r->room, &r->lock);
            r->idle--;
            continue;
        }
        size_t i = r->begun++;
        slot *s = &r->ring[i % CLI_READAHEAD_IMAGES];
        pthread_mutex_unlock(&r->lock);
        s->error = (taper_error){0};
        s->status = formats_imageset_read(r->set, r->first + i, &s->image,
                                          r->with_metadata ? &s->metadata : NULL, &s->error);
        pthread_mutex_lock(&r->lock);
        if (s->status == TAPER_OK) r->held_bytes += bytes_of(s);
        s->ready = true;
        if (i == r->taken) pthread_cond_signal(&r->came);
    }
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

/* True if most images are single files, which need decoding. */
static bool is_worth_threads(const formats_imageset *set, size_t first, size_t n) {
    return n > 1 && formats_imageset_path(set, first) != formats_imageset_path(set, first + n - 1);
}

taper_status cli_readahead_new(cli_readahead **out, const formats_imageset *set, unsigned threads,
                               int with_metadata, taper_error *error) {
    return cli_readahead_range(out, set, 0, formats_imageset_count(set), threads, with_metadata,
                               error);
}

taper_status cli_readahead_range(cli_readahead **out, const formats_imageset *set, size_t first,
                                 size_t end, unsigned threads, int with_metadata,
                                 taper_error *error) {
    cli_readahead *r = *out = calloc(1, sizeof *r);
    if (!r) return formats_fail(error, TAPER_ERR_NOMEM, "no memory to read images ahead");
    r->set = set;
    r->with_metadata = with_metadata;
    r->first = first;
    r->count = end - first;
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->came, NULL);
    pthread_cond_init(&r->room, NULL);
    if (threads < 2 || !is_worth_threads(set, first, r->count)) return TAPER_OK;
    r->ring = calloc(CLI_READAHEAD_IMAGES, sizeof *r->ring);
    if (!r->ring) return TAPER_OK;
    pthread_mutex_lock(&r->lock);
    while (r->readers < threads && r->readers < MAX_READERS &&
           pthread_create(&r->reader[r->readers], NULL, read_images, r) == 0)
        r->readers++;
    pthread_mutex_unlock(&r->lock);
    if (!r->readers) {
        free(r->ring);
        r->ring = NULL;
    }
    return TAPER_OK;
}

/* Give the metadata to a consumer who may not want them. */
static void give_metadata(formats_metadata *from, formats_metadata *to) {
    if (to)
        *to = *from;
    else
        formats_metadata_free(from);
    *from = (formats_metadata){0};
}

taper_status cli_readahead_next(cli_readahead *r, taper_image *out, formats_metadata *metadata,
                                taper_error *error) {
    if (metadata) *metadata = (formats_metadata){0};
    if (!r->ring)
        return formats_imageset_read(r->set, r->first + r->taken++, out,
                                     r->with_metadata ? metadata : NULL, error);
    pthread_mutex_lock(&r->lock);
    slot *s = &r->ring[r->taken % CLI_READAHEAD_IMAGES];
    while (!s->ready) {
        pthread_cond_broadcast(&r->room);
        pthread_cond_wait(&r->came, &r->lock);
    }
    taper_status status = s->status;
    *out = s->image;
    give_metadata(&s->metadata, metadata);
    if (status == TAPER_OK)
        r->held_bytes -= bytes_of(s);
    else if (error)
        *error = s->error;
    s->ready = false;
    s->image = (taper_image){0};
    s->metadata = (formats_metadata){0};
    r->taken++;
    /* rarely, so that readers work on several images; a waiting consumer also wakes them */
    if (r->idle && r->taken % WAKE_EVERY == 0) pthread_cond_broadcast(&r->room);
    pthread_mutex_unlock(&r->lock);
    return status;
}

void cli_readahead_free(cli_readahead *r) {
    if (!r) return;
    pthread_mutex_lock(&r->lock);
    r->closing = true;
    pthread_cond_broadcast(&r->room);
    pthread_mutex_unlock(&r->lock);
    for (unsigned i = 0; i < r->readers; i++) pthread_join(r->reader[i], NULL);
    for (size_t i = 0; r->ring && i < CLI_READAHEAD_IMAGES; i++) {
        free(r->ring[i].image.pixels);
        formats_metadata_free(&r->ring[i].metadata);
    }
    pthread_mutex_destroy(&r->lock);
    pthread_cond_destroy(&r->came);
    pthread_cond_destroy(&r->room);
    free(r->ring);
    free(r);
}
