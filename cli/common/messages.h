/* messages.h -- what every verb of the command line says alike: exit codes, words on standard
 * error, sizes and numbers.
 *
 * The room cli/common/: what verbs and comparison are made of; it knows no verb.
 *   options settings       a verb's options, in one table; the settings that most verbs have
 *   inputs outputs         opening what a verb reads, and its one output; left_out: inputs that
 *                          cannot be used
 *   messages plain_text    words on standard error; names that cannot steer a terminal
 *   progress signals       the progress line; nothing left behind on ^C
 *   json plot page         JSON lines; gnuplot; HTML without a network
 *   readahead spool        images decoded ahead; what waits on disk; parallel: all cores
 *   heap                   memory that is freed stays with the process */
#ifndef CLI_COMMON_MESSAGES_H
#define CLI_COMMON_MESSAGES_H
#include "cli/common/settings.h"
#include <stdbool.h>

/* Exit codes, documented in every manual page. On a signal the process ends by that signal, which a
 * shell shows as 128 + its number: 130 for SIGINT, 143 for SIGTERM. */
typedef enum cli_exit {
    CLI_DONE = 0,
    CLI_SOME_FAILED = 1, /* some inputs failed and were named; the rest was done */
    CLI_USAGE = 2, /* the command line cannot be carried out as written, or names nothing of use */
    CLI_CORRUPT = 3,    /* an input is damaged, too short to hold its header, of another version */
    CLI_INCOMPLETE = 4, /* an input was cut; only under --strict, a cut file is normal */
    CLI_IO = 5,   /* the operating system or a device refused; also: the target exists and no -f */
    CLI_LIMIT = 6 /* above a limit (--max-pixels, --max-memory, ...) or out of memory */
} cli_exit;

/* The exit code for a failed call of the library. */
cli_exit cli_exit_code(taper_status status);

/* Messages on standard error, one line each: "taper VERB: FILE: sentence". verb and file may be
 * NULL (the part is left out). A progress line on the terminal is cleared first. What could steer a
 * terminal, which may come from a hostile file's names, is shown as \xNN (plain_text.h). Colour
 * only on a terminal, without NO_COLOR. Safe from any thread. */
void cli_error(const char *verb, const char *file, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void cli_warning(const char *verb, const char *file, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Words for a person that may be dropped: nothing is printed under -q. */
void cli_note(const cli_common *common, const char *verb, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same under -v (level 1) or -vv (level 2), for those who want to know. */
void cli_detail(const cli_common *common, int level, const char *verb, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Print the error of a failed library call, with the status's name when it carries no text, and
 * return the exit code that belongs to it: `return cli_fail("decode", path, status, &error);` error
 * may be NULL. */
int cli_fail(const char *verb, const char *file, taper_status status, const taper_error *error);

/* Parse a size such as "4096", "64K", "1.5M", "2GiB", "1 MB": K, M, G, T (iB may follow) are powers
 * of 1024, kB, MB, GB, TB powers of 1000, all in any case. Rounded to a whole number. False, and
 * *out untouched, when text is anything else or does not fit 63 bits. */
bool cli_parse_size(const char *text, uint64_t *out);
/* The same without rounding, for a mean such as "61.5" or "1.5K". */
bool cli_parse_amount(const char *text, double *out);
/* The whole text as a decimal number; no hexadecimal, no infinity, no NaN. */
bool cli_parse_double(const char *text, double *out);
bool cli_parse_int(const char *text, int64_t *out);

/* "832 B", "14.2 KiB", "3.0 MiB": for people; to must hold 16 characters. Returns to. */
char *cli_show_size(uint64_t bytes, char to[16]);

#endif
