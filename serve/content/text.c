/* text.c -- see text.h. */
#include "serve/content/text.h"
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

/* The length of a legal sequence of UTF-8, up to its NUL; 0: it is none. */
static size_t sequence(const unsigned char *text) {
    const unsigned char c = text[0];
    const size_t n = c < 0x80 ? 1 : c < 0xC2 ? 0 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : c < 0xF5 ? 4 : 0;
    for (size_t i = 1; i < n; i++)
        if ((text[i] & 0xC0) != 0x80) return 0;
    if ((c == 0xE0 && text[1] < 0xA0) || (c == 0xED && text[1] > 0x9F)) return 0;
    if ((c == 0xF0 && text[1] < 0x90) || (c == 0xF4 && text[1] > 0x8F)) return 0;
    return n;
}

void serve_print_json(formats_buffer *to, const char *text) {
    if (!text) {
        formats_write_bytes(to, "null", 4);
        return;
    }
    formats_write_u8(to, '"');
    while (*text) {
        const size_t n = sequence((const unsigned char *)text);
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
