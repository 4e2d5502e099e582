/* plain_text.h -- escapes control characters in texts from files (names, classes).
 *
 * Names in a hostile file may contain escape sequences that move the cursor, change the window
 * title or insert input, and direction marks that make one name look like another. All output for
 * people is filtered here. */
#ifndef CLI_COMMON_PLAIN_TEXT_H
#define CLI_COMMON_PLAIN_TEXT_H
#include "formats/status.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Length of the legal UTF-8 sequence at s (RFC 3629: no overlong forms, no surrogates, up to
 * U+10FFFF), or 0. *code: its code point. s is NUL-terminated; the NUL itself has length 1. */
int cli_utf8(const char *s, uint32_t *code);

/* False for control characters (C0, DEL, C1), separators of lines and paragraphs, and characters
 * that set or override the text direction. */
bool cli_is_plain(uint32_t code);

/* Copy text to to[room], NUL-terminated. Every byte of a character that is not plain or not UTF-8
 * becomes "\xNN". Text that does not fit is omitted, but no escape or character is split. Returns
 * the length. */
size_t cli_plain_text(char *to, size_t room, const char *text);

/* The same, without a limit, to a stream. */
void cli_put_plain(FILE *to, const char *text);

/* The same for n bytes of lines, whose line ends are kept. TAPER_ERR_NOMEM: nothing is written. */
taper_status cli_put_plain_lines(FILE *to, const char *text, size_t n);

/* Write text as a field of CSV (RFC 4180). It is quoted if it contains a comma, a quote or a
 * control character, or begins or ends with a space. Output to a terminal is also filtered by
 * cli_put_plain_lines (cli_output_text_sink).
 *
 * Spreadsheets read a field that begins with = + - @, a tab or a carriage return as a formula,
 * which can send data away. Such a text gets an apostrophe before it, unless it is a number; so
 * does one that has apostrophes before such a character. The reader of labels removes one
 * apostrophe. */
void cli_put_csv(FILE *to, const char *text);
/* The same for the name of a file: "./" is put before it instead, which keeps the name valid. */
void cli_put_csv_name(FILE *to, const char *name);

#endif
