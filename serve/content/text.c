/* text.c -- see text.h. */
#include "serve/content/text.h"
#include "serve/request/target.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void serve_print(formats_buffer *to, const char *format, ...) {
    char text[1000];
    va_list arguments;
    va_start(arguments, format);
    const int n = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (n > 0) formats_write_bytes(to, text, formats_smaller((size_t)n, sizeof text - 1));
}

enum { MOST_SEQUENCE = 4 }; /* bytes of a character in UTF-8 */

void serve_print_json(formats_buffer *to, const char *text) {
    if (!text) {
        formats_write_bytes(to, "null", 4);
        return;
    }
    formats_write_u8(to, '"');
    while (*text) {
        const size_t n = serve_utf8_length(text, MOST_SEQUENCE);
        const unsigned char c = (unsigned char)*text;
        if (!n)
            formats_write_bytes(to, "\xEF\xBF\xBD", 3);
        else if (c < 0x20 || c == 0x7F)
            serve_print(to, "\\u%04x", c);
        else if (c == '"' || c == '\\')
            formats_write_u8(to, '\\'), formats_write_u8(to, c);
        else
            formats_write_bytes(to, text, n);
        text += n ? n : 1;
    }
    formats_write_u8(to, '"');
}

void serve_print_html(formats_buffer *to, const char *text) {
    for (; *text; text++) {
        switch (*text) {
        case '&': formats_write_bytes(to, "&amp;", 5); break;
        case '<': formats_write_bytes(to, "&lt;", 4); break;
        case '>': formats_write_bytes(to, "&gt;", 4); break;
        case '"': formats_write_bytes(to, "&quot;", 6); break;
        default: formats_write_u8(to, (uint8_t)*text);
        }
    }
}

void serve_print_url(formats_buffer *to, const char *path, int is_name) {
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    for (; *path; path++) {
        if (strchr(plain, *path) || (*path == '/' && !is_name))
            formats_write_u8(to, (uint8_t)*path);
        else
            serve_print(to, "%%%02X", (unsigned char)*path);
    }
}

uint64_t serve_hash(uint64_t before, const char *text, size_t n) {
    for (size_t i = 0; i < n; i++) before = (before ^ (unsigned char)text[i]) * 0x100000001B3;
    return before;
}
