/* queue.h -- worker threads that process items of a bounded queue. A NULL queue is legal in every
 * function, which then does nothing: an encoder without workers. */
#ifndef CODEC_QUEUE_H
#define CODEC_QUEUE_H

typedef struct codec_queue codec_queue;
typedef void codec_queue_run_fn(void *item);

/* Returns NULL if no thread can be started. */
codec_queue *codec_queue_new(unsigned threads, codec_queue_run_fn *run);
/* Append an item. Waits while the queue has as many items as there are threads, which bounds the
 * memory. */
void codec_queue_put(codec_queue *queue, void *item);
/* Nonzero if an item is queued or being processed. */
int codec_queue_is_busy(codec_queue *queue);
/* Wait until an item is done, if there is one. */
void codec_queue_wait(codec_queue *queue);
/* Process all queued items, then end the threads. */
void codec_queue_free(codec_queue *queue);
/* A lock for the data that workers and the caller share. */
void codec_queue_lock(codec_queue *queue);
void codec_queue_unlock(codec_queue *queue);

#endif
