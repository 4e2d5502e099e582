/* plain_text.c -- see plain_text.h. */
#include "cli/common/plain_text.h"
#include <stdlib.h>
#include <string.h>

int cli_utf8(const char *text, uint32_t *code) {
    const unsigned char *s = (const unsigned char *)text;
    int n = s[0] < 0x80                    ? 1
            : s[0] >= 0xc2 && s[0] < 0xe0  ? 2
            : (s[0] & 0xf0) == 0xe0        ? 3
            : s[0] >= 0xf0 && s[0] <= 0xf4 ? 4
                                           : 0;
    *code = n == 1 ? s[0] : s[0] & (0x7fu >> n);
    for (int i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80) return 0; /* also stops at the end of the string */
        *code = *code << 6 | (s[i] & 0x3fu);
    }
    if (n == 3 && (*code < 0x800 || (*code >= 0xd800 && *code <= 0xdfff))) return 0;
    if (n == 4 && (*code < 0x10000 || *code > 0x10ffff)) return 0;
    return n;
}

bool cli_is_plain(uint32_t c) {
    if (c < 0x20 || (c >= 0x7f && c <= 0x9f)) return false;
    if (c == 0x61c || c == 0x200e || c == 0x200f) return false; /* direction marks */
    if (c >= 0x2028 && c <= 0x202e) return false; /* separators, embeddings, overrides */
    return c < 0x2066 || c > 0x2069;              /* isolates */
}

/* Write the next character of text in printable form, at most 16 bytes; *n: bytes of text that were
 * read. */
static size_t show(char to[17], const char *text, int *n) {
    uint32_t code;
    size_t used = 0;
    *n = cli_utf8(text, &code);
    if (*n && cli_is_plain(code)) {
        memcpy(to, text, (size_t)*n);
        return (size_t)*n;
    }
    if (*n == 0) *n = 1;
    for (int i = 0; i < *n; i++)
        used += (size_t)snprintf(to + used, 5, "\\x%02x", (unsigned char)text[i]);
    return used;
}

size_t cli_plain_text(char *to, size_t room, const char *text) {
    size_t used = 0;
    if (!room) return 0;
    for (int n; *text; text += n) {
        char shown[17];
        size_t length = show(shown, text, &n);
        if (used + length >= room) break;
        memcpy(to + used, shown, length);
        used += length;
    }
    to[used] = 0;
    return used;
}

void cli_put_plain(FILE *to, const char *text) {
    for (int n; *text; text += n) {
        char shown[17];
        fwrite(shown, 1, show(shown, text, &n), to);
    }
}

taper_status cli_put_plain_lines(FILE *to, const char *text, size_t n) {
    char *copy = strndup(text, n), *line = copy;
    if (!copy) return TAPER_ERR_NOMEM;
    for (char *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = 0;
        cli_put_plain(to, line);
        fputc('\n', to);
    }
    cli_put_plain(to, line);
    free(copy);
    return TAPER_OK;
}

static bool is_quoted(const char *text) {
    const size_t length = strlen(text);
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f || text[i] == ',' || text[i] == '"')
            return true;
    return length && (*text == ' ' || text[length - 1] == ' ');
}

static void put_field(FILE *to, const char *before, const char *text) {
    const bool quoted = is_quoted(text);
    if (quoted) fputc('"', to);
    fputs(before, to);
    for (; *text; text++) {
        if (*text == '"') fputc('"', to);
        fputc(*text, to);
    }
    if (quoted) fputc('"', to);
}

/* True if a spreadsheet reads a text that begins so as a formula. */
static bool is_formula(const char *text) { return *text && strchr("=+-@\t\r", *text); }

static bool is_number(const char *text) {
    const size_t n = strspn(text + 1, "0123456789.");
    return (*text == '-' || *text == '+') && n && !text[n + 1];
}

void cli_put_csv(FILE *to, const char *text) {
    const bool is_live = is_formula(text + strspn(text, "'")) && !is_number(text);
    put_field(to, is_live ? "'" : "", text);
}

void cli_put_csv_name(FILE *to, const char *name) {
    put_field(to, is_formula(name) ? "./" : "", name);
}
