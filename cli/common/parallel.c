/* parallel.c -- worker threads that take items from a shared counter. */
#include "cli/common/parallel.h"
#include <pthread.h>
#include <stdatomic.h>

enum { MAX_THREADS = 1024 };

typedef struct job {
    void (*work)(void *user, size_t item, unsigned thread);
    void *user;
    size_t n;
    atomic_size_t next;
    atomic_uint started; /* number of workers so far, and of the next one */
} job;

static void *run(void *of) {
    job *j = of;
    unsigned thread = atomic_fetch_add(&j->started, 1);
    for (size_t item; (item = atomic_fetch_add(&j->next, 1)) < j->n;)
        j->work(j->user, item, thread);
    return NULL;
}

void cli_parallel(unsigned threads, size_t n,
                  void (*work)(void *user, size_t item, unsigned thread), void *user) {
    job j = {.work = work, .user = user, .n = n};
    pthread_t worker[MAX_THREADS];
    unsigned helpers = 0;
    if (threads > MAX_THREADS) threads = MAX_THREADS;
    while (helpers + 1 < threads && helpers + 1 < n &&
           pthread_create(&worker[helpers], NULL, run, &j) == 0)
        helpers++;
    run(&j);
    for (unsigned i = 0; i < helpers; i++) pthread_join(worker[i], NULL);
}
