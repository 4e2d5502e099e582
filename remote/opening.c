/* opening.c -- opens and closes remote files; see remote.h. */
#include "remote/remote.h"
#include "remote/reading.h"
#include "remote/url.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void set_defaults(remote_options *how) {
    if (!how->agent) how->agent = "taper";
    if (!how->parallel) how->parallel = 6;
    if (how->parallel > REMOTE_MOST_TRANSFERS) how->parallel = REMOTE_MOST_TRANSFERS;
    if (!how->cache_bytes) how->cache_bytes = 32 << 20;
    if (how->cache_bytes < 4 << 20) how->cache_bytes = 4 << 20;
    if (how->cache_bytes > (uint64_t)1 << 32) how->cache_bytes = (uint64_t)1 << 32;
    if (!how->most_spool) how->most_spool = (uint64_t)1 << 32;
    if (!how->tries) how->tries = 5;
    if (!how->wait_ms) how->wait_ms = 250;
    if (how->wait_ms > 10000) how->wait_ms = 10000;
    if (how->tries > 16) how->tries = 16;
    if (!how->stall_s) how->stall_s = 30;
    if (!how->first_bytes) how->first_bytes = 20480;
    if (how->first_bytes > REMOTE_PIECE) how->first_bytes = REMOTE_PIECE;
}

/* A thread that gets no signals: they are for the threads of the program. */
static taper_status start_thread(remote_file *f, taper_error *error) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int failed = pthread_create(&f->thread, NULL, remote_file_run, f);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed ? formats_fail(error, TAPER_ERR_NOMEM, "no thread for requests; free some memory")
                  : TAPER_OK;
}

static void free_file(remote_file *f) {
    remote_transfers_close(f->transfers);
    remote_cache_free(f->cache);
    if (f->spool) fclose(f->spool);
    pthread_cond_destroy(&f->changed);
    pthread_mutex_destroy(&f->lock);
    free(f->url), free(f->now);
    free(f);
}

static taper_status make_file(remote_file *f, const char *url, taper_error *error) {
    remote_listener listener = remote_file_listener;
    listener.user = f;
    f->url = strdup(url);
    f->cache = remote_cache_new((uint32_t)(f->how.cache_bytes / REMOTE_PAGE));
    if (!f->url || !f->cache)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory to read a URL");
    return remote_transfers_open(&f->transfers, &listener, f->how.agent, f->how.stall_s, error);
}

/* Fetch the first bytes; wait until the length is known, or all is read. */
static taper_status fetch_front(remote_file *f, taper_error *error) {
    pthread_mutex_lock(&f->lock);
    remote_request *r = remote_request_new(f);
    r->at = 0, r->end = f->how.first_bytes;
    remote_request_begin(f, r);
    while (f->failure.status == TAPER_OK && !f->is_known) pthread_cond_wait(&f->changed, &f->lock);
    const taper_error failure = f->failure;
    pthread_mutex_unlock(&f->lock);
    if (failure.status != TAPER_OK && error) *error = failure;
    return failure.status;
}

taper_status remote_open(remote_file **out, const char *url, const remote_options *options,
                         taper_error *error) {
    *out = NULL;
    if (!remote_is_url(url) || !remote_url_is_clean(url))
        return formats_fail(error, TAPER_ERR_ARG,
                            "is not a URL of http or https; blanks in it are written %%20");
    remote_file *f = calloc(1, sizeof *f);
    if (!f) return formats_fail(error, TAPER_ERR_NOMEM, "no memory to read a URL");
    if (options) f->how = *options;
    set_defaults(&f->how);
    pthread_mutex_init(&f->lock, NULL);
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC); /* as remote_now_ms */
    pthread_cond_init(&f->changed, &clock);
    pthread_condattr_destroy(&clock);
    taper_status status = make_file(f, url, error);
    if (status == TAPER_OK) status = start_thread(f, error);
    if (status != TAPER_OK) {
        free_file(f);
        return status;
    }
    status = fetch_front(f, error);
    if (status == TAPER_OK)
        *out = f;
    else
        remote_close(f);
    return status;
}

void remote_close(remote_file *f) {
    if (!f) return;
    pthread_mutex_lock(&f->lock);
    f->closing = 1;
    remote_transfers_wake(f->transfers);
    pthread_mutex_unlock(&f->lock);
    pthread_join(f->thread, NULL);
    free_file(f);
}

taper_source remote_source(remote_file *f) { return (taper_source){f, f->size, remote_read}; }

void remote_get_stats(remote_file *f, remote_stats *out) {
    pthread_mutex_lock(&f->lock);
    *out = (remote_stats){.requests = f->requests, .bytes = f->bytes, .is_whole = f->is_spooled};
    memcpy(out->etag, f->head.etag, sizeof out->etag);
    memcpy(out->modified, f->head.modified, sizeof out->modified);
    pthread_mutex_unlock(&f->lock);
}
