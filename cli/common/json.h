/* json.h -- a small writer of JSON lines: one object a line, no state on the heap.
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
 * Inside an array key is NULL, inside an object it is not. Strings are taken as UTF-8; bytes that
 * are not legal UTF-8 become U+FFFD, so that the output is always legal JSON; what could steer a
 * terminal (plain_text.h) is written as \uNNNN. Numbers are the shortest decimal that reads back as
 * the same double; NaN and infinities are null. */
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
    bool started[CLI_JSON_DEPTH]; /* something stands in it: a comma comes next */
} cli_json;

void cli_json_begin(cli_json *j, FILE *to); /* opens the object and writes "schema":1 */
void cli_json_end(cli_json *j);             /* closes what is open, ends the line and flushes it */
void cli_json_open(cli_json *j, const char *key,
                   char bracket); /* '{' or '['; at most CLI_JSON_DEPTH deep */
void cli_json_close(cli_json *j);

void cli_json_string(cli_json *j, const char *key, const char *text); /* text NULL: null */
void cli_json_number(cli_json *j, const char *key, double value);
void cli_json_uint(cli_json *j, const char *key, uint64_t value);
void cli_json_int(cli_json *j, const char *key, int64_t value);
void cli_json_bool(cli_json *j, const char *key, bool value);

#endif
