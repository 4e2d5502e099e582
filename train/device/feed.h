/* feed.h -- supplies a device with rows of bytes, such as the images of a run.
 *
 * If all rows fit into seven eighths of the device's free memory, they are kept there and each step
 * picks its rows by number. Otherwise the host gathers the rows of each step and sends them while
 * the device computes the previous step. A device in host memory reads the rows in place. A step
 * has the same rows in all three cases, so a run gives the same bits. */
#ifndef TRAIN_FEED_H
#define TRAIN_FEED_H
#include "train/device/device.h"
#ifdef __cplusplus
extern "C" {
#endif

/* A permutation or selection of row numbers. */
typedef struct train_order {
    const uint32_t *here; /* on the host, borrowed */
    train_mirror there;   /* the same on the device */
} train_order;

/* order must be zeroed. TAPER_ERR_NOMEM, TAPER_ERR_DEVICE: nothing is held. */
taper_status train_order_open(train_order *order, train_stream *stream, const uint32_t *here,
                              size_t n);
/* Uploads the array again after the host has changed it. */
taper_status train_order_update(train_order *order, train_stream *stream);
void train_order_free(train_order *order); /* leaves it zeroed; zeroed is fine */

typedef struct train_feed {
    const uint8_t *rows; /* [n][width] on the host, borrowed */
    size_t n, width;
    /* 1: rows are sent step by step, 0: all rows are on the device */
    int streamed;
    /* If streamed: */
    size_t most; /* rows at a time, at most */
    train_arena arena;
    /* [most][width] destinations on the device, used alternately */
    uint8_t *place[2];
    int last; /* the destination used last */
    /* If not streamed: */
    train_mirror all;
} train_feed;

/* Opens a feed of n rows of `width` bytes for a stream's device. A take has at most `most` rows.
 * Open it after all other allocations of the run. feed must be zeroed. TAPER_ERR_NOMEM,
 * TAPER_ERR_DEVICE: nothing is held. */
taper_status train_feed_open(train_feed *feed, train_stream *stream, const uint8_t *rows, size_t n,
                             size_t width, size_t most);
/* Waits for queued operations first. Leaves it zeroed; zeroed is fine. */
void train_feed_close(train_feed *feed);

/* Rows on the device. */
typedef struct train_fed {
    const uint8_t *rows;   /* [..][width] */
    const uint32_t *order; /* [n] row numbers; NULL: the first n rows */
} train_fed;

/* Supplies n rows to the operations queued from now on: those numbered order[first],
 * order[first + 1], ...; order NULL: first, first + 1, ... They are valid until the next take.
 * TAPER_ERR_ARG: more than `most`; TAPER_ERR_NOMEM, TAPER_ERR_DEVICE. */
taper_status train_feed_take(train_feed *feed, train_stream *stream, const train_order *order,
                             size_t first, size_t n, train_fed *fed);

/* A message: "cuda:0: 180.0 GB of images do not fit: streamed"; "" if they fit. */
void train_feed_say(const train_feed *feed, const train_device *device, char *words, size_t size);

#ifdef __cplusplus
}
#endif
#endif
