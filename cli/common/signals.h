/* signals.h -- removes temporary files when a signal ends the process.
 *
 * Outputs are written to a temporary file in the folder of the target (formats/atomic_file.h),
 * whose path is announced to the watch below before it is created. On SIGINT, SIGTERM, SIGHUP,
 * SIGPIPE, SIGQUIT and SIGXCPU all announced files are unlinked, and the process ends by the same
 * signal (a shell shows 130 for SIGINT, 143 for SIGTERM). SIGXFSZ is ignored: a file that grows too
 * large is then a failed write with an error message. */
#ifndef CLI_COMMON_SIGNALS_H
#define CLI_COMMON_SIGNALS_H
#include "formats/atomic_file.h"
#include <stdbool.h>

enum { CLI_GUARDED_PATHS = 256 }; /* paths that can be guarded at the same time */

/* Install the handlers; main does this once. Signals that were ignored when the program started
 * (nohup) stay ignored. */
void cli_signals_install(void);

/* The watch that every verb passes to formats_atomic_file_open. */
const formats_atomic_watch *cli_signals_watch(void);

/* Delay signals between the two calls, so that a file is created and unlinked, or renamed, in one
 * step. For short steps; not nested. Safe from any thread. */
void cli_signals_hold(void);
void cli_signals_let_go(void);

/* For other files: unlink path when a signal ends the process. The path is copied. False if the
 * table is full or the path too long: then only the clean-up is lost. Safe from any thread. */
bool cli_signals_guard(const char *path);
/* Stop guarding a file that was put in place or removed. Ignores a path that is not guarded. */
void cli_signals_release(const char *path);

#endif
