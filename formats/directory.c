/* directory.c -- see directory.h; SPEC.md, "Directory", "Names", "Labels".
 *
 * Numbers are varints unless a type is given.
 *   geometry  runs of equal images: number of runs; per run: images, width, height, kind (u8:
 *             channels, + 16 if 16 bits, + 32 with alpha, + 64 if indexed)
 *   groups    runs of equal groups: number of runs; per run: groups, images in each
 *   classes   if the header has rate classes: their number (u8); the class of each group (u8);
 *             the class of each image (u8)
 *   kinds     if the header has pixel layers: the kind of each layer (u8)
 *   layers    per layer, per rate class: passes in it; then, if the header's tail is 1: the first
 *             group whose last chunk is truncated
 *   chunks    chunks per checksum; per layer, per group: length in bytes; the checksums (u32)
 *   raised    if the header has raised planes: per group: number of units with raised planes; per
 *             such unit: the number of units between it and the one before, and its planes (u8) */
#include "formats/directory.h"
#include "formats/name_block.h"
#include <stdlib.h>
#include <string.h>

static taper_status no_memory(taper_error *error) {
    return formats_fail(error, TAPER_ERR_NOMEM, "no memory for the container's directory");
}

/* --- directory ------------------------------------------------------------------------- */

/* Parts of the kind of an image. */
enum { CHANNELS = 15, DEPTH_16 = 16, ALPHA = 32, INDEXED = 64 };

static int kind_is_legal(const formats_front *f, uint8_t kind) {
    const uint8_t channels = kind & CHANNELS, known = f->has_pixels
                                                          ? CHANNELS | DEPTH_16 | ALPHA | INDEXED
                                                          : CHANNELS | DEPTH_16;
    return (channels == 1 || channels == 3) && !(kind & ~known) &&
           !(kind & INDEXED && kind & DEPTH_16);
}

static taper_status read_geometry(formats_front *f, formats_cursor *in, const taper_limits *limits,
                                  taper_error *error) {
    TAPER_TRY(formats_front_take(f, f->images, sizeof *f->geometry, &f->geometry, error));
    uint64_t runs = formats_read_varint_max(in, f->images);
    uint32_t at = 0;
    for (uint64_t r = 0; r < runs; r++) {
        uint64_t count = formats_read_varint_max(in, f->images - at);
        uint64_t width = formats_read_varint_max(in, FORMATS_MAX_SIDE),
                 height = formats_read_varint_max(in, FORMATS_MAX_SIDE);
        uint8_t kind = formats_read_u8(in);
        TAPER_TRY(formats_cursor_check(in, "directory: geometry", error));
        if (!count || !width || !height || !kind_is_legal(f, kind))
            return formats_fail(error, TAPER_ERR_CORRUPT,
                                "directory: image %u has an illegal geometry", at + 1);
        if (width * height > limits->max_pixels)
            return formats_fail_fact(error, TAPER_ERR_LIMIT, TAPER_FACT_MAX_PIXELS, width * height,
                                     "image %u has %llu x %llu pixels, more than the limit of %llu",
                                     at + 1, (unsigned long long)width, (unsigned long long)height,
                                     (unsigned long long)limits->max_pixels);
        while (count--)
            f->geometry[at++] = (formats_geometry){(uint32_t)width,     (uint32_t)height,
                                                   kind & CHANNELS,     kind & DEPTH_16 ? 16 : 8,
                                                   (kind & ALPHA) != 0, (kind & INDEXED) != 0};
    }
    if (at != f->images)
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "directory: geometry of %u images, the header says %u", at, f->images);
    return formats_cursor_check(in, "directory: geometry", error);
}

static taper_status read_groups(formats_front *f, formats_cursor *in, taper_error *error) {
    TAPER_TRY(formats_front_take(f, f->groups, sizeof *f->group_first, &f->group_first, error));
    uint64_t runs = formats_read_varint_max(in, f->groups), first = 0;
    uint32_t at = 0;
    for (uint64_t r = 0; r < runs; r++) {
        uint64_t count = formats_read_varint_max(in, f->groups - at),
                 size = formats_read_varint_max(in, f->images);
        TAPER_TRY(formats_cursor_check(in, "directory: groups", error));
        if (!count || !size || count * size > f->images - first)
            return formats_fail(error, TAPER_ERR_CORRUPT,
                                "directory: groups hold more images than there are");
        for (; count--; first += size) f->group_first[at++] = (uint32_t)first;
    }
    if (at != f->groups || first != f->images)
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "directory: %u groups of %llu images, the header says %u of %u", at,
                            (unsigned long long)first, f->groups, f->images);
    f->group_first[f->groups] = f->images;
    return formats_cursor_check(in, "directory: groups", error);
}

/* n rate classes, one byte each. */
static taper_status read_rate_class_list(formats_front *f, uint32_t n, uint8_t **out,
                                         formats_cursor *in, taper_error *error) {
    const uint8_t *from = formats_read_bytes(in, n);
    TAPER_TRY(formats_cursor_check(in, "directory: rate classes", error));
    for (uint32_t i = 0; i < n; i++)
        if (from[i] >= f->rate_classes)
            return formats_fail(error, TAPER_ERR_CORRUPT, "directory: there is no rate class %u",
                                from[i]);
    TAPER_TRY(formats_front_take(f, n, 1, out, error));
    memcpy(*out, from, n);
    return TAPER_OK;
}

taper_status formats_rate_classes_read(formats_front *f, formats_cursor *in, taper_error *error) {
    if (f->rate_classes == 1) return TAPER_OK; /* the header has no such feature */
    f->rate_classes = formats_read_u8(in);
    TAPER_TRY(formats_cursor_check(in, "directory: rate classes", error));
    if (f->rate_classes >= 2 && f->rate_classes <= FORMATS_MAX_RATE_CLASSES) return TAPER_OK;
    return formats_fail(error, TAPER_ERR_CORRUPT, "directory: %u rate classes, 2 to %d are legal",
                        f->rate_classes, FORMATS_MAX_RATE_CLASSES);
}

/* The rate class of each group and of each image. */
static taper_status read_rate_class_lists(formats_front *f, formats_cursor *in,
                                          taper_error *error) {
    if (f->rate_classes == 1) return TAPER_OK;
    TAPER_TRY(read_rate_class_list(f, f->groups, &f->group_rate_class, in, error));
    TAPER_TRY(read_rate_class_list(f, f->images, &f->image_rate_class, in, error));
    TAPER_TRY(formats_front_charge(f, 8 * ((uint64_t)f->images + 1), error));
    taper_status status = formats_front_place_images(f);
    return status == TAPER_OK ? TAPER_OK
           : status == TAPER_ERR_NOMEM
               ? no_memory(error)
               : formats_fail(error, status,
                              "directory: the groups of a rate class do not hold "
                              "its images");
}

static int may_repeat(uint32_t kind) {
    return kind == FORMATS_LAYER_PASSES || kind == FORMATS_LAYER_MODEL;
}

/* The kinds of the layers, of which each but those of passes and of stages occurs once at most; the
 * exact one is the last, and one with a stage is neither the first nor the last. Layout image has
 * one layer of passes at most, and no stage. */
static taper_status read_layer_kinds(formats_front *f, formats_cursor *in, taper_error *error) {
    uint32_t number[FORMATS_LAYER_KINDS] = {0};
    if (!f->has_pixels) return TAPER_OK;
    TAPER_TRY(formats_front_take(f, f->layers, 1, &f->layer_kind, error));
    for (uint32_t l = 0; l < f->layers; l++) {
        const uint8_t kind = f->layer_kind[l] = formats_read_u8(in);
        if (in->status != TAPER_OK) break;
        const int is_last = l + 1 == f->layers;
        if (kind >= FORMATS_LAYER_KINDS || (number[kind]++ && !may_repeat(kind)) ||
            (kind == FORMATS_LAYER_EXACT && !is_last) ||
            (kind == FORMATS_LAYER_MODEL && (!f->has_stages || !l || is_last || f->layout == 1)))
            return formats_fail(error, TAPER_ERR_CORRUPT,
                                "directory: layer %u has the illegal kind %u", l, kind);
    }
    TAPER_TRY(formats_cursor_check(in, "directory: kinds of layers", error));
    if (f->layout != 1 || number[FORMATS_LAYER_PASSES] <= 1) return TAPER_OK;
    return formats_fail(error, TAPER_ERR_CORRUPT,
                        "container of layout image has %u layers of passes",
                        number[FORMATS_LAYER_PASSES]);
}

/* Is this a legal number of passes of a layer in a rate class? */
static int passes_are_legal(const formats_front *f, uint32_t layer, uint64_t passes) {
    if (formats_front_layer_kind(f, layer) != FORMATS_LAYER_PASSES) return !passes;
    return passes || f->rate_classes > 1;
}

taper_status formats_layers_read(formats_front *f, formats_cursor *in, taper_error *error) {
    size_t rate_classes = f->rate_classes, entries = rate_classes * f->layers;
    TAPER_TRY(read_layer_kinds(f, in, error));
    TAPER_TRY(formats_front_take(f, entries, sizeof *f->layer_end, &f->layer_end, error));
    for (size_t i = 0; i < entries; i++) {
        uint64_t passes = formats_read_varint_max(in, 1 << 24);
        uint64_t end = passes + (i < rate_classes ? 0 : f->layer_end[i - rate_classes]);
        if (in->status == TAPER_OK &&
            (!passes_are_legal(f, (uint32_t)(i / rate_classes), passes) || end > 1 << 24))
            return formats_fail(error, TAPER_ERR_CORRUPT,
                                "directory: layer %zu has an illegal number of passes",
                                i / rate_classes);
        f->layer_end[i] = (uint32_t)end;
    }
    if (f->tail) f->first_cut = (uint32_t)formats_read_varint_max(in, f->groups - 1);
    TAPER_TRY(formats_cursor_check(in, "directory: layers", error));
    f->chunks_per_checksum = (uint32_t)formats_read_varint_max(in, FORMATS_MAX_CHECKSUM_SPAN);
    if (in->status == TAPER_OK && !f->chunks_per_checksum)
        return formats_fail(error, TAPER_ERR_CORRUPT, "directory: checksums over no chunks");
    return formats_cursor_check(in, "directory: chunks", error);
}

/* Only group 0 has bytes of a layer with a stage of the model. */
static taper_status check_stages(const formats_front *f, taper_error *error) {
    const uint32_t first = f->first_group ? 0 : 1;
    for (uint32_t l = 0; f->has_stages && l < f->layers; l++) {
        const uint64_t *at = f->chunk_at + (uint64_t)l * f->groups;
        if (formats_front_layer_kind(f, l) == FORMATS_LAYER_MODEL && at[first] != at[f->groups])
            return formats_fail(error, TAPER_ERR_CORRUPT,
                                "directory: layer %u has a stage of the model in several groups",
                                l);
    }
    return TAPER_OK;
}

static taper_status read_chunks(formats_front *f, formats_cursor *in, taper_error *error) {
    uint64_t chunks = (uint64_t)f->layers * f->groups; /* <= 2^12 * 2^32 */
    if (chunks > formats_cursor_left(in))
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "directory ends before its %llu chunk lengths",
                            (unsigned long long)chunks);
    TAPER_TRY(formats_front_take(f, chunks, sizeof *f->chunk_at, &f->chunk_at, error));
    for (uint64_t c = 0; c < chunks; c++) { /* tested while it grows: the sum could overflow */
        f->chunk_at[c + 1] = f->chunk_at[c] + formats_read_varint_max(in, (uint64_t)1 << 40);
        if (f->chunk_at[c + 1] >= (uint64_t)1 << 62)
            return formats_fail(error, TAPER_ERR_CORRUPT,
                                "directory: the chunks are impossibly long");
    }
    TAPER_TRY(check_stages(f, error));
    uint64_t sums = formats_front_checksums(f);
    const uint8_t *from = formats_read_bytes(in, (size_t)(sums * 4));
    TAPER_TRY(formats_cursor_check(in, "directory: chunks", error));
    TAPER_TRY(formats_front_take(f, sums, sizeof *f->checksum, &f->checksum, error));
    for (uint64_t i = 0; i < sums; i++) f->checksum[i] = formats_get_u32le(from + 4 * i);
    return TAPER_OK;
}

/* The raised planes of a group, by ascending unit. to: NULL only checks and counts. */
static taper_status read_raised_group(uint32_t group, formats_cursor *in, formats_raised *to,
                                      uint32_t *n, taper_error *error) {
    uint64_t units = formats_read_varint_max(in, UINT16_MAX), unit = 0;
    for (uint64_t i = 0; i < units && in->status == TAPER_OK; i++) {
        unit += formats_read_varint_max(in, UINT16_MAX) + (i > 0);
        uint8_t planes = formats_read_u8(in);
        if (in->status == TAPER_OK &&
            (unit >= UINT16_MAX || !planes || planes > FORMATS_MOST_RAISED))
            return formats_fail(error, TAPER_ERR_CORRUPT,
                                "directory: group %u raises unit %llu by %u planes", group,
                                (unsigned long long)unit, planes);
        if (to) to[*n] = (formats_raised){(uint16_t)unit, planes};
        ++*n;
    }
    return formats_cursor_check(in, "directory: raised planes", error);
}

static taper_status read_raised(formats_front *f, formats_cursor *in, taper_error *error) {
    formats_cursor ahead = *in;
    uint32_t n = 0;
    for (uint32_t g = 0; g < f->groups;
         g++) /* each takes bytes of the section, which bound their number */
        TAPER_TRY(read_raised_group(g, &ahead, NULL, &n, error));
    TAPER_TRY(formats_front_take(f, f->groups, sizeof *f->raised_at, &f->raised_at, error));
    TAPER_TRY(formats_front_take(f, n, sizeof *f->raised, &f->raised, error));
    n = 0;
    for (uint32_t g = 0; g < f->groups; g++) {
        TAPER_TRY(read_raised_group(g, in, f->raised, &n, error));
        f->raised_at[g + 1] = n;
    }
    return TAPER_OK;
}

taper_status formats_directory_check(const formats_front *f, taper_error *error) {
    if (!f->images || !f->groups || f->groups > f->images || !f->layers ||
        f->layers > FORMATS_MAX_LAYERS)
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "container of %u images in %u groups and %u layers is not legal",
                            f->images, f->groups, f->layers);
    if ((f->layout == 1 && f->layers != 1 && !f->has_pixels) ||
        (f->layout && f->groups != f->images))
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "container of layout %s has %u groups and %u layers for %u images",
                            f->layout == 1 ? "image" : "gallery", f->groups, f->layers, f->images);
    return TAPER_OK;
}

taper_status formats_directory_read(formats_front *f, formats_cursor *in, int raised,
                                    const taper_limits *limits, taper_error *error) {
    TAPER_TRY(formats_directory_check(f, error));
    TAPER_TRY(read_geometry(f, in, limits, error));
    TAPER_TRY(read_groups(f, in, error));
    TAPER_TRY(formats_rate_classes_read(f, in, error));
    TAPER_TRY(read_rate_class_lists(f, in, error));
    TAPER_TRY(formats_layers_read(f, in, error));
    TAPER_TRY(read_chunks(f, in, error));
    return raised ? read_raised(f, in, error) : TAPER_OK;
}

/* The offset of the leaf's first chunk of each layer, from the start of the layer. */
static taper_status read_layer_offsets(formats_front *f, formats_cursor *in, taper_error *error) {
    TAPER_TRY(formats_front_take(f, f->layers, sizeof *f->layer_at, &f->layer_at, error));
    for (uint32_t l = 0; l < f->layers; l++)
        f->layer_at[l] = formats_read_varint_max(in, (uint64_t)1 << 62);
    return formats_cursor_check(in, "directory: offsets of layers", error);
}

taper_status formats_leaf_directory_read(formats_front *f, formats_cursor *in, int raised,
                                         const taper_limits *limits, taper_error *error) {
    TAPER_TRY(read_geometry(f, in, limits, error));
    TAPER_TRY(read_groups(f, in, error));
    TAPER_TRY(read_rate_class_lists(f, in, error));
    TAPER_TRY(read_layer_offsets(f, in, error));
    TAPER_TRY(read_chunks(f, in, error));
    return raised ? read_raised(f, in, error) : TAPER_OK;
}

static int same_geometry(formats_geometry a, formats_geometry b) {
    return a.width == b.width && a.height == b.height && a.channels == b.channels &&
           a.depth == b.depth && a.alpha == b.alpha && a.indexed == b.indexed;
}

static void write_geometry(const formats_front *f, formats_buffer *out) {
    uint64_t runs = 0;
    for (uint32_t i = 0; i < f->images; i++)
        runs += !i || !same_geometry(f->geometry[i], f->geometry[i - 1]);
    formats_write_varint(out, runs);
    for (uint32_t i = 0, end; i < f->images; i = end) {
        formats_geometry g = f->geometry[i];
        for (end = i + 1; end < f->images && same_geometry(g, f->geometry[end]);) end++;
        formats_write_varint(out, end - i);
        formats_write_varint(out, g.width);
        formats_write_varint(out, g.height);
        formats_write_u8(out, (uint8_t)(g.channels + (g.depth == 16 ? DEPTH_16 : 0) +
                                        (g.alpha ? ALPHA : 0) + (g.indexed ? INDEXED : 0)));
    }
}

static void write_groups(const formats_front *f, formats_buffer *out) {
    const uint32_t *first = f->group_first;
    uint64_t runs = 0;
    for (uint32_t g = 0; g < f->groups; g++)
        runs += !g || first[g + 1] - first[g] != first[g] - first[g - 1];
    formats_write_varint(out, runs);
    for (uint32_t g = 0, end; g < f->groups; g = end) {
        uint32_t size = first[g + 1] - first[g];
        for (end = g + 1; end < f->groups && first[end + 1] - first[end] == size;) end++;
        formats_write_varint(out, end - g);
        formats_write_varint(out, size);
    }
}

static void write_raised(const formats_front *f, formats_buffer *out) {
    for (uint32_t g = 0; g < f->groups; g++) {
        uint32_t n, next = 0;
        const formats_raised *raised = formats_front_raised(f, g, &n);
        formats_write_varint(out, n);
        for (uint32_t i = 0; i < n; i++) {
            formats_write_varint(out, raised[i].unit - next);
            formats_write_u8(out, raised[i].planes);
            next = raised[i].unit + 1u;
        }
    }
}

void formats_layers_write(const formats_front *f, formats_buffer *out) {
    if (f->layer_kind) formats_write_bytes(out, f->layer_kind, f->layers);
    for (size_t i = 0; i < (size_t)f->rate_classes * f->layers; i++)
        formats_write_varint(
            out, f->layer_end[i] - (i < f->rate_classes ? 0 : f->layer_end[i - f->rate_classes]));
    if (f->tail) formats_write_varint(out, f->first_cut);
    formats_write_varint(out, f->chunks_per_checksum);
}

static void write_rate_class_lists(const formats_front *f, formats_buffer *out) {
    if (f->rate_classes == 1) return;
    formats_write_bytes(out, f->group_rate_class, f->groups);
    formats_write_bytes(out, f->image_rate_class, f->images);
}

/* The lengths of the chunks, their checksums, and raised planes. */
static void write_chunks(const formats_front *f, formats_buffer *out) {
    for (uint64_t c = 0; c < (uint64_t)f->layers * f->groups; c++)
        formats_write_varint(out, f->chunk_at[c + 1] - f->chunk_at[c]);
    for (uint64_t i = 0; i < formats_front_checksums(f); i++)
        formats_write_u32le(out, f->checksum[i]);
    if (f->raised_at) write_raised(f, out);
}

void formats_directory_write(const formats_front *f, formats_buffer *out) {
    write_geometry(f, out);
    write_groups(f, out);
    if (f->rate_classes > 1) formats_write_u8(out, (uint8_t)f->rate_classes);
    write_rate_class_lists(f, out);
    formats_layers_write(f, out);
    write_chunks(f, out);
}

void formats_leaf_directory_write(const formats_front *f, formats_buffer *out) {
    write_geometry(f, out);
    write_groups(f, out);
    write_rate_class_lists(f, out);
    for (uint32_t l = 0; l < f->layers; l++) formats_write_varint(out, f->layer_at[l]);
    write_chunks(f, out);
}

/* --- names ----------------------------------------------------------------------------- */

/* Take n NUL-terminated strings from the cursor: where each begins, in an array, and what the block
 * holds. */
static taper_status find_strings(formats_front *f, formats_cursor *in, uint32_t n, uint32_t **at,
                                 formats_name_block *block, taper_error *error) {
    TAPER_TRY(formats_front_take(f, n, sizeof **at, at, error));
    *block = formats_name_block_find(in->bytes + in->at, formats_cursor_left(in), n, *at);
    if (block->found < n)
        return formats_fail(error, TAPER_ERR_CORRUPT, "name %u of the container is not ended",
                            block->found);
    formats_read_bytes(in, block->used);
    return TAPER_OK;
}

/* The same, with a copy of the strings. */
static taper_status read_strings(formats_front *f, formats_cursor *in, uint32_t n, char **copy,
                                 uint32_t **at, int *are_plain, taper_error *error) {
    formats_name_block block;
    const uint8_t *from = in->bytes + in->at;
    TAPER_TRY(find_strings(f, in, n, at, &block, error));
    TAPER_TRY(formats_front_take(f, block.used, 1, copy, error));
    memcpy(*copy, from, block.used);
    *are_plain = block.are_plain;
    return TAPER_OK;
}

static taper_status check_names(const formats_front *f, taper_error *error) {
    for (uint32_t i = 0; i < f->images; i++)
        if (!formats_name_is_legal(f->names + f->name_at[i]))
            return formats_fail(error, TAPER_ERR_CORRUPT,
                                "the name of image %u is not a plain relative path", i + 1);
    return TAPER_OK;
}

taper_status formats_names_read(formats_front *f, formats_cursor *in, taper_error *error) {
    int are_plain;
    TAPER_TRY(read_strings(f, in, f->images, &f->names, &f->name_at, &are_plain, error));
    return are_plain ? TAPER_OK : check_names(f, error);
}

taper_status formats_names_view(formats_front *f, formats_cursor *in, taper_error *error) {
    formats_name_block block;
    const uint8_t *from = in->bytes + in->at;
    TAPER_TRY(find_strings(f, in, f->images, &f->name_at, &block, error));
    f->names = (char *)from;
    return block.are_plain ? TAPER_OK : check_names(f, error);
}

void formats_names_write(const formats_front *f, formats_buffer *out) {
    for (uint32_t i = 0; i < f->images; i++)
        formats_write_bytes(out, f->names + f->name_at[i], strlen(f->names + f->name_at[i]) + 1);
}

/* --- labels ---------------------------------------------------------------------------- */

/* Read labels of one byte each. Returns 0, and reads nothing, if some may have more, or are out of
 * range. */
static int read_short_labels(formats_front *f, formats_cursor *in) {
    const uint8_t *from = in->bytes + in->at;
    uint8_t most = 0;
    if (f->classes > 0x7F || formats_cursor_left(in) < f->images) return 0;
    for (uint32_t i = 0; i < f->images; i++) most = from[i] > most ? from[i] : most;
    if (most > f->classes) return 0;
    for (uint32_t i = 0; i < f->images; i++) f->label[i] = (int32_t)from[i] - 1;
    formats_read_bytes(in, f->images);
    return 1;
}

taper_status formats_classes_read(formats_front *f, formats_cursor *in, taper_error *error) {
    f->classes = (uint32_t)formats_read_varint_max(in, FORMATS_MAX_CLASSES);
    TAPER_TRY(formats_cursor_check(in, "labels", error));
    if (f->classes > formats_cursor_left(in))
        return formats_fail(error, TAPER_ERR_CORRUPT, "labels end before their %u class names",
                            f->classes);
    int are_plain; /* any text is a class */
    return read_strings(f, in, f->classes, &f->class_names, &f->class_name_at, &are_plain, error);
}

taper_status formats_labels_read(formats_front *f, formats_cursor *in, taper_error *error) {
    TAPER_TRY(formats_front_take(f, f->images, sizeof *f->label, &f->label, error));
    if (read_short_labels(f, in)) return TAPER_OK;
    for (uint32_t i = 0; i < f->images; i++)
        f->label[i] = (int32_t)formats_read_varint_max(in, f->classes) - 1;
    return formats_cursor_check(in, "labels", error);
}

taper_status formats_labels_section_read(formats_front *f, formats_cursor *in, taper_error *error) {
    TAPER_TRY(formats_classes_read(f, in, error));
    return formats_labels_read(f, in, error);
}

void formats_classes_write(const formats_front *f, formats_buffer *out) {
    formats_write_varint(out, f->classes);
    for (uint32_t k = 0; k < f->classes; k++) {
        const char *name = formats_front_class_name(f, k);
        formats_write_bytes(out, name ? name : "", (name ? strlen(name) : 0) + 1);
    }
}

void formats_labels_write(const formats_front *f, formats_buffer *out) {
    for (uint32_t i = 0; i < f->images; i++) formats_write_varint(out, (uint64_t)(f->label[i] + 1));
}

void formats_labels_section_write(const formats_front *f, formats_buffer *out) {
    formats_classes_write(f, out);
    formats_labels_write(f, out);
}

/* --- codes for search ------------------------------------------------------------------ */

taper_status formats_search_codes_read(formats_front *f, formats_cursor *in, taper_error *error) {
    f->search_model_id = formats_read_u64le(in);
    f->search_bits = formats_read_u32le(in);
    TAPER_TRY(formats_cursor_check(in, "search codes", error));
    if (f->search_bits < 1 || f->search_bits > FORMATS_MAX_SEARCH_BITS)
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "the codes for search have %u bits; 1 to %d are legal", f->search_bits,
                            (int)FORMATS_MAX_SEARCH_BITS);
    const size_t each = formats_front_search_bytes(f);
    if (formats_cursor_left(in) / each < f->images)
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "the codes for search end before those of %u images", f->images);
    TAPER_TRY(formats_front_take(f, f->images, each, &f->search_codes, error));
    memcpy(f->search_codes, formats_read_bytes(in, each * f->images), each * f->images);
    return TAPER_OK;
}

void formats_search_codes_write(const formats_front *f, formats_buffer *out) {
    formats_write_u64le(out, f->search_model_id);
    formats_write_u32le(out, f->search_bits);
    formats_write_bytes(out, f->search_codes, formats_front_search_bytes(f) * f->images);
}
