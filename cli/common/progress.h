/* progress.h -- a line on the terminal with the progress, the speed and the remaining time.
 *
 *     encoding  1,204 of 10,000 images  12 %  8,410/s  1 s left
 *
 * It is shown on standard error if that is a terminal and -q was not given. cli_progress_start
 * draws it at once; then it is redrawn at most ten times a second, and cleared at the end. Only one
 * progress is shown at a time; a second one that is started meanwhile is not shown. */
#ifndef CLI_COMMON_PROGRESS_H
#define CLI_COMMON_PROGRESS_H
#include "cli/common/settings.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct cli_progress {
    const char *what; /* "encoding" */
    const char *unit; /* "images" */
    uint64_t total;   /* 0: not known */
    atomic_uint_least64_t done;
    atomic_int_least64_t next_draw_ns; /* earliest time of the next drawing */
    int64_t start_ns;
    bool visible;
    char extra[64]; /* text of cli_progress_say */
} cli_progress;

/* Nanoseconds of a clock that is never set back. */
int64_t cli_now_ns(void);

/* True if standard error is a terminal that can redraw a line (not "dumb"). */
bool cli_stderr_is_terminal(void);

/* Begin; what and unit must outlive the progress. common NULL: shown on any terminal. */
void cli_progress_start(cli_progress *p, const cli_common *common, const char *what, uint64_t total,
                        const char *unit);
/* Add n units to those that are done. Safe from any thread; locks only to draw. */
void cli_progress_add(cli_progress *p, uint64_t n);
/* Set the number of units that are done. */
void cli_progress_set(cli_progress *p, uint64_t done);
/* Set text that follows the numbers, such as "loss 12.3"; shown from the next drawing on. */
void cli_progress_say(cli_progress *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Clear the line. */
void cli_progress_end(cli_progress *p);

/* Clear the line that is shown, if any, before a message is printed; the next update redraws it. */
void cli_progress_hide(void);

/* For the signal handler: end the line without clearing it. Async-signal-safe. */
void cli_progress_abandon(void);

/* The line as text. seconds: since the start; columns: of the terminal. For tests too. */
void cli_progress_format(const cli_progress *p, double seconds, int columns, char *to, size_t room);

#endif
