/* text.h -- text of answers: printed into a buffer, escaped for JSON, HTML and addresses; hashes.
 *
 * Directory serve/content/: what the server has to give, without the protocol. Functions may be
 * called by several threads at once unless a header says otherwise.
 *
 *     roots        the paths that are served; nothing else is opened
 *     files        open files, kept for later requests
 *     sets         open containers, kept for later requests
 *     image_names  the images of a container by name or number
 *     picture      an image as PNG or JPEG, at any size and from any prefix
 *     blob_cache   pictures, kept for later requests
 *     text         text for JSON, HTML and addresses; hashes of text
 *     pages        lists of containers and images, as HTML and JSON; info.json
 *     answer       what a request gets that needs more than a file */
#ifndef SERVE_CONTENT_TEXT_H
#define SERVE_CONTENT_TEXT_H
#include "formats/bytes.h"

/* Append formatted text. Longer results than 1,000 bytes are cut: give %s short strings only. */
void serve_print(formats_buffer *to, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Append a string of JSON with its quotes; NULL: null. Bytes that are not UTF-8 become U+FFFD. */
void serve_print_json(formats_buffer *to, const char *text);
/* Append text of HTML, also for attributes in double quotes. */
void serve_print_html(formats_buffer *to, const char *text);
/* Append a path with percent escapes. Slashes are kept; with `is_name` they are escaped, too. */
void serve_print_url(formats_buffer *to, const char *path, int is_name);

/* The hash of text[n] (FNV-1a), behind what has the hash `before`; SERVE_HASH_BEGIN: nothing. */
#define SERVE_HASH_BEGIN UINT64_C(0xCBF29CE484222325)
uint64_t serve_hash(uint64_t before, const char *text, size_t n);

#endif
