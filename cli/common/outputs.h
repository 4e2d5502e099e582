/* outputs.h -- the output file of a verb. It appears whole or not at all, never replaces an input,
 * and is never binary data on a terminal.
 *
 *     cli_output out;
 *     int code = cli_output_open(&out, verb, path, common);
 *     if (code != CLI_DONE) return code;
 *     taper_sink sink = cli_output_sink(&out);
 *     taper_status status = ...write to sink..., with error
 *     return cli_output_close(&out, input, status, &error); */
#ifndef CLI_OUTPUTS_H
#define CLI_OUTPUTS_H
#include "cli/common/messages.h"
#include "formats/atomic_file.h"
#include <stdio.h>

typedef struct cli_output {
    const char *verb, *path;
    formats_atomic_file *file; /* NULL: standard output */
    taper_error problem;       /* first error of standard output */
    uint64_t written;          /* bytes so far */
} cli_output;

/* Open an output; "-" is standard output. On failure prints a message and returns an exit code:
 * CLI_USAGE: standard output is a terminal. CLI_IO: the file exists and -f was not given, or it
 * cannot be created. */
int cli_output_open(cli_output *out, const char *verb, const char *path, const cli_common *common);

taper_sink cli_output_sink(cli_output *out); /* borrows out */

/* A sink for text; out NULL: standard output. On a terminal, control characters are written as \xNN
 * (plain_text.h). */
taper_sink cli_output_text_sink(cli_output *out);
/* If status is TAPER_OK, put the output in place. Else remove it and print the error: with the path
 * of the output if writing it failed, otherwise with that of input. Returns the exit code. */
int cli_output_close(cli_output *out, const char *input, taper_status status,
                     const taper_error *error);

/* For several outputs: finish all of them before the first is closed, so that none appears if
 * another fails. As cli_output_close, but with TAPER_OK the output is not put in place yet. After
 * that only renaming can fail: if the name was taken, or the folder locked or removed, meanwhile.
 * Outputs that were renamed before that stay: with -f the replaced files cannot be restored. */
int cli_output_finish(cli_output *out, const char *input, taper_status status,
                      const taper_error *error);

/* Text that is printed into memory and then written at once. */
typedef struct cli_text {
    FILE *to; /* print to this */
    char *bytes;
    size_t size, room; /* of bytes; valid after a flush */
    bool has_failed;
} cli_text;
/* *text must not move until it is freed. TAPER_ERR_NOMEM: it needs no free. */
taper_status cli_text_open(cli_text *text);
/* TAPER_OK: all text is in bytes. */
taper_status cli_text_flush(cli_text *text);
/* Write the text to the sink and free it. */
taper_status cli_text_write(cli_text *text, const taper_sink *sink);
void cli_text_free(cli_text *text); /* a zeroed one is fine */

/* The path for messages: "standard output" for "-". */
const char *cli_output_name(const char *path);

/* True if both are the same existing file; false for "-". */
bool cli_is_same_file(const char *a, const char *b);
/* CLI_USAGE, with a message, if output and input are the same file; else CLI_DONE. */
int cli_output_check(const char *verb, const char *output, const char *input);

#endif
