/* pool.h -- the remote files of a program, by their URLs.
 *
 * A program sees URLs as messages may show them, without credentials: remote_pool_hide replaces
 * those of its arguments, and remote_pool_open finds the real one. */
#ifndef REMOTE_POOL_H
#define REMOTE_POOL_H
#include "remote/remote.h"

typedef struct remote_pool remote_pool;

/* A pool of files that are opened with these options; NULL: no memory. closed: told of each file
 * when it is closed; NULL: nobody. user: as in the options. */
remote_pool *remote_pool_new(const remote_options *how, void (*closed)(void *user, const char *url,
                                                                       const remote_stats *stats));
/* Close all. NULL is allowed. */
void remote_pool_free(remote_pool *pool);

/* Replace URLs in arguments by what may be shown of them, and remember what they were. */
void remote_pool_hide(remote_pool *pool, int argc, char **argv);

/* Open a URL, or share it with who has it open; one that was released shortly before is still open.
 * It stays the pool's: remote_pool_release. A URL that failed fails again at once. Threads may call
 * both at once. */
taper_status remote_pool_open(remote_pool *pool, remote_file **out, const char *url,
                              taper_error *error);
void remote_pool_release(remote_pool *pool, remote_file *file); /* NULL is fine */

#endif
