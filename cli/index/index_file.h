/* index_file.h -- indexes (.tpx) as the verbs use them: opened where they lie, or made of a set of
 * images or containers.
 *
 *     cli_index index;
 *     int code = cli_index_open(&index, verb, path, common);
 *     ... taper_index_nearest(index.index, ...) ...
 *     cli_index_close(&index);
 *
 * Functions that return int print what went wrong and return an exit code; CLI_DONE is 0.
 *
 * The room cli/index/: indexes, and what is found in them.
 *   index_file             opened or made; index_info: what is in one
 *   search_layer           codes for search that a container takes with it
 *   query_codes            queries as codes of bits
 *   search_lines search_page  what was found, as lines or as a page with pictures
 *   nested_rows               nested neighbourhoods, as rows of that page
 *   duplicates             pairs that are nearly the same; alterations: what that means */
#ifndef CLI_INDEX_FILE_H
#define CLI_INDEX_FILE_H
#include "cli/common/outputs.h"
#include "cli/search/code_set.h"
#include "codec/taper_index.h"

typedef struct cli_index {
    taper_index *index;
    const void *bytes; /* mapped */
    uint64_t size;
    uint64_t held; /* bytes on the run's account */
} cli_index;

/* Does the path name a file that begins as an index does? */
bool cli_is_index(const char *path);
int cli_index_open(cli_index *index, const char *verb, const char *path, const cli_common *common);
/* One that is being written, where its output can be read back: what cannot be opened under the
 * limits does not appear. An output that cannot: CLI_DONE, and index->index is NULL. */
int cli_index_read_back(cli_index *index, cli_output *out, const cli_common *common);
void cli_index_close(cli_index *index); /* a zeroed one is fine */

/* Of image i of a set what it is called in an index, before that: the path of its file, or of an
 * IDX or CIFAR file "PATH#N"; of a container its name there. Returns room or a string of the set's.
 */
const char *cli_index_path(const cli_code_set *set, size_t i, char room[CLI_IMAGE_NAME]);
/* A path as an index holds it, as a name: of its parts those that are plain, without what could
 * steer a terminal. malloc'd, the caller's; NULL without memory. */
char *cli_index_name(const char *path);

/* Codes of bits come from binary models: CLI_DONE, or CLI_USAGE with a sentence on what else to do.
 * path: the model's, for the sentence, or NULL. */
int cli_index_check_model(const char *verb, const taper_model_info *model, const char *path);

typedef struct cli_index_options {
    const cli_common *common;
    uint64_t model_id;
    uint32_t bits;            /* the first so many; 0: all that all images have */
    bool are_even;            /* all bits count the same; else half as much from layer to layer */
    const cli_index *earlier; /* [n_earlier] whose images come first */
    size_t n_earlier;
} cli_index_options;

/* Read the codes of an open set, and hand an index of them to the sink, behind those of `earlier`.
 * What --max-memory does not hold is sorted in parts, which wait on disk. set NULL: earlier ones
 * alone are joined. A failure of the sink is *written; all else is printed. */
int cli_index_write(cli_code_set *set, const codec_embedder *embedder,
                    const cli_index_options *options, const taper_sink *sink,
                    taper_status *written);

/* The same into a file without a name, which is opened. */
int cli_index_make(cli_index *index, cli_code_set *set, const codec_embedder *embedder,
                   const cli_index_options *options);

#endif
