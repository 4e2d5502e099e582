/* remote_file.h -- the state of a remote file; requests, and how their answers are judged.
 *
 * One thread of its own has all transfers. Readers put requests into the list and wait until
 * `changed` tells that pages came, or that the file failed. `lock` guards everything but
 * `transfers`, which is the thread's. */
#ifndef REMOTE_REMOTE_FILE_H
#define REMOTE_REMOTE_FILE_H
#include "remote/page_cache.h"
#include "remote/remote.h"
#include "remote/transfers.h"
#include <pthread.h>
#include <stdio.h>

enum {
    REMOTE_MOST_REQUESTS = 48,   /* in the list */
    REMOTE_MOST_STREAMS = 8,     /* of reads that follow each other */
    REMOTE_PIECE = 1 << 20,      /* bytes of one request at most */
    REMOTE_MOST_AHEAD = 4 << 20, /* bytes that are read ahead */
    REMOTE_LEAST_AHEAD = 16 << 10
};

typedef enum remote_state { REMOTE_FREE, REMOTE_QUEUED, REMOTE_RUNNING } remote_state;

/* Bytes that were requested and have not come. */
typedef struct remote_request {
    remote_state state;
    uint64_t at, end; /* at: of the next byte; the page that it is in begins in `page` */
    uint64_t number;  /* in the order of requests */
    unsigned slot;    /* while it runs */
    unsigned tries;
    int is_moved;              /* this try went where a redirect led before */
    uint64_t came;             /* bytes of this try */
    uint64_t answered_end;     /* where this answer ends */
    int64_t not_before_ms;     /* when it may run */
    int is_refused;            /* what came cannot be used: told, or to be tried again */
    uint8_t page[REMOTE_PAGE]; /* the beginning of the page of `at` */
} remote_request;

/* Reads that follow each other. */
typedef struct remote_stream {
    uint64_t end, ahead, used; /* end of the last read; bytes to read ahead; when it was used */
} remote_stream;

struct remote_file {
    remote_options how;
    char *url, *now; /* as given; and where the last redirect led, or NULL */
    remote_transfers *transfers;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int closing;
    remote_request request[REMOTE_MOST_REQUESTS];
    remote_request *in_slot[REMOTE_MOST_TRANSFERS];
    uint64_t numbers;
    remote_cache *cache;
    int is_known; /* size, head */
    uint64_t size, expected_end;
    remote_head head; /* of the first answer */
    /* Of a server without ranges: the file so far, and whether it is complete. */
    FILE *spool;
    uint64_t spooled;
    int is_spooled, is_noted;
    remote_stream stream[REMOTE_MOST_STREAMS];
    uint64_t reads;
    int64_t deadline_ms; /* of reads; 0: none */
    uint64_t requests, bytes;
    /* Bytes a second, as far as it is known: 0 at first. */
    uint64_t rate, rate_bytes;
    int64_t rate_since_ms;
    taper_error failure; /* status: TAPER_OK until the file cannot be read any more */
};

/* Milliseconds of a clock that is never set back. */
int64_t remote_now_ms(void);
/* Wait for a change, with the lock; 0: the deadline has passed. */
int remote_wait(remote_file *f);

/* A free place in the list, or NULL. The caller sets at and end, and then calls
 * remote_request_begin. With the lock. */
remote_request *remote_request_new(remote_file *f);
void remote_request_begin(remote_file *f, remote_request *r);
/* The thread. */
void *remote_file_run(void *file);
/* The file cannot be read any more: the first reason counts. With the lock. */
void remote_file_fail(remote_file *f, taper_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
extern const remote_listener remote_file_listener; /* user: the file */

#endif
