/* plain_text.h -- texts out of files (names, classes) that cannot steer a terminal.
 *
 * Whoever made a file chose its names: escape sequences in them could move the cursor, retitle a
 * window or feed its input back, and marks of writing direction could make one name look like
 * another. All that is written for people goes through here. */
#ifndef CLI_COMMON_PLAIN_TEXT_H
#define CLI_COMMON_PLAIN_TEXT_H
#include "formats/status.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Length of the legal UTF-8 sequence at s (RFC 3629: no overlong forms, no surrogates, up to
 * U+10FFFF), or 0; *code is what it stands for. s is NUL-ended; the NUL itself has length 1. */
int cli_utf8(const char *s, uint32_t *code);

/* No control character (C0, DEL, C1), no separator of lines or paragraphs, nothing that sets or
 * overrides the direction of writing. */
bool cli_is_plain(uint32_t code);

/* Copy text; every byte of what is not plain or not UTF-8 becomes "\xNN". What does not fit is left
 * out, never half an escape or half a character. to has room bytes and is NUL-ended. Returns the
 * length. */
size_t cli_plain_text(char *to, size_t room, const char *text);

/* The same, whole, to a stream. */
void cli_put_plain(FILE *to, const char *text);

/* n bytes of lines likewise: their ends stay. TAPER_ERR_NOMEM: nothing is written. */
taper_status cli_put_plain_lines(FILE *to, const char *text, size_t n);

/* As a field of CSV (RFC 4180), for programs: in quotes where it holds a comma, a quote, which is
 * then doubled, or a control character, or begins or ends with a blank. On its way to a terminal it
 * goes through cli_put_plain_lines (cli_output_text_sink).
 *
 * A spreadsheet takes a field that begins with = + - @, a tab or a carriage return for a formula,
 * which can send data away. So a text like that, numbers aside, has an apostrophe put before it,
 * and so has one with apostrophes before such a beginning; the reader of labels takes one away. */
void cli_put_csv(FILE *to, const char *text);
/* The name of a file: with "./" before it, which leaves it a name of that file. */
void cli_put_csv_name(FILE *to, const char *name);

#endif
