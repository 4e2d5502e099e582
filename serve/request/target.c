/* target.c -- see target.h. */
#include "serve/request/target.h"
#include <string.h>

static int hex(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

size_t serve_utf8_length(const char *bytes, size_t n) {
    const unsigned char *text = (const unsigned char *)bytes, c = text[0];
    const size_t length = c < 0x80   ? 1
                          : c < 0xC2 ? 0
                          : c < 0xE0 ? 2
                          : c < 0xF0 ? 3
                          : c < 0xF5 ? 4
                                     : 0;
    if (!length || length > n) return 0;
    for (size_t i = 1; i < length; i++)
        if ((text[i] & 0xC0) != 0x80) return 0;
    if ((c == 0xE0 && text[1] < 0xA0) || (c == 0xED && text[1] > 0x9F)) return 0;
    if ((c == 0xF0 && text[1] < 0x90) || (c == 0xF4 && text[1] > 0x8F)) return 0;
    return length;
}

/* No control character, which could forge lines of a header or of the log. */
static bool is_plain(const char *text, size_t n) {
    for (size_t i = 0; i < n;) {
        const size_t length = serve_utf8_length(text + i, n - i);
        if (!length || (unsigned char)text[i] < 0x20 || text[i] == 0x7F) return false;
        i += length;
    }
    return true;
}

bool serve_unescape(const char *from, size_t n, char *to, size_t room) {
    size_t size = 0;
    for (size_t i = 0; i < n; i++) {
        char c = from[i];
        if (c == '%') {
            if (n - i < 3 || hex(from[i + 1]) < 0 || hex(from[i + 2]) < 0) return false;
            c = (char)(hex(from[i + 1]) << 4 | hex(from[i + 2]));
            i += 2;
        }
        if (size + 1 >= room) return false;
        to[size++] = c;
    }
    if (size >= room || !is_plain(to, size)) return false;
    to[size] = '\0';
    return true;
}

serve_path_kind serve_path_clean(const char *raw, size_t n, char to[SERVE_PATH_BYTES]) {
    size_t size = 0;
    if (!n || raw[0] != '/') return SERVE_PATH_IS_BAD;
    to[0] = '\0';
    for (size_t at = 1; at < n;) {
        const char *slash = memchr(raw + at, '/', n - at);
        const size_t length = slash ? (size_t)(slash - raw) - at : n - at;
        if (size) to[size++] = '/';
        if (!serve_unescape(raw + at, length, to + size, SERVE_PATH_BYTES - size))
            return SERVE_PATH_IS_BAD;
        if (strchr(to + size, '/')) return SERVE_PATH_IS_BAD;
        if (to[size] == '\0' || to[size] == '.') return SERVE_PATH_IS_REFUSED;
        size += strlen(to + size);
        if (size + 2 >= SERVE_PATH_BYTES) return SERVE_PATH_IS_BAD;
        at += length + 1;
    }
    return raw[n - 1] == '/' ? SERVE_PATH_IS_FOLDER : SERVE_PATH_IS_FILE;
}

size_t serve_path_container(const char *path) {
    static const char ending[] = ".taper";
    const size_t length = sizeof ending - 1;
    for (const char *at = path; (at = strstr(at, ending)); at += length)
        if ((at[length] == '\0' || at[length] == '/') && at != path && at[-1] != '/')
            return (size_t)(at - path) + length;
    return 0;
}
