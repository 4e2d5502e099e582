/* label_names.h -- assigns the lines of a label file "name,label" to images. */
#ifndef FORMATS_LABEL_NAMES_H
#define FORMATS_LABEL_NAMES_H
#include "formats/imageset/image_list.h"
#include "formats/imageset/labels.h"

/* Label the entries of a complete, named list. A line matches an image by one of these:
 *     the path of the image, or an end of it ("flat/a.png", "a.png")
 *     its name in this set ("FILE#N" for an image of an IDX or CIFAR file)
 *     a longer path that ends in the path of the image below its input
 * Names are compared by formats_name_key. Among lines whose names differ only in Unicode form, the
 * one with exactly the image's name counts. Unmatched and overridden lines are counted in the list.
 * TAPER_ERR_ARG: a line matches several images, or an image several lines. TAPER_ERR_NOMEM. */
taper_status formats_label_names_assign(formats_image_list *list, const formats_labels *labels,
                                        taper_error *why);

#endif
