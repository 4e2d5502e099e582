/* imageset_names.h -- the names of a set's images. */
#ifndef FORMATS_IMAGESET_NAMES_H
#define FORMATS_IMAGESET_NAMES_H
#include "formats/image_list.h"

/* Give the entries of a complete list their names: relative to the input that they came from, with
 * their own suffix, escaped (name_key.h). Where two inputs would give the same name, all images of
 * both keep the folder that the input is in, or more of its path. What is equal still gets a
 * number. */
taper_status formats_imageset_name_images(list_builder *b);

#endif
