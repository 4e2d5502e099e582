/* indexed_pictures.h -- pictures of the images of an index, for pages. They are found by name in
 * the set that was indexed. */
#ifndef CLI_INDEXED_PICTURES_H
#define CLI_INDEXED_PICTURES_H
#include "cli/common/outputs.h"
#include "cli/search/code_set.h"
#include "codec/taper_index.h"

typedef struct cli_named_image {
    char *name; /* as in the index */
    size_t image;
} cli_named_image;

typedef struct cli_indexed_pictures {
    const cli_code_set *set; /* NULL: names stand in for pictures */
    cli_named_image *at;     /* [n] sorted by name */
    size_t n;
    size_t shown, unread; /* pictures on the page; those that are there and cannot be read */
    bool *is_told;        /* [n] by image of the set, those that cannot be read */
} cli_indexed_pictures;

typedef struct cli_indexed_picture {
    const char *name;
    const char *first; /* the first line of the caption */
    const char *class; /* in the second one, before the file's name; NULL: none */
} cli_indexed_picture;

/* Write the picture of this name, or a box with the name. TAPER_ERR_NOMEM. */
taper_status cli_indexed_pictures_put(cli_indexed_pictures *pictures,
                                      const cli_indexed_picture *picture, FILE *to);
/* The same for image i of another set; -1: a box. */
taper_status cli_indexed_pictures_put_other(cli_indexed_pictures *pictures, const cli_code_set *set,
                                            int64_t i, const cli_indexed_picture *picture,
                                            FILE *to);
/* The same for an image of the index, with its class. */
taper_status cli_indexed_pictures_put_image(cli_indexed_pictures *pictures,
                                            const taper_index *index, uint32_t image,
                                            const char *first, FILE *to);

/* A page of such pictures: an HTML file. */
typedef struct cli_indexed_page {
    cli_output out;
    cli_text text; /* write to text.to */
    cli_indexed_pictures pictures;
} cli_indexed_page;

/* set: the indexed one, open; NULL: names only. On failure prints a message and returns an exit
 * code; the page then needs no close. *page must not move. */
int cli_indexed_page_open(cli_indexed_page *page, const cli_code_set *set, const char *path,
                          const cli_common *common);
/* Write the file, unless status is a failure, and free the page. Returns an exit code.
 * CLI_SOME_FAILED: it was written without some pictures, which were named. A warning says if no
 * picture was found. */
int cli_indexed_page_close(cli_indexed_page *page, taper_status status);

#endif
