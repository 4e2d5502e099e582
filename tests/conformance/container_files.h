/* container_files.h -- containers of random codes, laid out as a recipe says, without an encoder's
 * network: the same bytes on every machine. Sections are packed by plain_zstd_frame or not at all.
 */
#ifndef TESTS_CONFORMANCE_CONTAINER_FILES_H
#define TESTS_CONFORMANCE_CONTAINER_FILES_H
#include "codec/model/model.h"
#include "formats/container.h"

enum { MOST_IMAGES = 40, MOST_GROUPS = 8, MOST_CHUNKS = 64 };

typedef struct container_recipe {
    const char *name, *model; /* files without .taper and .tpm */
    uint32_t images, groups, layers;
    formats_geometry image[MOST_IMAGES]; /* those of width 0 are as the first */
    uint32_t group[MOST_GROUPS];         /* images in each; 0: the rest, evenly */
    uint32_t rate_classes;               /* 0: 1. Image i is on rate class i mod rate classes */
    int one_by_one;                      /* the layout, where each image is a group */
    /* With pixel layers: for each layer p (passes) or its kind, 1 to 4; NULL: without. */
    const char *kinds;
    int tail;      /* 1: last chunks from group 1 on are cut to 2/3, 2: to nothing */
    uint32_t span; /* chunks per checksum; 0: 1 */
    int names, labels, embeds, packed; /* names: 3: ascending */
    uint32_t pages;                    /* the least images of a leaf; 0: not in pages */
    uint32_t passes;                   /* in 1/8 of the model's; 0: all */
    int raised;                        /* every other group has raised planes */
    int flat;                          /* codes of 0 */
    int sparse;                        /* most codes are 0 */
    int emptied;     /* chunks are cut to nothing, and count as whole; n: to n - 1 bytes */
    uint32_t damage; /* chunk whose bytes are changed, from 1 */
    int trailing;    /* a byte follows the last chunk */
    int metadata;    /* section `meta`: every kind, in two pages */
    int part;        /* section `part`: the second of three, of twice as many images, less one */
    int ignored;     /* an unknown section that may be skipped, the longest holds */
    uint64_t holds;
} container_recipe;

/* Sections and header, for those who lay a file out themselves. */
typedef struct file_parts {
    formats_buffer table, body;
    uint32_t sections;
} file_parts;
file_parts file_parts_begin(void);
/* Append a section; packed: in a frame. */
void file_parts_add(file_parts *parts, const char type[4], const uint8_t *bytes, size_t n,
                    int packed);
/* Append header, table and sections to out, and free the parts. Of front the header's fields
 * count. */
void file_parts_end(file_parts *parts, const formats_front *front, uint64_t holds,
                    formats_buffer *out);

/* Append the file. model_file: the model's, to be embedded. */
void container_file_make(const container_recipe *recipe, const taper_model *model,
                         const formats_buffer *model_file, formats_buffer *out);

#endif
