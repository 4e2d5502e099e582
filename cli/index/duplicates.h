/* duplicates.h -- pairs of images of an index that are nearly the same. */
#ifndef CLI_DUPLICATES_H
#define CLI_DUPLICATES_H
#include "cli/index/index_file.h"

typedef struct cli_duplicates {
    const taper_index *index;
    cli_code_set *set;              /* the images, for trials; or NULL */
    const codec_embedder *embedder; /* the model, for trials; or NULL */
    const cli_common *common;
    int64_t within; /* distance of a pair; -1: by trials, which are told */
} cli_duplicates;

/* name,name,distance,image,image under a heading, or {"schema":1,"kind":"pair",..}: each pair once,
 * the lower number first; the nearest pairs come first. An image with very many near ones has not
 * all of them listed, which is told, but every image that has a near one is in a pair. It is told,
 * too, where a distance by trials is not to be trusted. Prints what is wrong and returns an exit
 * code; *written is what the sink says. */
int cli_put_duplicates(const cli_duplicates *duplicates, const taper_sink *sink,
                       taper_status *written);

#endif
