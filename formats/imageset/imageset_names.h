/* imageset_names.h -- names the images of a set. */
#ifndef FORMATS_IMAGESET_NAMES_H
#define FORMATS_IMAGESET_NAMES_H
#include "formats/imageset/image_list.h"

/* Name the entries of a complete list, as formats_imageset_name describes. */
taper_status formats_imageset_name_images(list_builder *b);

#endif
