/* find_reader.h -- the reader of a file, by its first bytes. */
#ifndef FORMATS_FIND_READER_H
#define FORMATS_FIND_READER_H
#include "formats/readers/reader.h"

/* The reader of a file that begins with these n bytes; NULL: none. 264 bytes are enough. */
const formats_reader *formats_reader_find(const void *front, size_t n);

#endif
