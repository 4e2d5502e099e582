/* pool.h -- the threads that make answers, behind a queue of limited length. */
#ifndef SERVE_POOL_H
#define SERVE_POOL_H
#include "serve/content/answer.h"

typedef struct serve_job {
    serve_task task;
    serve_answer answer;
    /* Called by a thread of the pool when the answer is there. */
    void (*done)(void *user);
    void *user;
    struct serve_job *next;
} serve_job;

typedef struct serve_pool serve_pool;
/* content: borrowed. max_memory: of one thread. NULL: no memory, or no thread could be started. */
serve_pool *serve_pool_open(const serve_content *content, unsigned threads, unsigned queued,
                            uint64_t max_memory);
/* Add a job, which stays the caller's. False: the queue is full. */
bool serve_pool_add(serve_pool *pool, serve_job *job);
/* Finish all jobs, then end the threads. NULL is fine. */
void serve_pool_close(serve_pool *pool);

#endif
