/* imageset_inputs.h -- from an input (path, folder, list, stream) to images. */
#ifndef FORMATS_IMAGESET_INPUTS_H
#define FORMATS_IMAGESET_INPUTS_H
#include "formats/image_list.h"

/* Add what path stands for: a file, a folder, "-". What cannot be used is reported to skip; a
 * failure is returned only when the set cannot go on (memory, limits). */
taper_status formats_imageset_add_input(list_builder *b, const char *path);
/* Add the files that a text file lists, one a line, relative to its folder. */
taper_status formats_imageset_add_list(list_builder *b, const char *list_path, int null_ended);

#endif
