/* duplicates.h -- finds pairs of images of an index whose codes have a small distance. */
#ifndef CLI_DUPLICATES_H
#define CLI_DUPLICATES_H
#include "cli/index/index_list.h"

typedef struct cli_duplicates {
    const taper_index *index;
    const cli_index_list *list; /* the files of the index, if they are several; else NULL */
    cli_code_set *set;          /* the images, for the page; or NULL */
    const cli_common *common;
    uint32_t within;  /* largest distance of a pair */
    const char *html; /* write a page with the pictures of `set` here; NULL: none */
} cli_duplicates;

/* Write CSV with the heading name,name,distance,image,image, or {"schema":1,"kind":"pair",..} per
 * line. Of several index files the line ends with those of both images. Each pair appears once, the
 * lower number first; the nearest pairs come first. If an image has very many near images, not all
 * of its pairs are listed, which is printed; but every image with a near one is in some pair. The
 * page shows images that are joined by pairs in a row.
 * *written: status of the sink. For other failures prints a message and returns an exit code. */
int cli_put_duplicates(const cli_duplicates *duplicates, const taper_sink *sink,
                       taper_status *written);

#endif
