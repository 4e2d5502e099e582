/* reading.h -- reads of a remote file: which pages are requested. */
#ifndef REMOTE_READING_H
#define REMOTE_READING_H
#include "remote/remote_file.h"

/* The function of the source; user: the file. */
taper_status remote_read(void *user, uint64_t offset, void *to, size_t n);

#endif
