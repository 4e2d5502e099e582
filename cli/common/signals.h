/* signals.h -- nothing half-written stays behind when the user presses ^C.
 *
 * Outputs are written to a temporary file beside the target (formats/atomic_file.h), which
 * announces its path to the watch below before the file comes into being. When SIGINT, SIGTERM,
 * SIGHUP, SIGPIPE, SIGQUIT or SIGXCPU arrives, all announced files are unlinked and the process
 * ends by that same signal (a shell shows 130 for SIGINT, 143 for SIGTERM). SIGXFSZ is ignored, so
 * that a file that grows too large is a failed write with its sentence. */
#ifndef CLI_COMMON_SIGNALS_H
#define CLI_COMMON_SIGNALS_H
#include "formats/atomic_file.h"
#include <stdbool.h>

enum { CLI_GUARDED_PATHS = 256 }; /* that may be guarded at one time */

/* Install the handlers; main does so once. A signal that was ignored when the program started
 * (nohup) stays so. */
void cli_signals_install(void);

/* What every verb passes to formats_atomic_file_open and its like, so that ^C cleans up. */
const formats_atomic_watch *cli_signals_watch(void);

/* Between the two a signal waits, for files that are made and unlinked, or renamed, at once. Short
 * steps only; not nested. Safe from any thread. */
void cli_signals_hold(void);
void cli_signals_let_go(void);

/* The same for files made in other ways: unlink path when a signal ends the process; the path is
 * copied. False when the table is full or the path too long: the work can go on, only its clean-up
 * is lost. Safe from any thread. */
bool cli_signals_guard(const char *path);
/* The file was put in place or removed. A path that is not guarded is ignored. */
void cli_signals_release(const char *path);

#endif
