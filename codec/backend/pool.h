/* pool.h -- a fixed set of threads that run numbered blocks of one task.
 *
 * Which thread runs a block is chance; what a block computes must depend on its number alone. */
#ifndef CODEC_POOL_H
#define CODEC_POOL_H
#include "formats/status.h"

typedef struct codec_pool codec_pool;
typedef void codec_task_fn(void *context, size_t block);

/* threads >= 1, the caller's among them. Fewer are made when the system grants fewer: that changes
 * speed, never results. TAPER_ERR_NOMEM when there is no memory. */
taper_status codec_pool_create(codec_pool **out, unsigned threads);
void codec_pool_destroy(codec_pool *pool);           /* NULL is fine */
unsigned codec_pool_threads(const codec_pool *pool); /* 1 for NULL */

/* Run task(context, 0 .. blocks - 1), each once, and return when all are done. pool NULL: on this
 * thread, ascending. Threads that call it at once have their tasks run one after the other. Not to
 * be called from within a task of the same pool. */
void codec_pool_run(codec_pool *pool, codec_task_fn *task, void *context, size_t blocks);

/* Cores that are online, at least 1. */
unsigned codec_pool_cores(void);

#endif
