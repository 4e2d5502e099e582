/* labels_beside.h -- the file of labels that `decode` writes beside an IDX file of images. */
#ifndef CLI_LABELS_BESIDE_H
#define CLI_LABELS_BESIDE_H
#include "cli/common/messages.h"

/* Its path: of "x-images-idx3-ubyte" "x-labels-idx1-ubyte", of "x.idx.gz" "x-labels.idx.gz"; the
 * caller's to free, NULL without memory. */
char *cli_labels_beside(const char *images);

/* Nobody has named that file: with -f one that is there may go only where it holds these n labels
 * already. Else prints why and returns an exit code. */
int cli_labels_beside_check(const cli_common *common, const char *path, const uint8_t *label,
                            size_t n);

bool cli_is_gzip_name(const char *path);

#endif
