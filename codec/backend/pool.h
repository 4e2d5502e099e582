/* pool.h -- a fixed set of threads that run numbered blocks of one task.
 *
 * Any thread may run any block, so the result of a block must depend only on its number. */
#ifndef CODEC_POOL_H
#define CODEC_POOL_H
#include "formats/status.h"

typedef struct codec_pool codec_pool;
typedef void codec_task_fn(void *context, size_t block);

/* Create a pool of `threads` >= 1 threads, including the calling one. If the system grants fewer,
 * the pool has fewer; results are the same. TAPER_ERR_NOMEM: no memory. */
taper_status codec_pool_create(codec_pool **out, unsigned threads);
/* NULL is allowed. */
void codec_pool_destroy(codec_pool *pool);
/* The number of threads; 1 for NULL. */
unsigned codec_pool_threads(const codec_pool *pool);

/* Run task(context, 0 .. blocks - 1), each once, and return when all are done. pool NULL: on the
 * calling thread, in ascending order. If several threads call it at once, their tasks run one after
 * the other. Must not be called from within a task of the same pool. */
void codec_pool_run(codec_pool *pool, codec_task_fn *task, void *context, size_t blocks);

/* The number of online cores, at least 1. */
unsigned codec_pool_cores(void);

#endif
