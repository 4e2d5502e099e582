/* imageset_labels.h -- labels from label files, CIFAR records and folder names. */
#ifndef FORMATS_IMAGESET_LABELS_H
#define FORMATS_IMAGESET_LABELS_H
#include "formats/imageset/image_list.h"
#include "formats/imageset/labels.h"

/* Set the labels of the entries of a complete list. labels_path: a label file; NULL: labels of
 * CIFAR files, or, without these, folder names. */
taper_status formats_imageset_assign_labels(list_builder *b, const char *labels_path);

#endif
