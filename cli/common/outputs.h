/* outputs.h -- the one file that a verb writes: whole or not at all, never over an input, never
 * binary to a terminal.
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
    taper_error problem;       /* of standard output */
    uint64_t written;          /* bytes so far */
} cli_output;

/* Begin. path "-" is standard output. Prints what stands against it and returns an exit code:
 * CLI_USAGE for a terminal, CLI_IO when it exists and -f was not given, or cannot be made. */
int cli_output_open(cli_output *out, const char *verb, const char *path, const cli_common *common);

taper_sink cli_output_sink(cli_output *out); /* borrows out */

/* Of text: of an output, or of NULL standard output, which may be a terminal: what could steer it
 * is shown as \xNN there (plain_text.h). */
taper_sink cli_output_text_sink(cli_output *out);
/* With status TAPER_OK put the output in place, else remove it and print why: the output's own
 * failure under its path, any other under that of input. Returns the exit code. */
int cli_output_close(cli_output *out, const char *input, taper_status status,
                     const taper_error *error);

/* Of several outputs none is to appear where a later one fails: settle all before the first is
 * closed. As cli_output_close, but with TAPER_OK the output is not put in place yet. What can fail
 * after that is naming: the name was taken, or the folder locked or removed, meanwhile. Outputs
 * that have their names by then stay, each whole: what -f replaced cannot be brought back, so they
 * are not taken away either. */
int cli_output_settle(cli_output *out, const char *input, taper_status status,
                      const taper_error *error);

/* Text that is printed into memory and written as a piece. */
typedef struct cli_text {
    FILE *to; /* to be printed to */
    char *bytes;
    size_t size, room; /* of bytes: once flushed */
    bool has_failed;
} cli_text;
/* The text stays where it is until it is freed. TAPER_ERR_NOMEM: nothing is held. */
taper_status cli_text_open(cli_text *text);
/* TAPER_OK when all that was printed is in bytes. */
taper_status cli_text_flush(cli_text *text);
/* Hand it to the sink, and free it. */
taper_status cli_text_write(cli_text *text, const taper_sink *sink);
void cli_text_free(cli_text *text); /* a zeroed one is fine */

/* The path as one says it: "standard output" for "-". */
const char *cli_output_name(const char *path);

/* Are both the same existing file? "-" is never. */
bool cli_is_same_file(const char *a, const char *b);
/* CLI_DONE, or CLI_USAGE with a sentence when output is the file input. */
int cli_output_check(const char *verb, const char *output, const char *input);

#endif
