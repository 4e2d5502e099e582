/* npy.c -- see npy.h. */
#include "formats/images/npy.h"
#include "formats/bytes.h"
#include <stdio.h>
#include <string.h>

void formats_npy_header(formats_npy_type type, uint64_t rows, uint64_t columns,
                        uint8_t header[FORMATS_NPY_HEADER]) {
    static const char *const names[] = {"<f4", "<i4"};
    static const uint8_t magic[] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
    enum { TEXT_AT = sizeof magic + 2, ROOM = FORMATS_NPY_HEADER - TEXT_AT };
    char text[ROOM + 1], width[24] = "";
    if (columns) snprintf(width, sizeof width, " %llu", (unsigned long long)columns);
    const int used =
        snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (%llu,%s), }",
                 names[type], (unsigned long long)rows, width);
    memset(text + used, ' ', (size_t)(ROOM - used));
    text[ROOM - 1] = '\n';
    memcpy(header, magic, sizeof magic);
    formats_set_u16le(header + sizeof magic, ROOM);
    memcpy(header + TEXT_AT, text, ROOM);
}

void formats_npy_store(const void *numbers, size_t n, uint8_t *to) {
    const uint8_t *from = numbers;
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, from + 4 * i, sizeof bits);
        formats_set_u32le(to + 4 * i, bits);
    }
}
