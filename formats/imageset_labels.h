/* imageset_labels.h -- from label files, CIFAR records and folder names to classes. */
#ifndef FORMATS_IMAGESET_LABELS_H
#define FORMATS_IMAGESET_LABELS_H
#include "formats/image_list.h"
#include "formats/labels.h"

/* Give the entries of a complete list their labels. labels_path: NULL for those of CIFAR files,
 * else those of folders. */
taper_status formats_imageset_assign_labels(list_builder *b, const char *labels_path);

#endif
