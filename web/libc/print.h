/* print.h -- formatted text for the build for browsers: what messages of the decoder use, without
 * the streams and floating-point numbers of the C library, which are larger than the decoder's own
 * code.
 *
 * web/libc/ has: print (this), heap (an allocator), and the names of the C library for both and for
 * copies of bytes: stdio_names, heap_names, bytes_names. */
#ifndef WEB_LIBC_PRINT_H
#define WEB_LIBC_PRINT_H
#include <stdarg.h>
#include <stddef.h>

/* As vsnprintf: conversions d, u, x, c, s and %, with flag 0, a width, a precision of s, and sizes
 * ll, l and z. Others are written as they stand, and take no argument. */
int web_vprint(char *to, size_t room, const char *form, va_list args);

#endif
