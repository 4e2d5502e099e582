/* pool.c -- threads that share the blocks of one task; see pool.h. */
#include "codec/backend/pool.h"
#include <stdlib.h>

/* WebAssembly without threads: every task runs on the calling thread. */
#if defined(__wasm__) && !defined(__wasm_atomics__)

struct codec_pool {
    unsigned threads;
};

taper_status codec_pool_create(codec_pool **out, unsigned threads) {
    (void)threads;
    *out = calloc(1, sizeof **out);
    if (!*out) return TAPER_ERR_NOMEM;
    (*out)->threads = 1;
    return TAPER_OK;
}
void codec_pool_destroy(codec_pool *pool) { free(pool); }
unsigned codec_pool_threads(const codec_pool *pool) { return pool ? pool->threads : 1; }
void codec_pool_run(codec_pool *pool, codec_task_fn *task, void *context, size_t blocks) {
    (void)pool;
    for (size_t i = 0; i < blocks; i++) task(context, i);
}
unsigned codec_pool_cores(void) { return 1; }

#else
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

struct codec_pool {
    pthread_mutex_t run_lock; /* held by the thread whose task runs */
    pthread_mutex_t lock;     /* protects the following members */
    pthread_cond_t start, done;
    unsigned long round; /* number of the task: a worker joins each task once */
    int open;            /* workers may join the task */
    unsigned busy;       /* workers that have joined and not finished */
    int stop;
    codec_task_fn *task;
    void *context;
    size_t blocks;
    atomic_size_t next; /* the next free block */
    unsigned started;   /* running workers */
    unsigned workers;   /* threads without the caller's */
    pthread_t worker[];
};

static void take_blocks(codec_pool *pool) {
    for (;;) {
        size_t i = atomic_fetch_add(&pool->next, 1);
        if (i >= pool->blocks) return;
        pool->task(pool->context, i);
    }
}

static void *work(void *argument) {
    codec_pool *pool = argument;
    unsigned long seen = 0;
    pthread_mutex_lock(&pool->lock);
    pool->started++;
    pthread_cond_signal(&pool->done);
    while (!pool->stop) {
        if (!pool->open || pool->round == seen) {
            pthread_cond_wait(&pool->start, &pool->lock);
            continue;
        }
        seen = pool->round, pool->busy++;
        pthread_mutex_unlock(&pool->lock);
        take_blocks(pool);
        pthread_mutex_lock(&pool->lock);
        if (--pool->busy == 0) pthread_cond_signal(&pool->done);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* A starting thread may hold locks of the C library or a sanitizer. A process that is forked
 * meanwhile (training does this for LAPACK) would wait for them forever. So wait until threads have
 * started. */
static void wait_for_start(codec_pool *pool) {
    pthread_mutex_lock(&pool->lock);
    while (pool->started < pool->workers) pthread_cond_wait(&pool->done, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

taper_status codec_pool_create(codec_pool **out, unsigned threads) {
    *out = NULL;
    unsigned extra = threads > 1 ? threads - 1 : 0;
    codec_pool *pool = calloc(1, sizeof *pool + extra * sizeof pool->worker[0]);
    if (!pool) return TAPER_ERR_NOMEM;
    pthread_mutex_init(&pool->run_lock, NULL);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->start, NULL);
    pthread_cond_init(&pool->done, NULL);
    while (pool->workers < extra && !pthread_create(&pool->worker[pool->workers], NULL, work, pool))
        pool->workers++;
    wait_for_start(pool);
    *out = pool;
    return TAPER_OK;
}

void codec_pool_destroy(codec_pool *pool) {
    if (!pool) return;
    pthread_mutex_lock(&pool->lock);
    pool->stop = 1;
    pthread_cond_broadcast(&pool->start);
    pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 0; i < pool->workers; i++) pthread_join(pool->worker[i], NULL);
    pthread_cond_destroy(&pool->done);
    pthread_cond_destroy(&pool->start);
    pthread_mutex_destroy(&pool->lock);
    pthread_mutex_destroy(&pool->run_lock);
    free(pool);
}

unsigned codec_pool_threads(const codec_pool *pool) { return pool ? pool->workers + 1 : 1; }

void codec_pool_run(codec_pool *pool, codec_task_fn *task, void *context, size_t blocks) {
    if (!pool || !pool->workers || blocks < 2) {
        for (size_t i = 0; i < blocks; i++) task(context, i);
        return;
    }
    pthread_mutex_lock(&pool->run_lock);
    pthread_mutex_lock(&pool->lock);
    pool->task = task;
    pool->context = context;
    pool->blocks = blocks;
    atomic_store(&pool->next, 0);
    pool->open = 1;
    pool->round++;
    pthread_cond_broadcast(&pool->start);
    pthread_mutex_unlock(&pool->lock);
    take_blocks(pool);
    pthread_mutex_lock(&pool->lock);
    pool->open = 0; /* workers that wake up later do not join */
    while (pool->busy) pthread_cond_wait(&pool->done, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
    pthread_mutex_unlock(&pool->run_lock);
}

unsigned codec_pool_cores(void) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores < 1 ? 1 : cores > 256 ? 256 : (unsigned)cores;
}
#endif
