/* stdio_names.c -- the names of the C library for print.h, so that the linker takes these. */
#include "web/libc/print.h"
#include <stdio.h>

int vsnprintf(char *restrict to, size_t room, const char *restrict form, va_list args) {
    return web_vprint(to, room, form, args);
}

int snprintf(char *restrict to, size_t room, const char *restrict form, ...) {
    va_list args;
    va_start(args, form);
    int size = web_vprint(to, room, form, args);
    va_end(args);
    return size;
}
