/* media.h -- which files are served, and as what. */
#ifndef SERVE_REQUEST_MEDIA_H
#define SERVE_REQUEST_MEDIA_H

/* The media type of a file by the end of its name, in any case. NULL: files of this kind are not
 * served. Served are containers and what a page of `taper page` consists of. */
const char *serve_media_type(const char *name);

#define SERVE_TYPE_CONTAINER "application/x-taper"

#endif
