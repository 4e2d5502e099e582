/* front.h -- the front matter of a container with all optional parts, for tests. */
#ifndef TESTS_FRONT_H
#define TESTS_FRONT_H
#include "cmocka_all.h"
#include "formats/container.h"
#include <stdlib.h>
#include <string.h>

enum { FRONT_IMAGES = 7, FRONT_GROUPS = 3, FRONT_LAYERS = 2 };

/* A copy on the heap, as readers make it. */
static inline void *front_copy(const void *from, size_t n) {
    void *to = malloc(n ? n : 1);
    assert_non_null(to);
    memcpy(to, from, n);
    return to;
}

/* Front matter with all optional parts. */
static inline formats_front front_sample(void) {
    static const formats_geometry geometry[FRONT_IMAGES] = {
        {32, 32, 3, 8, 0, 0},      {32, 32, 3, 8, 0, 0},    {32, 32, 1, 8, 0, 0},
        {1, 1 << 24, 1, 16, 0, 0}, {640, 480, 3, 16, 0, 0}, {640, 480, 3, 16, 0, 0},
        {1, 1, 1, 8, 0, 0}};
    static const uint32_t group_first[] = {0, 3, 6, 7}, layer_end[] = {5, 1 << 24};
    static const uint64_t chunk_at[] = {0, 100, 100, 350, 70000, 70000, 70001};
    static const uint32_t checksum[] = {1, 0xFFFFFFFF, 3, 0};
    static const char names[] = "a/b c.png\0d.png\0e\0f\0g..h\0\xC3\xA9.png\0i";
    static const uint32_t name_at[] = {0, 10, 16, 18, 20, 25, 32};
    static const int32_t label[] = {-1, 0, 1, 1, 0, -1, 1};
    static const char classes[] = "cat\0dog";
    static const uint32_t class_at[] = {0, 4};
    formats_front f = {.model_id = 0x0123456789ABCDEFu,
                       .layout = 0,
                       .tail = 1,
                       .first_cut = 2,
                       .images = FRONT_IMAGES,
                       .groups = FRONT_GROUPS,
                       .layers = FRONT_LAYERS,
                       .rate_classes = 1,
                       .chunks_per_checksum = 2,
                       .classes = 2,
                       .model_size = 5};
    f.geometry = front_copy(geometry, sizeof geometry);
    f.group_first = front_copy(group_first, sizeof group_first);
    f.layer_end = front_copy(layer_end, sizeof layer_end);
    f.chunk_at = front_copy(chunk_at, sizeof chunk_at);
    f.checksum = front_copy(checksum, sizeof checksum);
    f.names = front_copy(names, sizeof names);
    f.name_at = front_copy(name_at, sizeof name_at);
    f.label = front_copy(label, sizeof label);
    f.class_names = front_copy(classes, sizeof classes);
    f.class_name_at = front_copy(class_at, sizeof class_at);
    f.model = front_copy("model", 5);
    return f;
}

static inline formats_buffer front_write(formats_front *f) {
    formats_buffer out = formats_buffer_make(1 << 24);
    assert_int_equal(formats_front_write(f, &out, NULL), TAPER_OK);
    assert_int_equal(f->front_size, out.size);
    return out;
}

/* Read exactly these bytes, so that a sanitizer detects a read past the end; the result is freed.
 *  */
static inline taper_status front_read(const void *bytes, size_t size, const taper_limits *limits,
                                      taper_error *error) {
    uint8_t *exact = front_copy(bytes, size);
    formats_front f;
    taper_error own = {0};
    taper_status status = formats_front_read(exact, size, limits, &f, error ? error : &own);
    assert_int_equal((error ? error : &own)->status, status);
    if (status != TAPER_OK) assert_true(!f.geometry && !f.chunk_at && !f.names && !f.model);
    formats_front_free(&f);
    free(exact);
    return status;
}

#endif
