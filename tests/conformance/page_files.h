/* page_files.h -- containers in pages (SPEC 5.9), from containers in one piece: the same bytes on
 * every machine, as no part is packed but by plain_zstd_frame. */
#ifndef TESTS_CONFORMANCE_PAGE_FILES_H
#define TESTS_CONFORMANCE_PAGE_FILES_H
#include "formats/container.h"

/* Replace the front matter of a file by one with leaves of `each` images or more; packed: parts may
 * be frames. The file must have two leaves or more. */
void page_file_make(formats_buffer *file, uint32_t each, int packed);

/* An illegal one: `what` is one of those that page_faults lists. */
void page_file_spoil(formats_buffer *file, const char *what);
extern const char *const page_faults[];

#endif
