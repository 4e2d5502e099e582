/* target.h -- the path of a request: percent escapes and the names in it.
 *
 * Directory serve/request/: what a request asks for, from its text alone. No function here opens
 * a file, allocates memory or knows the server; all bytes are untrusted. tests/fuzz/fuzz_request.c
 * runs all of them.
 *
 *     target      the path: percent escapes, names that are not allowed
 *     query       what follows the question mark
 *     range       the field Range
 *     conditions  If-Match, If-None-Match, If-Range and the dates beside them
 *     iiif        paths of the IIIF Image API
 *     media       types of files */
#ifndef SERVE_REQUEST_TARGET_H
#define SERVE_REQUEST_TARGET_H
#include <stdbool.h>
#include <stddef.h>

enum { SERVE_PATH_BYTES = 2048 }; /* of a path in a request, with its NUL */

/* The length of the UTF-8 sequence at text[n], n from 1; 0: it is none. Surrogates, overlong forms
 * and numbers above U+10FFFF are none. A NUL has length 1, and ends a longer sequence. */
size_t serve_utf8_length(const char *text, size_t n);

/* Decode the percent escapes of from[n] to a string in to[room]. False: a % without two hexadecimal
 * digits, a control character or NUL, bytes that are not UTF-8, or no room. `to` is then
 * undefined. */
bool serve_unescape(const char *from, size_t n, char *to, size_t room);

typedef enum serve_path_kind {
    SERVE_PATH_IS_FILE,
    SERVE_PATH_IS_FOLDER,  /* it ends in a slash */
    SERVE_PATH_IS_BAD,     /* no legal path: 400 */
    SERVE_PATH_IS_REFUSED, /* an empty name, "..", or a name that begins with a dot: 404 */
} serve_path_kind;

/* The path of a request, raw[n], which begins with a slash, as names that are joined by slashes:
 * without a slash at its beginning and its end, without "." and "..", and without escapes. "/" is
 * "". A name never contains a slash: %2F is bad. to: undefined unless it is a file or a folder. */
serve_path_kind serve_path_clean(const char *raw, size_t n, char to[SERVE_PATH_BYTES]);

/* The part of a clean path up to the end of the first name that ends in ".taper"; 0: there is
 * none. What follows, behind a slash, is within the container. */
size_t serve_path_container(const char *path);

#endif
