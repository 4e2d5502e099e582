/* live.h -- containers that are still being written: a response that waits for bytes. */
#ifndef SERVE_LIVE_H
#define SERVE_LIVE_H
#include "serve/content/files.h"
#include "serve/server.h"

struct MHD_Response;

serve_live *serve_live_open(void);       /* NULL: no memory */
void serve_live_close(serve_live *live); /* NULL is fine */

/* The bytes first..first + n - 1 of a file that may not have them yet. NULL: no memory. The file is
 * held until the response is destroyed. */
struct MHD_Response *serve_live_response(serve_request *request, serve_file *file, uint64_t first,
                                         uint64_t n);
/* Continue responses whose files have grown, and end those that have waited for longer than so
 * many milliseconds, or all. Called several times a second by the main thread. */
void serve_live_sweep(serve_server *server, int64_t most_ms, bool all);

#endif
