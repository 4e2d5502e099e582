/* directory.h -- contents of the sections of a container's front matter. An index file also has
 * names and labels in this form. For container.c, root.c,
 * leaf.c and index_file.c only. */
#ifndef FORMATS_DIRECTORY_H
#define FORMATS_DIRECTORY_H
#include "formats/front.h"

/* Each reader fills its members of *f; the members of the header must be set. On failure the memory
 * that it allocated stays in *f. raised: the header has FORMATS_FEATURE_RAISED. */
taper_status formats_directory_read(formats_front *f, formats_cursor *in, int raised,
                                    const taper_limits *limits, taper_error *error);
taper_status formats_names_read(formats_front *f, formats_cursor *in, taper_error *error);
/* The same, but f->names then points into the cursor's bytes. The caller sets it to NULL before
 * formats_front_free. */
taper_status formats_names_view(formats_front *f, formats_cursor *in, taper_error *error);
taper_status formats_labels_section_read(formats_front *f, formats_cursor *in, taper_error *error);

taper_status formats_search_codes_read(formats_front *f, formats_cursor *in, taper_error *error);

/* Parts of these, of which the root and the leaves of a paged container (root.h, leaf.h) consist.
 * formats_directory_check: TAPER_ERR_CORRUPT: images, groups, layers and layout do not fit. The
 * others read: the number of rate classes; the passes of the layers, first_cut, and
 * chunks_per_checksum; the directory of a leaf, with f->layer_at from the start of each layer; the
 * names of classes; the labels. */
taper_status formats_directory_check(const formats_front *f, taper_error *error);
taper_status formats_rate_classes_read(formats_front *f, formats_cursor *in, taper_error *error);
taper_status formats_layers_read(formats_front *f, formats_cursor *in, taper_error *error);
taper_status formats_leaf_directory_read(formats_front *f, formats_cursor *in, int raised,
                                         const taper_limits *limits, taper_error *error);
taper_status formats_classes_read(formats_front *f, formats_cursor *in, taper_error *error);
taper_status formats_labels_read(formats_front *f, formats_cursor *in, taper_error *error);

void formats_layers_write(const formats_front *f, formats_buffer *out);
void formats_leaf_directory_write(const formats_front *f, formats_buffer *out);
void formats_classes_write(const formats_front *f, formats_buffer *out);
void formats_labels_write(const formats_front *f, formats_buffer *out);

void formats_directory_write(const formats_front *f, formats_buffer *out);
void formats_names_write(const formats_front *f, formats_buffer *out);
void formats_search_codes_write(const formats_front *f, formats_buffer *out);
void formats_labels_section_write(const formats_front *f, formats_buffer *out);

#endif
