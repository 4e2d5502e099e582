/* index_file.h -- indexes (.tpx) for the verbs: opened as mapped files, or made from a set of
 * images or containers.
 *
 *     cli_index index;
 *     int code = cli_index_open(&index, verb, path, common);
 *     ... taper_index_nearest(index.index, ...) ...
 *     cli_index_close(&index);
 *
 * Functions that return int print what went wrong and return an exit code; CLI_DONE is 0.
 *
 * Directory cli/index/: indexes and search.
 *   index_file    opens and makes indexes
 *   index_list    opens several indexes as one
 *   index_info    prints the contents of an index
 *   search_layer  codes for search in a container
 *   query_codes   queries as binary codes
 *   search_lines  results as CSV or JSON
 *   search_page   results as a page with pictures
 *   nested_rows   nested neighbourhoods, for that page
 *   duplicates    pairs of images whose codes are near
 *   duplicates_page  these as a page with pictures
 *   indexed_pictures  pictures of indexed images, for pages */
#ifndef CLI_INDEX_FILE_H
#define CLI_INDEX_FILE_H
#include "cli/common/outputs.h"
#include "cli/search/code_set.h"
#include "codec/taper_index.h"

typedef struct cli_index {
    taper_index *index;
    const void *bytes; /* mapped */
    uint64_t size;
    uint64_t held; /* bytes charged by cli_memory_hold */
} cli_index;

int cli_index_open(cli_index *index, const char *verb, const char *path, const cli_common *common);
/* Open an index that was just written to out, to check it before it is put in place. If the output
 * cannot be read back: CLI_DONE, and index->index is NULL. */
int cli_index_read_back(cli_index *index, cli_output *out, const cli_common *common);
void cli_index_close(cli_index *index); /* a zeroed one is fine */
/* taper_index_get_info by value. */
taper_index_info cli_index_info(const taper_index *index);

/* The path from which cli_index_name makes the name of image i: the path of its file, "PATH#N" for
 * an IDX or CIFAR file, or its name in a container. Returns room, or a string of the set. */
const char *cli_index_path(const cli_code_set *set, size_t i, char room[CLI_IMAGE_NAME]);
/* The name for a path in an index: its safe parts, without control characters. malloc'd, the
 * caller's to free; NULL without memory. */
char *cli_index_name(const char *path);

/* Check that the model is binary: CLI_DONE, or CLI_USAGE after a message. path: that of the model,
 * for the message; or NULL. */
int cli_index_check_model(const char *verb, const taper_model_info *model, const char *path);

typedef struct cli_index_options {
    const cli_common *common;
    uint64_t model_id;
    uint32_t bits;            /* use the first `bits`; 0: all that all images have */
    bool are_even;            /* equal weights; else the weight halves from layer to layer */
    const cli_index *earlier; /* [n_earlier] indexes whose images come first */
    size_t n_earlier;
    /* The part of a set that is indexed, with left_out as if no image were stored; NULL: the index
     * does not say. Only without `earlier`. */
    const taper_part *part;
} cli_index_options;

/* Read the codes of an open set and write an index of them to the sink, after the images of
 * `earlier`. If they exceed --max-memory they are sorted in parts, in temporary files. set NULL:
 * only merges `earlier`. *written: status of the sink. Other failures print a message. */
int cli_index_write(cli_code_set *set, const cli_embedder *embedder,
                    const cli_index_options *options, const taper_sink *sink,
                    taper_status *written);

/* The same, into an unnamed temporary file, which is opened. */
int cli_index_make(cli_index *index, cli_code_set *set, const cli_embedder *embedder,
                   const cli_index_options *options);

#endif
