/* frame_cursor.h -- reads the frames of a file one after the other, without decoding the earlier
 * ones again.
 *
 * A cursor keeps one file open. Threads may call formats_frame_cursor_read at once: frames are
 * decoded one at a time, and those that are passed on the way are kept for the threads that want
 * them, within FORMATS_FRAMES_KEPT frames and FORMATS_FRAME_BYTES_KEPT bytes. */
#ifndef FORMATS_FRAME_CURSOR_H
#define FORMATS_FRAME_CURSOR_H
#include "formats/imageset/image_list.h"

enum { FORMATS_FRAMES_KEPT = 64, FORMATS_FRAME_BYTES_KEPT = 64 << 20 };

typedef struct formats_frame_cursor formats_frame_cursor;

formats_frame_cursor *formats_frame_cursor_make(void);        /* NULL without memory */
void formats_frame_cursor_free(formats_frame_cursor *cursor); /* NULL is fine */

/* Frame `frame` of file number `file` of the list, which has kind KIND_READER. Errors and metadata
 * as formats_picture_read. */
taper_status formats_frame_cursor_read(formats_frame_cursor *cursor, const formats_image_list *list,
                                       size_t file, uint32_t frame, taper_image *out,
                                       formats_metadata *metadata, taper_error *error);

#endif
