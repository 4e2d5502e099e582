/* progress.h -- one line on the terminal that says how far the work is, how fast, and how long it
 * will take.
 *
 *     encoding  1,204 of 10,000 images  12 %  8,410/s  1 s left
 *
 * On standard error, only when that is a terminal and without -q; redrawn at most ten times a
 * second; the first words come with cli_progress_start, so that a person sees within 0.1 s that
 * something happens. Cleared at the end. There is one line, so at most one progress is shown at a
 * time; a second one started meanwhile stays silent. */
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
    atomic_int_least64_t next_draw_ns; /* not before this time */
    int64_t start_ns;
    bool visible;
    char extra[64]; /* what cli_progress_say put behind the numbers */
} cli_progress;

/* Standard error is a terminal that can redraw a line (not "dumb"). */
bool cli_stderr_is_terminal(void);

/* Begin; what and unit must outlive the progress. common NULL: shown on any terminal. */
void cli_progress_start(cli_progress *p, const cli_common *common, const char *what, uint64_t total,
                        const char *unit);
/* n more units are done. Safe from any thread and cheap: takes a lock only when it draws. */
void cli_progress_add(cli_progress *p, uint64_t n);
/* Set how many are done, for work that knows its place. */
void cli_progress_set(cli_progress *p, uint64_t done);
/* Words behind the numbers, such as "loss 12.3"; shown from the next drawing on. */
void cli_progress_say(cli_progress *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Clear the line. */
void cli_progress_end(cli_progress *p);

/* Clear the line of the progress that is showing, if any, so that a message can be printed; the
 * next update draws it anew. For the printers of messages. */
void cli_progress_hide(void);

/* For the signal handler, async-signal-safe: leave the line as it stands. */
void cli_progress_abandon(void);

/* The line as text, for the drawing and the tests: seconds since the start, columns of the
 * terminal. */
void cli_progress_format(const cli_progress *p, double seconds, int columns, char *to, size_t room);

#endif
