/* transfers.h -- requests in flight, by libcurl. One thread uses it, but for the wake-up. */
#ifndef REMOTE_TRANSFERS_H
#define REMOTE_TRANSFERS_H
#include "formats/status.h"
#include "remote/response.h"

enum { REMOTE_MOST_TRANSFERS = 16 };

typedef enum remote_ending {
    REMOTE_ENDED,       /* the body came to its end, or what the server calls so */
    REMOTE_STOPPED,     /* the listener wanted no more */
    REMOTE_UNREACHABLE, /* no connection */
    REMOTE_BROKEN,      /* the connection broke: another try may help */
    REMOTE_IMPOSSIBLE   /* another try does not help */
} remote_ending;

/* Told in the thread of remote_transfers_run. slot: as given to remote_transfers_start. */
typedef struct remote_listener {
    void *user;
    /* The head of the last response, after redirects; before the body. 0: stop. */
    int (*head)(void *user, unsigned slot, const remote_head *head);
    /* Bytes of its body. 0: stop. */
    int (*body)(void *user, unsigned slot, const void *bytes, size_t n);
    /* The transfer is over. where: the URL that answered. why: a sentence, for the last three. */
    void (*end)(void *user, unsigned slot, remote_ending ending, const char *where,
                const char *why);
} remote_listener;

typedef struct remote_transfers remote_transfers;

/* stall_s: seconds without a byte that break a transfer. TAPER_ERR_UNSUPPORTED: libcurl is missing;
 * TAPER_ERR_NOMEM. */
taper_status remote_transfers_open(remote_transfers **out, const remote_listener *listener,
                                   const char *agent, unsigned stall_s, taper_error *error);
void remote_transfers_close(remote_transfers *t); /* NULL is fine; ends all transfers untold */

/* Request bytes first..last of a URL in a slot, 0..REMOTE_MOST_TRANSFERS - 1, that is free: not
 * used yet, or ended. 0: no memory, or not a URL that libcurl takes. */
int remote_transfers_start(remote_transfers *t, unsigned slot, const char *url, uint64_t first,
                           uint64_t last);
/* Work until something has come, at most so long. */
void remote_transfers_run(remote_transfers *t, int wait_ms);
/* End the wait of remote_transfers_run. Any thread may call it. */
void remote_transfers_wake(remote_transfers *t);

#endif
