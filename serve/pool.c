/* pool.c -- see pool.h. */
#include "serve/pool.h"
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum { MOST_THREADS = 256, REST_SECONDS = 5 };

struct serve_pool {
    const serve_content *content;
    unsigned threads, most;
    uint64_t max_memory;
    pthread_mutex_t lock;
    pthread_cond_t some;
    unsigned queued;
    serve_job *first, *last;
    bool is_ending;
    pthread_t thread[MOST_THREADS];
};

/* The next job; NULL: the pool ends. The decoder of a thread that has nothing to do is freed. */
static serve_job *next_job(serve_pool *pool, serve_renderer *renderer) {
    bool rests = false;
    pthread_mutex_lock(&pool->lock);
    while (!pool->first && !pool->is_ending) {
        struct timespec when;
        clock_gettime(CLOCK_REALTIME, &when);
        when.tv_sec += REST_SECONDS;
        if (rests)
            pthread_cond_wait(&pool->some, &pool->lock);
        else if (pthread_cond_timedwait(&pool->some, &pool->lock, &when) == ETIMEDOUT)
            serve_renderer_rest(renderer), rests = true;
    }
    serve_job *job = pool->first;
    if (job) {
        pool->first = job->next;
        if (!pool->first) pool->last = NULL;
        pool->queued--;
    }
    pthread_mutex_unlock(&pool->lock);
    return job;
}

static void *work(void *user) {
    serve_pool *pool = user;
    serve_renderer *renderer = serve_renderer_open(pool->max_memory);
    serve_job *job;
    while (renderer && (job = next_job(pool, renderer))) {
        serve_answer_make(pool->content, renderer, &job->task, &job->answer);
        job->done(job->user);
    }
    serve_renderer_close(renderer);
    return NULL;
}

serve_pool *serve_pool_open(const serve_content *content, unsigned threads, unsigned queued,
                            uint64_t max_memory) {
    serve_pool *pool = calloc(1, sizeof *pool);
    if (!pool) return NULL;
    pool->content = content, pool->most = queued, pool->max_memory = max_memory;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->some, NULL);
    while (pool->threads < threads && pool->threads < MOST_THREADS &&
           pthread_create(&pool->thread[pool->threads], NULL, work, pool) == 0)
        pool->threads++;
    if (pool->threads) return pool;
    serve_pool_close(pool);
    return NULL;
}

bool serve_pool_add(serve_pool *pool, serve_job *job) {
    pthread_mutex_lock(&pool->lock);
    const bool has_room = pool->queued < pool->most;
    if (has_room) {
        job->next = NULL;
        *(pool->last ? &pool->last->next : &pool->first) = job;
        pool->last = job;
        pool->queued++;
        pthread_cond_signal(&pool->some);
    }
    pthread_mutex_unlock(&pool->lock);
    return has_room;
}

void serve_pool_close(serve_pool *pool) {
    if (!pool) return;
    pthread_mutex_lock(&pool->lock);
    pool->is_ending = true;
    pthread_cond_broadcast(&pool->some);
    pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 0; i < pool->threads; i++) pthread_join(pool->thread[i], NULL);
    pthread_mutex_destroy(&pool->lock);
    pthread_cond_destroy(&pool->some);
    free(pool);
}
