/* links.h -- images of a set that are the same file by another name: hard and symbolic links. */
#ifndef CLI_COPIES_LINKS_H
#define CLI_COPIES_LINKS_H
#include "cli/search/code_set.h"

/* digest[images]: of their pixels; an image that follows an equal one of the same file is that one,
 * given twice. of[i], of all images of an open set: the image that has the same file, and the same
 * place in it; of several names the first that is no symbolic link, or else the first. i itself if
 * there is no other. malloc'd, the caller's to free; NULL without memory. */
uint32_t *cli_links_find(const cli_code_set *set, const uint64_t *digest);

#endif
