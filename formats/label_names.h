/* label_names.h -- which line of a label file "name,label" names which image. */
#ifndef FORMATS_LABEL_NAMES_H
#define FORMATS_LABEL_NAMES_H
#include "formats/image_list.h"
#include "formats/labels.h"

/* Give the entries of a complete list, which have their names, the labels of the lines that name
 * them. A line names an image by its path, by an end of that ("flat/a.png", "a.png"), by the name
 * that the image has in this set ("FILE#N" of an IDX or CIFAR file), or by a longer path of which
 * the image's path below its input is an end. Names are compared as formats_name_key has it; of
 * lines whose names differ by their normal form alone, the one in the image's own bytes counts.
 * What fits several images, or lines, is refused. Lines that name no image, and lines that a later
 * one contradicts, are counted in the list. TAPER_ERR_ARG, TAPER_ERR_NOMEM. */
taper_status formats_label_names_assign(formats_image_list *list, const formats_labels *labels,
                                        taper_error *why);

#endif
