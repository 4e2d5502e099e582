/* fuzz_directory.c -- any bytes as the content of a container's directory, names or labels, with
 * counts drawn from the first bytes; what is read must be the same when written and read again. */
#include "formats/directory.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void must(int holds) {
    if (!holds) abort();
}

static void compare(const formats_front *a, const formats_front *b) {
    uint64_t chunks = (uint64_t)a->layers * a->groups;
    must(a->first_cut == b->first_cut && a->chunks_per_checksum == b->chunks_per_checksum);
    must(!memcmp(a->geometry, b->geometry, a->images * sizeof *a->geometry));
    must(!memcmp(a->group_first, b->group_first, (a->groups + 1) * sizeof *a->group_first));
    size_t ends = (size_t)a->layers * a->rate_classes;
    must(a->rate_classes == b->rate_classes &&
         !memcmp(a->layer_end, b->layer_end, ends * sizeof *a->layer_end));
    if (a->rate_classes > 1)
        must(!memcmp(a->image_at, b->image_at, a->images * sizeof *a->image_at));
    must(!memcmp(a->chunk_at, b->chunk_at, (chunks + 1) * sizeof *a->chunk_at));
    must(!a->raised_at == !b->raised_at);
    for (uint32_t g = 0; a->raised_at && g <= a->groups; g++)
        must(a->raised_at[g] == b->raised_at[g]);
    for (uint32_t i = 0; a->raised_at && i < a->raised_at[a->groups]; i++)
        must(a->raised[i].unit == b->raised[i].unit && a->raised[i].planes == b->raised[i].planes);
    must(!memcmp(a->checksum, b->checksum, formats_front_checksums(a) * sizeof *a->checksum));
}

/* What a directory that was accepted promises to those who use it. */
static void check(const formats_front *f) {
    must(f->group_first[0] == 0 && f->group_first[f->groups] == f->images);
    for (uint32_t g = 0; g < f->groups; g++) must(f->group_first[g] < f->group_first[g + 1]);
    for (uint32_t l = 1; l < f->layers; l++)
        for (uint32_t g = 0; g < f->groups; g++) {
            uint32_t before = formats_front_layer_end(f, l - 1, g);
            must(before + (f->rate_classes == 1) <= formats_front_layer_end(f, l, g));
        }
    for (uint32_t i = 0; i < f->images; i++)
        must(formats_front_image(f, formats_front_place(f, i)) == i);
    for (uint64_t c = 0; c < (uint64_t)f->layers * f->groups; c++)
        must(f->chunk_at[c] <= f->chunk_at[c + 1]);
    must(f->first_cut < f->groups);
    for (uint32_t g = 0, n; f->raised_at && g < f->groups; g++) {
        const formats_raised *raised = formats_front_raised(f, g, &n);
        for (uint32_t i = 0; i < n; i++)
            must(raised[i].planes && raised[i].planes <= FORMATS_MOST_RAISED &&
                 (!i || raised[i - 1].unit < raised[i].unit));
    }
}

static formats_front with_header_of(const formats_front *f) {
    return (formats_front){.layout = f->layout,
                           .tail = f->tail,
                           .images = f->images,
                           .groups = f->groups,
                           .rate_classes = f->rate_classes,
                           .layers = f->layers};
}

static void try_directory(formats_front *f, const uint8_t *bytes, size_t n, int raised) {
    const taper_limits limits = {.size = sizeof(taper_limits),
                                 .max_pixels = 1 << 20,
                                 .max_images = 1 << 16,
                                 .max_memory = 1 << 24};
    taper_error error = {0};
    formats_cursor in = formats_cursor_over(bytes, n);
    taper_status status = formats_directory_read(f, &in, raised, &limits, &error);
    must(status == error.status);
    if (status != TAPER_OK) return;
    check(f);
    formats_buffer out = formats_buffer_make(1 << 24);
    formats_front again = with_header_of(f);
    formats_directory_write(f, &out);
    formats_cursor back = formats_cursor_over(out.data, out.size);
    must(formats_directory_read(&again, &back, raised, &limits, NULL) == TAPER_OK);
    must(formats_cursor_left(&back) == 0);
    compare(f, &again);
    formats_front_free(&again);
    formats_buffer_free(&out);
}

static void try_strings(formats_front *f, const uint8_t *bytes, size_t n, int labels) {
    taper_error error = {0};
    formats_cursor in = formats_cursor_over(bytes, n);
    taper_status status =
        labels ? formats_labels_section_read(f, &in, &error) : formats_names_read(f, &in, &error);
    must(status == error.status);
    if (status != TAPER_OK) return;
    for (uint32_t i = 0; i < f->images; i++) {
        if (labels)
            must(f->label[i] >= -1 && f->label[i] < (int32_t)f->classes);
        else
            must(formats_name_is_legal(formats_front_name(f, i)));
    }
    formats_buffer out = formats_buffer_make(1 << 24);
    if (labels)
        formats_labels_section_write(f, &out);
    else
        formats_names_write(f, &out);
    must(out.size == in.at && (!out.size || !memcmp(out.data, bytes, out.size)));
    formats_buffer_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    if (n < 5) return 0;
    formats_front f = {.layout = bytes[0] % 3,
                       .tail = bytes[0] >> 1 & 1,
                       .images = bytes[1] + 256u * (bytes[2] & 3),
                       .groups = bytes[3],
                       .layers = bytes[4],
                       .rate_classes = 1u + (bytes[0] >> 4 & 1)};
    int kind = bytes[0] >> 2 & 3;
    if (kind >= 2)
        try_strings(&f, bytes + 5, n - 5, kind == 3);
    else
        try_directory(&f, bytes + 5, n - 5, bytes[0] >> 5 & 1);
    formats_front_free(&f);
    return 0;
}
