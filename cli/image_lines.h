/* image_lines.h -- the lines that `taper ls` prints about the images of a container. */
#ifndef CLI_IMAGE_LINES_H
#define CLI_IMAGE_LINES_H
#include "cli/chosen_images.h"
#include <stdio.h>

/* What a line says beside name and size. Of a group of several images the bytes cannot be told
 * apart: each image then counts with its share of the pixels. */
typedef struct cli_image_line {
    uint64_t number;  /* from 1 */
    uint64_t same_as; /* number of the image that the file is stored as; its own: as itself */
    taper_image_info info;
    const char *class; /* NULL: none */
    /* Bytes of image data of the complete file, and those that are here; 0 if it is stored as
     * another image. */
    uint64_t bytes, here;
    bool is_exact;     /* the image is known to equal its original, and all its bytes are here */
    uint64_t together; /* images of the group; 1: the bytes are exact */
    bool has_modified;
    int64_t modified; /* time of the file, in seconds since 1970 */
} cli_image_line;

/* What lines of one container need. */
typedef struct cli_image_lines {
    const cli_container *container;
    uint64_t *pixels;                /* [groups] of the images of each group */
    bool any_exact;                  /* some image is_exact */
    taper_metadata_reader *metadata; /* NULL: there are no times, or they are damaged */
} cli_image_lines;

/* TAPER_ERR_NOMEM. */
taper_status cli_image_lines_open(cli_image_lines *lines, const cli_container *container);
void cli_image_lines_close(cli_image_lines *lines);
/* Image i, from 0. */
cli_image_line cli_image_line_of(const cli_image_lines *lines, uint64_t i);

/* Print names, one per line; with `is_long` a table; with `json` a line of JSON for each image. */
void cli_image_lines_names(const cli_image_lines *lines, const cli_chosen *chosen);
void cli_image_lines_table(const cli_image_lines *lines, const cli_chosen *chosen);
void cli_image_lines_json(const cli_image_lines *lines, const cli_chosen *chosen, const char *path);

#endif
