/* pool.c -- see pool.h. */
#include "remote/pool.h"
#include "formats/status.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_UNUSED = 4, MOST_SHOWN = 2400 };

/* A URL that is open, or failed. */
typedef struct entry {
    char *url;           /* as it is shown */
    remote_file *file;   /* NULL: failed, or closed */
    taper_error failure; /* status: TAPER_OK unless it failed */
    unsigned users;
    uint64_t used; /* when it was released */
} entry;

struct remote_pool {
    remote_options how;
    void (*closed)(void *user, const char *url, const remote_stats *stats);
    pthread_mutex_t lock;
    char **shown, **real; /* [hidden] */
    size_t hidden;
    entry *entry; /* [count] */
    size_t count;
    uint64_t releases;
};

static void close_entry(remote_pool *pool, entry *e) {
    remote_stats stats;
    remote_get_stats(e->file, &stats);
    if (pool->closed) pool->closed(pool->how.user, e->url, &stats);
    remote_close(e->file);
    e->file = NULL;
}

remote_pool *remote_pool_new(const remote_options *how, void (*closed)(void *user, const char *url,
                                                                       const remote_stats *stats)) {
    remote_pool *pool = calloc(1, sizeof *pool);
    if (!pool) return NULL;
    pool->how = *how;
    pool->closed = closed;
    pthread_mutex_init(&pool->lock, NULL);
    return pool;
}

void remote_pool_free(remote_pool *pool) {
    if (!pool) return;
    for (size_t k = 0; k < pool->count; k++) {
        if (pool->entry[k].file) close_entry(pool, &pool->entry[k]);
        free(pool->entry[k].url);
    }
    for (size_t k = 0; k < pool->hidden; k++) free(pool->shown[k]), free(pool->real[k]);
    free(pool->entry), free(pool->shown), free(pool->real);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

/* --- credentials --- */

static const char *real_of(const remote_pool *pool, const char *url) {
    for (size_t k = 0; k < pool->hidden; k++)
        if (!strcmp(pool->shown[k], url)) return pool->real[k];
    return url;
}

static int add_pair(remote_pool *pool, const char *shown, const char *real) {
    char **more = realloc(pool->shown, (pool->hidden + 1) * sizeof *more);
    if (more) pool->shown = more;
    char **also = realloc(pool->real, (pool->hidden + 1) * sizeof *also);
    if (also) pool->real = also;
    char *a = strdup(shown), *b = strdup(real);
    if (!more || !also || !a || !b) {
        free(a), free(b);
        return 0;
    }
    pool->shown[pool->hidden] = a, pool->real[pool->hidden++] = b;
    return 1;
}

/* What is shown of a URL, which is remembered; NULL: all of it. Two that look the same are
 * numbered. */
static const char *remember(remote_pool *pool, const char *url) {
    char shown[MOST_SHOWN + 24];
    remote_url_shown(url, shown, MOST_SHOWN);
    if (!strcmp(shown, url)) return NULL;
    const size_t n = strlen(shown);
    for (int k = 2;; k++) {
        const char *real = real_of(pool, shown);
        if (real == shown) break;
        if (!strcmp(real, url)) break;
        snprintf(shown + n, 24, "(%d)", k);
    }
    return add_pair(pool, shown, url) ? pool->shown[pool->hidden - 1] : NULL;
}

/* The URL that an argument is, or ends in; or NULL. */
static char *url_in(char *argument) {
    char *at = strstr(argument, "://");
    if (!at) return NULL;
    if (at - argument >= 5 && remote_is_url(at - 5)) return at - 5;
    return at - argument >= 4 && remote_is_url(at - 4) ? at - 4 : NULL;
}

void remote_pool_hide(remote_pool *pool, int argc, char **argv) {
    for (int k = 0; k < argc; k++) {
        char *url = url_in(argv[k]);
        const char *shown = url ? remember(pool, url) : NULL;
        const size_t room = strlen(argv[k]) + 1;
        /* what is shown is mostly shorter: in place, where others may see the arguments */
        if (!shown || (size_t)(url - argv[k]) + strlen(shown) >= room) continue;
        memset(url, 0, strlen(url));
        memcpy(url, shown, strlen(shown));
    }
}

/* --- open files --- */

static entry *find(const remote_pool *pool, const char *url) {
    for (size_t k = 0; k < pool->count; k++) {
        entry *e = &pool->entry[k];
        if (!strcmp(e->url, url) && (e->file || e->failure.status != TAPER_OK)) return e;
    }
    return NULL;
}

static entry *add_entry(remote_pool *pool, const char *url) {
    entry *more = realloc(pool->entry, (pool->count + 1) * sizeof *more);
    if (!more) return NULL;
    pool->entry = more;
    entry *e = &pool->entry[pool->count];
    *e = (entry){.url = strdup(url)};
    if (!e->url) return NULL;
    pool->count++;
    (void)remote_open(&e->file, real_of(pool, url), &pool->how, &e->failure);
    return e;
}

static taper_status open_shared(remote_pool *pool, remote_file **out, const char *url,
                                taper_error *error) {
    entry *e = find(pool, url);
    if (!e) e = add_entry(pool, url);
    if (!e) return formats_fail(error, TAPER_ERR_NOMEM, "no memory to open a URL");
    if (!e->file) {
        if (error) *error = e->failure;
        return e->failure.status;
    }
    e->users++;
    *out = e->file;
    return TAPER_OK;
}

taper_status remote_pool_open(remote_pool *pool, remote_file **out, const char *url,
                              taper_error *error) {
    *out = NULL;
    pthread_mutex_lock(&pool->lock);
    const taper_status status = open_shared(pool, out, url, error);
    pthread_mutex_unlock(&pool->lock);
    return status;
}

/* Close those that were released first, but for a few. */
static void close_unused(remote_pool *pool) {
    for (;;) {
        size_t unused = 0;
        entry *oldest = NULL;
        for (size_t k = 0; k < pool->count; k++) {
            entry *e = &pool->entry[k];
            if (!e->file || e->users) continue;
            unused++;
            if (!oldest || e->used < oldest->used) oldest = e;
        }
        if (unused <= MOST_UNUSED) return;
        close_entry(pool, oldest);
    }
}

void remote_pool_release(remote_pool *pool, remote_file *file) {
    if (!file) return;
    pthread_mutex_lock(&pool->lock);
    for (size_t k = 0; k < pool->count; k++)
        if (pool->entry[k].file == file) {
            pool->entry[k].users--;
            pool->entry[k].used = ++pool->releases;
        }
    close_unused(pool);
    pthread_mutex_unlock(&pool->lock);
}
