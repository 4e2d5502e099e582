/* queue.h -- worker threads that take groups from a short queue. A NULL queue is legal everywhere
 * and does nothing: the encoder without workers. */
#ifndef CODEC_QUEUE_H
#define CODEC_QUEUE_H

typedef struct codec_queue codec_queue;
typedef void codec_queue_run_fn(void *item);

/* NULL when no thread can be started. */
codec_queue *codec_queue_new(unsigned threads, codec_queue_run_fn *run);
/* Waits while as many items wait as there are threads, so that memory stays bounded. */
void codec_queue_put(codec_queue *queue, void *item);
/* Is an item queued or at work? */
int codec_queue_is_busy(codec_queue *queue);
/* Waits until an item is done, if there is one. */
void codec_queue_wait(codec_queue *queue);
/* Runs what is queued, then ends the threads. */
void codec_queue_free(codec_queue *queue);
/* Around what workers and caller share. */
void codec_queue_lock(codec_queue *queue);
void codec_queue_unlock(codec_queue *queue);

#endif
