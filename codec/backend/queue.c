/* queue.c -- see queue.h. */
#include "codec/backend/queue.h"
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

struct codec_queue {
    codec_queue_run_fn *run;
    pthread_t *thread;
    unsigned threads, waiting, head, running;
    uint64_t done; /* number of finished items */
    void **item;   /* [threads] ring buffer */
    int closing;
    pthread_mutex_t lock, shared;
    pthread_cond_t came, went;
};

static void *work(void *user) {
    codec_queue *q = user;
    pthread_mutex_lock(&q->lock);
    for (;;) {
        while (!q->waiting && !q->closing) pthread_cond_wait(&q->came, &q->lock);
        if (!q->waiting) break;
        void *item = q->item[q->head];
        q->head = (q->head + 1) % q->threads;
        q->waiting--, q->running++;
        pthread_cond_signal(&q->went);
        pthread_mutex_unlock(&q->lock);
        q->run(item);
        pthread_mutex_lock(&q->lock);
        q->running--, q->done++;
        pthread_cond_signal(&q->went);
    }
    pthread_mutex_unlock(&q->lock);
    return NULL;
}

codec_queue *codec_queue_new(unsigned threads, codec_queue_run_fn *run) {
    codec_queue *q = calloc(1, sizeof *q);
    if (!q) return NULL;
    q->run = run;
    q->thread = calloc(threads, sizeof *q->thread);
    q->item = calloc(threads, sizeof *q->item);
    pthread_mutex_init(&q->lock, NULL);
    pthread_mutex_init(&q->shared, NULL);
    pthread_cond_init(&q->came, NULL);
    pthread_cond_init(&q->went, NULL);
    while (q->thread && q->item && q->threads < threads &&
           !pthread_create(&q->thread[q->threads], NULL, work, q)) {
        pthread_mutex_lock(&q->lock);
        q->threads++;
        pthread_mutex_unlock(&q->lock);
    }
    if (q->threads) return q;
    codec_queue_free(q);
    return NULL;
}

void codec_queue_put(codec_queue *q, void *item) {
    pthread_mutex_lock(&q->lock);
    while (q->waiting == q->threads) pthread_cond_wait(&q->went, &q->lock);
    q->item[(q->head + q->waiting++) % q->threads] = item;
    pthread_cond_signal(&q->came);
    pthread_mutex_unlock(&q->lock);
}

int codec_queue_is_busy(codec_queue *q) {
    if (!q) return 0;
    pthread_mutex_lock(&q->lock);
    int busy = q->waiting || q->running;
    pthread_mutex_unlock(&q->lock);
    return busy;
}

void codec_queue_wait(codec_queue *q) {
    if (!q) return;
    pthread_mutex_lock(&q->lock);
    uint64_t done = q->done;
    while ((q->waiting || q->running) && q->done == done) pthread_cond_wait(&q->went, &q->lock);
    pthread_mutex_unlock(&q->lock);
}

void codec_queue_free(codec_queue *q) {
    if (!q) return;
    pthread_mutex_lock(&q->lock);
    q->closing = 1;
    pthread_cond_broadcast(&q->came);
    pthread_mutex_unlock(&q->lock);
    for (unsigned i = 0; i < q->threads; i++) pthread_join(q->thread[i], NULL);
    pthread_mutex_destroy(&q->lock), pthread_mutex_destroy(&q->shared);
    pthread_cond_destroy(&q->came), pthread_cond_destroy(&q->went);
    free(q->thread), free(q->item), free(q);
}

void codec_queue_lock(codec_queue *q) {
    if (q) pthread_mutex_lock(&q->shared);
}

void codec_queue_unlock(codec_queue *q) {
    if (q) pthread_mutex_unlock(&q->shared);
}
