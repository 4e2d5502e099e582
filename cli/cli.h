/* cli.h -- what every verb of the command line shares: exit codes, messages, sizes, settings.
 *
 * A verb is one file, cmd_NAME.c, that defines `int cmd_NAME(int argc, char **argv)` and
 * `const cli_verb cli_verb_NAME` (see options.h), and one line in the table of main.c. Manners that
 * hold for all of them: data on standard output, words on standard error; progress on a terminal
 * only (progress.h); outputs appear whole or not at all (formats/atomic_file.h, and signals.h for
 * ^C); no overwriting without -f.
 *
 * The room cli/: the command line.
 *   main                   the table of verbs; cmd_train cmd_encode cmd_truncate cmd_decode
 *                          cmd_info cmd_verify
 *                          cmd_repack cmd_merge cmd_compare: one verb each
 *   cli messages           manners of all verbs; words on standard error, sizes and numbers
 *   plain_text version     names shown so that they cannot steer a terminal; what this build is
 *   options                one table a verb; manual completion: the documents made from it
 *   inputs readahead       opening what a verb reads; images decoded ahead; left_out: those that
 *                          cannot be used
 *   outputs spool signals  a verb's one output, what waits on disk, nothing left behind on ^C
 *   name_case              names that differ by case alone
 *   decoding               which images, into what; picture_files: their files below one folder;
 *                          decode_progressive: refining them as bytes arrive; decode_levels:
 *                          levels as text;
 *                          reach: which images a cut of layout `image` holds
 *   psnr_cut               the smallest cut that reaches a quality; truncate_psnr: what
 *                          `truncate` compares with
 *   train_talk             what `train` says: progress, learning curve, report
 *   progress json          the progress line; JSON lines; plot page: gnuplot, HTML without a
 *                          network */
#ifndef CLI_CLI_H
#define CLI_CLI_H
#include "formats/status.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Exit codes, documented in every manual page. On a signal the process ends by that signal, which a
 * shell shows as 128 + its number: 130 for SIGINT, 143 for SIGTERM. */
typedef enum cli_exit {
    CLI_DONE = 0,
    CLI_SOME_FAILED = 1, /* some inputs failed and were named; the rest was done */
    CLI_USAGE = 2, /* the command line cannot be carried out as written, or names nothing of use */
    CLI_CORRUPT = 3,     /* an input is damaged, too short to hold its header, of another version */
    CLI_INCOMPLETE = 4,  /* an input was cut; only under --strict, a cut file is normal */
    CLI_IO = 5,   /* the operating system or a device refused; also: the target exists and no -f */
    CLI_LIMIT = 6 /* above a limit (--max-pixels, --max-memory, ...) or out of memory */
} cli_exit;

/* The exit code for a failed call of the library. */
cli_exit cli_exit_code(taper_status status);

/* The verbs: argv[0] is the verb's name, argv[argc] is NULL. Each returns its exit code. */
int cmd_train(int argc, char **argv);
int cmd_encode(int argc, char **argv);
int cmd_truncate(int argc, char **argv);
int cmd_decode(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_verify(int argc, char **argv);
int cmd_repack(int argc, char **argv);
int cmd_merge(int argc, char **argv);
int cmd_compare(int argc, char **argv);

/* Settings that most verbs have. A verb's own settings struct holds one, named `common`, and its
 * option table takes the entries from the CLI_..._OPTIONS macros of options.h. */
typedef struct cli_common {
    int force;           /* -f: overwrite existing outputs */
    int quiet;           /* -q: no progress, no notes; errors and warnings stay */
    int verbose;         /* -v, -vv: how many times it was given */
    int json;            /* --json: JSON lines on standard output */
    int64_t threads;     /* -T: 0 means one per processor; see cli_threads */
    const char *device;  /* --device: "auto", "cpu", "cuda" or "cuda:N" */
    uint64_t max_pixels; /* --max-pixels: 0 means the library's default */
    uint64_t max_images; /* --max-images */
    uint64_t max_memory; /* --max-memory, bytes */
    uint64_t max_model;  /* --max-model, bytes */
    uint64_t max_work;   /* --max-work, multiply-adds a pixel */
} cli_common;

/* The limits as the library takes them. */
taper_limits cli_limits(const cli_common *common);

/* How many worker threads to start: common->threads, or the number of processors when it is 0. At
 * least 1. */
unsigned cli_threads(const cli_common *common);

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

/* Standard error is a terminal that can redraw a line (not "dumb"). */
bool cli_stderr_is_terminal(void);

/* Parse a size such as "4096", "64K", "1.5M", "2GiB": K, M, G, T (any case, "iB" may follow) are
 * powers of 1024, kB, MB, GB, TB powers of 1000. Rounded to a whole number. False, and *out
 * untouched, when text is anything else or does not fit 63 bits. */
bool cli_parse_size(const char *text, uint64_t *out);
/* The whole text as a decimal number; no hexadecimal, no infinity, no NaN. */
bool cli_parse_double(const char *text, double *out);
bool cli_parse_int(const char *text, int64_t *out);

/* "832 B", "14.2 KiB", "3.0 MiB": for people; to must hold 16 characters. Returns to. */
char *cli_show_size(uint64_t bytes, char to[16]);

#endif
