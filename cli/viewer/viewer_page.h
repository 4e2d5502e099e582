/* viewer_page.h -- the page that shows a container in a browser: its files, and its HTML.
 *
 * Directory cli/viewer/: what `page` writes.
 *   viewer_parts        the files of web/viewer/ and the decoder in WebAssembly (viewer_parts.S)
 *   viewer_page         the page as HTML, beside these files or with all of them in it */
#ifndef CLI_VIEWER_PAGE_H
#define CLI_VIEWER_PAGE_H
#include "formats/status.h"
#include <stdbool.h>
#include <stdio.h>

/* A file of the viewer. */
typedef struct cli_viewer_file {
    const char *name;    /* "viewer.js" */
    const uint8_t *from; /* [size] */
    size_t size;
} cli_viewer_file;

/* File k from 0 of those that lie beside the page. false: there are no more. */
bool cli_viewer_get_file(size_t k, cli_viewer_file *out);
/* false: this program was built without a compiler for WebAssembly. */
bool cli_viewer_has_decoder(void);

/* What a page shows. Texts are UTF-8; they are escaped here. */
typedef struct cli_viewer_page {
    const char *title;
    const char *container; /* its address: relative, or http(s)://; NULL in a single file */
    const char *name;      /* its file name */
    const char *model;     /* the address of the model; NULL: the container carries it */
    uint64_t model_id;
    uint32_t first_bytes; /* of the container: what the page asks for first */
    /* In a single file, the bytes of both; model_bytes NULL: the container carries it. */
    const uint8_t *container_bytes, *model_bytes;
    size_t container_size, model_size;
} cli_viewer_page;

/* The page beside the viewer's files. Look at ferror(to) when done. */
void cli_viewer_put_page(FILE *to, const cli_viewer_page *page);
/* The page with everything in it; it loads nothing. */
void cli_viewer_put_single(FILE *to, const cli_viewer_page *page);

/* A file name as a part of an address: percent-encoded where that is needed. */
void cli_viewer_put_address(FILE *to, const char *name);
#endif
