/* remote.h -- files behind URLs as sources of bytes, by HTTP ranges.
 *
 * A remote file is read like any taper_source. It fetches the pages that a read touches, several
 * requests at once, and keeps the last of them in memory. A server without ranges is read once,
 * into a temporary file. Answers are not trusted: nothing of them is used as a size or position
 * before it was checked.
 *
 * libcurl does the transfers; it is loaded when the first URL is opened. Proxies and certificates
 * come from the environment, as with curl.
 *
 * Directory remote/:
 *   remote        this interface
 *   pool          the remote files of a program, by their URLs
 *   opening       opens and closes remote files
 *   remote_file   the state of a remote file; requests, and how their answers are judged
 *   reading       reads and prefetching: which pages are requested
 *   transfers     requests in flight, by libcurl
 *   response      the head of a response
 *   page_cache    pages in memory, the least recently used are dropped
 *   url           URLs, and how messages show them */
#ifndef REMOTE_REMOTE_H
#define REMOTE_REMOTE_H
#include "codec/taper.h"
#include <stdio.h>

typedef struct remote_file remote_file;

/* Beside the agent, 0 is the default of every member. */
typedef struct remote_options {
    const char *agent;    /* the User-Agent; borrowed until the file is closed */
    unsigned parallel;    /* requests in flight, 1..16; default 6 */
    uint64_t cache_bytes; /* memory for pages; default 32 MiB, at least 4 MiB */
    uint64_t most_spool;  /* bytes of a temporary file for a server without ranges; default 4 GiB */
    unsigned tries;       /* of a request that fails for the moment; default 5 */
    unsigned wait_ms;     /* before the second try, then twice as long each time; default 250 */
    unsigned stall_s;     /* seconds without a byte that end a try; default 30 */
    uint64_t first_bytes; /* of the first request; default 20,480 */
    /* Makes an empty temporary file for a server without ranges, which is closed with this one;
     * NULL: no room. NULL: tmpfile(). */
    FILE *(*spool)(void *user);
    /* Tells what the user should know, once: that the file is read as a whole. From another thread.
     * NULL: nobody. */
    void (*note)(void *user, const char *sentence);
    /* Tells why the file cannot be read (any more), before reads fail. NULL: nobody. */
    void (*failed)(void *user, const char *sentence);
    void *user;
} remote_options;

/* Nonzero if a name is a URL that can be opened: http:// or https://. */
int remote_is_url(const char *name);
/* Write a URL for people to to[room]: without credentials, and "?..." for its query, as that may
 * hold some, too. Other names are copied. Returns to. */
char *remote_url_shown(const char *url, char *to, size_t room);

/* Open a URL: fetch the first bytes of the file, and learn its length. On failure *out is NULL.
 * TAPER_ERR_UNSUPPORTED: libcurl is missing; the text names its package. TAPER_ERR_IO: the server
 * cannot be reached, refuses, or answers what cannot be used. TAPER_ERR_LIMIT: it serves no ranges,
 * and the file is larger than most_spool. */
taper_status remote_open(remote_file **out, const char *url, const remote_options *options,
                         taper_error *error);
/* Stop all requests. NULL is allowed. No thread may read then. */
void remote_close(remote_file *file);

/* The file as a source, which borrows it. Any number of threads may read at once. A read waits
 * for its bytes; TAPER_ERR_IO: they cannot be had, see remote_options.failed. */
taper_source remote_source(remote_file *file);

/* Request these ranges, as many as half of the cache holds, and do not wait for them. Ranges that
 * are at most `gap` bytes apart are one request. They ascend. */
void remote_prefetch(remote_file *file, const taper_range *ranges, size_t n, uint64_t gap);
/* Reads that follow each other go on, up to here: as many bytes are read ahead as were read so far
 * from now on, 4 MiB at most. Initially 0: nothing is read ahead. */
void remote_expect_end(remote_file *file, uint64_t end);

/* Reads that have not ended so many seconds from now fail with TAPER_ERR_TRUNCATED. */
void remote_set_deadline(remote_file *file, double seconds);
/* Has this time come? After a read that failed for it, it has. */
int remote_is_late(const remote_file *file);

typedef struct remote_stats {
    uint64_t requests, bytes; /* sent; and bytes of bodies that came */
    int is_whole;             /* nonzero: the server has no ranges, and all was read at once */
    /* What tells versions of the file apart, as the server has it; "": nothing. */
    char etag[136], modified[72];
} remote_stats;
void remote_get_stats(remote_file *file, remote_stats *out);

#endif
