/* idx_labels.h -- the file of labels that `decode` writes together with an IDX file of images. */
#ifndef CLI_IDX_LABELS_H
#define CLI_IDX_LABELS_H
#include "cli/common/messages.h"

/* Path of the label file: "x-labels-idx1-ubyte" for "x-images-idx3-ubyte", "x-labels.idx.gz" for
 * "x.idx.gz". The caller's to free; NULL without memory. */
char *cli_idx_labels_path(const char *images);

/* Check that the label file may be written. The user did not name it, so an existing file is
 * replaced only with -f and only if it has the same n labels. Else prints why and returns an exit
 * code. */
int cli_idx_labels_check(const cli_common *common, const char *path, const uint8_t *label,
                         size_t n);

bool cli_is_gzip_name(const char *path);

#endif
