/* json.c -- see json.h. */
#include "cli/common/json.h"
#include "cli/common/plain_text.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static void write_string(FILE *to, const char *s) {
    fputc('"', to);
    while (*s) {
        uint32_t code;
        int n = cli_utf8(s, &code);
        if (n == 0) {
            fputs("\\ufffd", to);
            n = 1;
        } else if (*s == '"' || *s == '\\') {
            fprintf(to, "\\%c", *s);
        } else if (!cli_is_plain(code)) {
            fprintf(to, "\\u%04x", code);
        } else {
            fwrite(s, 1, (size_t)n, to);
        }
        s += n;
    }
    fputc('"', to);
}

/* Write the comma and the key before a value. */
static void lead(cli_json *j, const char *key) {
    if (j->depth > 0) {
        if (j->started[j->depth - 1]) fputc(',', j->to);
        j->started[j->depth - 1] = true;
    }
    if (key) {
        write_string(j->to, key);
        fputc(':', j->to);
    }
}

void cli_json_begin(cli_json *j, FILE *to) {
    *j = (cli_json){.to = to};
    cli_json_open(j, NULL, '{');
    cli_json_int(j, "schema", 1);
}

void cli_json_end(cli_json *j) {
    while (j->depth > 0) cli_json_close(j);
    fputc('\n', j->to);
    fflush(j->to);
}

void cli_json_open(cli_json *j, const char *key, char bracket) {
    if (j->depth == CLI_JSON_DEPTH) abort(); /* the nesting is fixed in the source of the caller */
    lead(j, key);
    fputc(bracket, j->to);
    j->closer[j->depth] = bracket == '{' ? '}' : ']';
    j->started[j->depth] = false;
    j->depth++;
}

void cli_json_close(cli_json *j) {
    if (j->depth > 0) fputc(j->closer[--j->depth], j->to);
}

void cli_json_string(cli_json *j, const char *key, const char *text) {
    lead(j, key);
    if (text)
        write_string(j->to, text);
    else
        fputs("null", j->to);
}

void cli_json_number(cli_json *j, const char *key, double value) {
    lead(j, key);
    if (!isfinite(value)) {
        fputs("null", j->to);
        return;
    }
    char text[32];
    for (int digits = 6; digits <= 17; digits++) { /* 17 always reads back exactly */
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    fputs(text, j->to);
}

void cli_json_uint(cli_json *j, const char *key, uint64_t value) {
    lead(j, key);
    fprintf(j->to, "%" PRIu64, value);
}

void cli_json_id(cli_json *j, const char *key, uint64_t id) {
    char text[20];
    snprintf(text, sizeof text, "%016llx", (unsigned long long)id);
    cli_json_string(j, key, text);
}

void cli_json_int(cli_json *j, const char *key, int64_t value) {
    lead(j, key);
    fprintf(j->to, "%" PRId64, value);
}

void cli_json_bool(cli_json *j, const char *key, bool value) {
    lead(j, key);
    fputs(value ? "true" : "false", j->to);
}
