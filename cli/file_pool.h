/* file_pool.h -- many regular files as sources, of which a bounded number is open at a time. A file
 * that was closed meanwhile is opened again when it is read. */
#ifndef CLI_FILE_POOL_H
#define CLI_FILE_POOL_H
#include "formats/status.h"

typedef struct cli_file_pool cli_file_pool;

/* A pool of at most n files. It raises the limit of open files of this process as far as the system
 * allows, and leaves some of them to others. TAPER_ERR_NOMEM. */
taper_status cli_file_pool_new(cli_file_pool **out, size_t n, taper_error *error);
/* Open the next file. *source lasts as long as the pool; path is borrowed as long. One thread at a
 * time may use the sources of a pool. Reading gives TAPER_ERR_IO, after cli_messages_reason, where
 * the file is not the same any more when it is opened again: replaced, or changed in size or time.
 * TAPER_ERR_IO: the file cannot be opened. */
taper_status cli_file_pool_add(cli_file_pool *pool, const char *path, taper_source *source,
                               taper_error *error);
void cli_file_pool_free(cli_file_pool *pool); /* NULL is fine */

#endif
