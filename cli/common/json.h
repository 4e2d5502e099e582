/* json.h -- writes JSON lines: one object per line. Allocates nothing.
 *
 *     cli_json j;
 *     cli_json_begin(&j, stdout);                    {"schema":1
 *     cli_json_string(&j, "codec", "taper");         ,"codec":"taper"
 *     cli_json_open(&j, "points", '[');              ,"points":[
 *     cli_json_open(&j, NULL, '{');                  {
 *     cli_json_number(&j, "bpp", 0.25);              "bpp":0.25
 *     cli_json_close(&j);                            }
 *     cli_json_close(&j);                            ]
 *     cli_json_end(&j);                              }\n
 *
 * key: NULL inside an array, not NULL inside an object. Strings are UTF-8; other bytes become
 * U+FFFD, so that the output is always legal JSON. Control characters (plain_text.h) are written as
 * \uNNNN. A number is the shortest decimal that reads back as the same double; NaN and infinities
 * become null. */
#ifndef CLI_COMMON_JSON_H
#define CLI_COMMON_JSON_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { CLI_JSON_DEPTH = 16 };

typedef struct cli_json {
    FILE *to;
    int depth;                    /* open objects and arrays */
    char closer[CLI_JSON_DEPTH];  /* '}' or ']' */
    bool started[CLI_JSON_DEPTH]; /* has an element: a comma comes before the next */
} cli_json;

void cli_json_begin(cli_json *j, FILE *to); /* opens the object and writes "schema":1 */
void cli_json_end(cli_json *j);             /* closes all that is open, ends the line, flushes */
/* bracket: '{' or '['; at most CLI_JSON_DEPTH levels. */
void cli_json_open(cli_json *j, const char *key, char bracket);
void cli_json_close(cli_json *j);

void cli_json_string(cli_json *j, const char *key, const char *text); /* text NULL: null */
void cli_json_number(cli_json *j, const char *key, double value);
void cli_json_uint(cli_json *j, const char *key, uint64_t value);
/* An identifier, as a string of 16 hexadecimal digits. */
void cli_json_id(cli_json *j, const char *key, uint64_t id);
void cli_json_int(cli_json *j, const char *key, int64_t value);
void cli_json_bool(cli_json *j, const char *key, bool value);

#endif
