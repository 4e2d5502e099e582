/* messages.h -- exit codes, messages on standard error, and parsing of sizes and numbers, the same
 * for all verbs.
 *
 * Directory cli/common/: parts that all verbs use.
 *   options     the option tables of the verbs
 *   settings    settings that most verbs have
 *   inputs      opens containers and models
 *   outputs     writes the output of a verb
 *   left_out    reports inputs that cannot be used
 *   messages    messages on standard error
 *   plain_text  removes terminal control sequences from names
 *   progress    the progress line
 *   signals     removes temporary files on ^C
 *   json        writes JSON lines
 *   plot        plots by gnuplot
 *   page        HTML pages that work offline
 *   readahead   decodes images ahead of their use
 *   spool       unnamed temporary files
 *   parallel    runs a function on several threads
 *   heap        allocator settings */
#ifndef CLI_COMMON_MESSAGES_H
#define CLI_COMMON_MESSAGES_H
#include "cli/common/settings.h"
#include <stdbool.h>

/* Exit codes, documented in every manual page. A signal ends the process by that signal, which a
 * shell shows as 128 + its number: 130 for SIGINT, 143 for SIGTERM. */
typedef enum cli_exit {
    CLI_DONE = 0,
    CLI_SOME_FAILED = 1, /* some inputs failed and were named; the others were processed */
    CLI_USAGE = 2,       /* the command line is wrong, or names no usable input */
    CLI_CORRUPT = 3,     /* an input is damaged, shorter than its header, or of another version */
    CLI_INCOMPLETE = 4,  /* an input is truncated; only with --strict */
    CLI_IO = 5,          /* the system or a device failed; or the target exists, without -f */
    CLI_LIMIT = 6        /* above a limit (--max-pixels, --max-memory, ...), or out of memory */
} cli_exit;

/* The exit code for a failed call of the library. */
cli_exit cli_exit_code(taper_status status);

/* Print one line on standard error: "taper VERB: FILE: sentence". verb and file may be NULL and are
 * then omitted. Clears the progress line first. Control characters, which may come from names in
 * hostile files, are printed as \xNN (plain_text.h). Colour is used on a terminal only, unless
 * NO_COLOR is set. Safe from any thread. */
void cli_error(const char *verb, const char *file, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void cli_warning(const char *verb, const char *file, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* This process is number `rank` of several that do one task. Those from 1 on print no warnings, and
 * name themselves in errors, which they delay a little: if the first has the same error, it ends
 * all of them. */
void cli_messages_process(unsigned rank);
/* For a verb that runs the functions of another one: messages of `verb` show this name from now on.
 * Both are borrowed. */
void cli_messages_name(const char *verb, const char *shown);

/* A note: not printed with -q. */
void cli_note(const cli_common *common, const char *verb, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A note that is printed only with -v (level 1) or -vv (level 2). */
void cli_detail(const cli_common *common, int level, const char *verb, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The sentence of an error and, where its facts say it, what to do on a command line: "...; give
 * --max-memory 300M if you trust the input". The name of the status if it has no text. */
typedef struct cli_sentence {
    char text[400];
} cli_sentence;
cli_sentence cli_explain(const taper_error *error);

/* Print cli_explain of a failed library call, and return its exit code: `return cli_fail("decode",
 * path, status, &error);`. error may be NULL. */
int cli_fail(const char *verb, const char *file, taper_status status, const taper_error *error);

/* Why reads of a URL fail, for cli_fail, as sources only say that they do. Copied. Any thread. */
void cli_messages_reason(const char *sentence);

/* Parse a size such as "4096", "64K", "1.5M", "2GiB", "1 MB". K, M, G, T (or KiB ...) are powers of
 * 1024; kB, MB, GB, TB are powers of 1000; case is ignored. Rounds to an integer. Returns false,
 * and leaves *out unchanged, if text is not a size or does not fit 63 bits. */
bool cli_parse_size(const char *text, uint64_t *out);
/* The same without rounding, for a mean such as "61.5" or "1.5K". */
bool cli_parse_amount(const char *text, double *out);
/* Parse the whole text as a decimal number; no hexadecimal, infinity or NaN. */
bool cli_parse_double(const char *text, double *out);
bool cli_parse_int(const char *text, int64_t *out);

/* "832 B", "14.2 KiB", "3.0 MiB". Returns to. */
char *cli_show_size(uint64_t bytes, char to[16]);

#endif
