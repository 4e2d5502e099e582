/* feed.h -- rows of bytes, such as the images of a run, as a device takes them.
 *
 * Where all rows fit into the device's memory, with an eighth of what is free to spare, they are
 * kept there, and a step picks its own by their numbers. Where they do not, the host gathers the
 * rows of each step and sends them while the device computes the step before. A device that works
 * in the host's memory reads the rows where they are. In all three a step has the same rows: the
 * results of a run are the same bits. */
#ifndef TRAIN_FEED_H
#define TRAIN_FEED_H
#include "train/device/device.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Numbers of rows, in some order. */
typedef struct train_order {
    const uint32_t *here; /* the host's, borrowed */
    train_lent there;     /* the same on the device */
} train_order;

/* order zeroed before. TAPER_ERR_NOMEM, TAPER_ERR_DEVICE: nothing is held. */
taper_status train_order_lend(train_order *order, train_stream *stream, const uint32_t *here,
                              size_t n);
/* The host has changed the array. */
taper_status train_order_again(train_order *order, train_stream *stream);
void train_order_free(train_order *order); /* leaves it zeroed; zeroed is fine */

typedef struct train_feed {
    const uint8_t *rows; /* the host's [n][width], borrowed */
    size_t n, width;
    int streamed;      /* 1: rows are sent step by step ... */
    size_t most;       /* ... at most so many at a time ... */
    train_arena arena; /* ... */
    uint8_t *place[2]; /* ... in turn to these, on the device [most][width] */
    int last;          /* where the last ones went */
    train_lent all;    /* 0: all rows are there */
} train_feed;

/* n rows of `width` bytes for a stream's device, of which takes want at most `most` at a time. Open
 * it when everything else that a run needs has its memory. feed zeroed before. TAPER_ERR_NOMEM,
 * TAPER_ERR_DEVICE: nothing is held. */
taper_status train_feed_open(train_feed *feed, train_stream *stream, const uint8_t *rows, size_t n,
                             size_t width, size_t most);
/* What was put on the stream is done first. Leaves it zeroed; zeroed is fine. */
void train_feed_close(train_feed *feed);

/* Rows on the device. */
typedef struct train_fed {
    const uint8_t *rows;   /* [..][width] */
    const uint32_t *order; /* [n] which of them; NULL: the first n, as they lie */
} train_fed;

/* n rows for what is put on the stream from now on: those numbered order[first], order[first + 1],
 * ...; order NULL: first, first + 1, ... They are there until the next take. TAPER_ERR_ARG: more
 * than `most`; TAPER_ERR_NOMEM, TAPER_ERR_DEVICE. */
taper_status train_feed_take(train_feed *feed, train_stream *stream, const train_order *order,
                             size_t first, size_t n, train_fed *fed);

/* A sentence for people: "cuda:0: 180.0 GB of images do not fit: streamed"; "" where they fit. */
void train_feed_say(const train_feed *feed, const train_device *device, char *words, size_t size);

#ifdef __cplusplus
}
#endif
#endif
