/* planned.c -- see planned.h. */
#include "cli/planned.h"
#include "cli/decoding.h"
#include "cli/picture_names.h"
#include "codec/decoder/container_file.h"
#include "formats/imageset/image_names.h"
#include <stdlib.h>
#include <string.h>

enum {
    MOST_OF_FILE = 16, /* images: more are decoded by several threads at once */
    MOST_RANGES = 4096,
    GAP = 8 << 10,
    /* Metadata of all images are read as a whole, up to so many bytes. */
    MOST_METADATA = 8 << 20,
    MOST_REMOTE_METADATA = 1 << 20,
    MOST_DATA = 64 << 20 /* of a file: more is better read as it is decoded */
};

/* --- ranges --- */

typedef struct ranges {
    taper_range item[MOST_RANGES];
    size_t count;
} ranges;

static int compare_ranges(const void *a, const void *b) {
    const taper_range *x = a, *y = b;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static bool is_remote(const cli_planned *p) { return p->container.stream.remote != NULL; }

static bool has_front(const cli_planned *p) { return taper_decoder_container(p->decoder) != NULL; }

/* Small images share a checksum with their neighbours, of about 4 KB together. These are supplied,
 * too, so that damage is found: as many bytes around the data of an image as its layer may have of
 * them. */
static void widen(const cli_planned *p, taper_range *r) {
    enum { SHARED = 4096 };
    const taper_container_info *info = &p->container.info;
    if (!info->images || info->layout == TAPER_LAYOUT_SET || r->offset < info->front_bytes ||
        r->size >= SHARED)
        return;
    const double chunks = (double)info->groups * info->layers,
                 data = (double)(info->file_bytes - info->front_bytes) + 1,
                 around = 2 * (double)r->size * (1 + SHARED * chunks / data);
    const uint64_t more = around < SHARED ? (uint64_t)around : SHARED,
                   before = r->offset - info->front_bytes;
    const uint64_t less = before < more ? before : more;
    r->offset -= less, r->size += less + more;
}

/* Read all of them, and supply them to the decoder. */
static taper_status supply(cli_planned *p, ranges *r, taper_error *error) {
    const taper_source *source = &p->container.source;
    for (size_t k = 0; k < r->count; k++) widen(p, &r->item[k]);
    qsort(r->item, r->count, sizeof *r->item, compare_ranges);
    if (is_remote(p)) remote_prefetch(p->container.stream.remote, r->item, r->count, GAP);
    taper_status status = TAPER_OK;
    for (size_t k = 0; k < r->count && status == TAPER_OK; k++) {
        const taper_range at = r->item[k];
        const uint64_t end = source->size < p->container.info.file_bytes || !has_front(p)
                                 ? source->size
                                 : p->container.info.file_bytes;
        if (at.offset > end) break; /* a cut file */
        const uint64_t left = end - at.offset;
        const size_t n = (size_t)(at.size < left ? at.size : left);
        void *bytes = malloc(n + 1);
        p->bytes += n;
        status = bytes ? formats_source_read(source, at.offset, bytes, n, error)
                       : formats_fail(error, TAPER_ERR_NOMEM, "no memory for %zu bytes", n);
        if (status == TAPER_OK)
            status = taper_decoder_supply(p->decoder, at.offset, bytes, n, error);
        free(bytes);
    }
    return status;
}

/* --- opening --- */

/* Supply the first bytes, and what the front matter lacks. */
static taper_status supply_front(cli_planned *p, ranges *r, taper_error *error) {
    enum { FIRST = 16 << 10 };
    const uint64_t size = p->container.source.size;
    *r = (ranges){.item = {{0, size < FIRST ? size : FIRST}}, .count = 1};
    TAPER_TRY(supply(p, r, error));
    while (!has_front(p)) {
        TAPER_TRY(
            taper_decoder_plan(p->decoder, 0, UINT64_MAX, r->item, MOST_RANGES, &r->count, error));
        if (!r->count || r->count > MOST_RANGES || r->item[0].offset >= size)
            return TAPER_ERR_TRUNCATED;
        TAPER_TRY(supply(p, r, error));
    }
    return TAPER_OK;
}

static bool is_number(const char *word, uint64_t images, uint64_t *image) {
    int64_t n;
    if (!cli_parse_int(word, &n) || n < 1 || (uint64_t)n > images) return false;
    *image = (uint64_t)n - 1;
    return true;
}

/* Find the image of a name; what that needs of the front matter is supplied. */
static bool find_name(cli_planned *p, ranges *r, const char *word, uint64_t *image) {
    for (int round = 0; round < 64; round++) {
        if (taper_decoder_plan_name(p->decoder, word, 1, r->item, MOST_RANGES, &r->count, image,
                                    NULL) ||
            r->count > MOST_RANGES)
            return false;
        if (*image != UINT64_MAX) return true;
        if (!r->count || supply(p, r, NULL) != TAPER_OK) return false;
    }
    return false;
}

/* A range of numbers, 7-9. */
static bool is_range(const char *word, uint64_t images, uint64_t *first, uint64_t *last) {
    char text[48];
    const char *dash = strchr(word, '-');
    if (!dash || (size_t)(dash - word) >= sizeof text) return false;
    memcpy(text, word, (size_t)(dash - word));
    text[dash - word] = 0;
    return is_number(text, images, first) && is_number(dash + 1, images, last) && *first <= *last;
}

static const char *name_of(const cli_planned *p, uint64_t i) {
    taper_image_info info = {.size = sizeof info};
    return taper_container_get_image(taper_decoder_container(p->decoder), i, &info, NULL) ==
                   TAPER_OK
               ? info.name
               : NULL;
}

/* As find_name. *is_sure: of a file, no other image has the name; behind a URL the first
 * counts. */
static bool find_own_name(cli_planned *p, ranges *r, const char *word, uint64_t *image,
                          bool *is_sure) {
    codec_in_parts parts;
    codec_in_parts_get(taper_decoder_container(p->decoder), &parts);
    *is_sure = is_remote(p) || !parts.has_further_names;
    if (!*is_sure || !find_name(p, r, word, image)) return false;
    const char *next = name_of(p, *image + 1); /* a name of several images is in one leaf */
    *is_sure = is_remote(p) || (parts.names_ascend && !(next && !strcmp(next, word)));
    return true;
}

static void add_images(cli_planned *p, uint64_t first, uint64_t last) {
    for (; first <= last; first++) p->image[p->count++] = first;
}

/* Add the images of a word; false: it is another one than a number, a whole name or a range. */
static bool choose_word(cli_planned *p, ranges *r, const char *word, size_t most) {
    const uint64_t images = p->container.info.images;
    uint64_t first, last;
    bool is_sure = true;
    if (p->count == most) return false;
    if (is_number(word, images, &first) || find_own_name(p, r, word, &first, &is_sure))
        last = first;
    else if (!is_range(word, images, &first, &last) || last - first >= most - p->count)
        return false;
    if (is_sure) add_images(p, first, last);
    return is_sure;
}

/* A name may have commas, too. */
static bool is_name_with_commas(cli_planned *p, ranges *r, const char *words) {
    uint64_t image;
    bool is_sure;
    return strchr(words, ',') && !is_remote(p) &&
           (find_own_name(p, r, words, &image, &is_sure) || !is_sure);
}

static int ascending(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* List what the words select. False: others than these, or too many. */
static bool choose(cli_planned *p, ranges *r, const cli_strings *words) {
    const size_t most = is_remote(p) ? CLI_PLANNED_MOST : MOST_OF_FILE;
    bool is_fine = true;
    for (size_t k = 0; k < words->count && is_fine; k++) {
        char *list = strdup(words->item[k]), *rest = list;
        is_fine = list != NULL && !is_name_with_commas(p, r, list);
        while (is_fine && rest) {
            char *word = rest, *comma = strchr(rest, ',');
            rest = comma ? comma + 1 : NULL;
            if (comma) *comma = 0;
            is_fine = choose_word(p, r, word, most);
        }
        free(list);
    }
    qsort(p->image, p->count, sizeof *p->image, ascending);
    size_t n = 0;
    for (size_t k = 0; k < p->count; k++)
        if (!n || p->image[k] != p->image[n - 1]) p->image[n++] = p->image[k];
    p->count = n;
    return is_fine && n;
}

/* Supply what these images need: rounds of all of them, as leaves come before data. */
static taper_status supply_images(cli_planned *p, ranges *r, uint64_t cut, taper_error *error) {
    const taper_plan_options wanted = {.size = sizeof wanted,
                                       .image = p->image,
                                       .n = p->count,
                                       .cut = cut ? cut : 1}; /* 0 is the whole file there */
    for (;;) {
        TAPER_TRY(
            taper_decoder_plan_images(p->decoder, &wanted, r->item, MOST_RANGES, &r->count, error));
        if (r->count > MOST_RANGES) r->count = MOST_RANGES; /* the rest in the next round */
        while (r->count && r->item[r->count - 1].offset >= p->container.source.size) r->count--;
        if (!r->count) return TAPER_OK;
        TAPER_TRY(supply(p, r, error));
    }
}

/* --- names of files --- */

static bool begins(const char *name, const char *base, size_t n) {
    return name && !strncmp(name, base, n) && name[n] == '.';
}

/* True if no other image has this name with another suffix, or without one, in a container whose
 * names ascend. Such names lie side by side: what is read shows those beside image i. */
static bool is_alone(cli_planned *p, ranges *r, uint64_t i, const char *name) {
    uint64_t found;
    const size_t room = strlen(name) + 2;
    char *base = strdup(name), *probe = malloc(room);
    bool is_alone = base && probe;
    for (size_t n; is_alone && base[n = formats_image_stem(base)];) base[n] = 0;
    const size_t n = is_alone ? strlen(base) : 0;
    is_alone = is_alone && name[n] && !find_name(p, r, base, &found);
    static const char ends[] = "./"; /* '/' follows '.' */
    for (int k = 0; k < 2 && is_alone; k++) {
        snprintf(probe, room, "%s%c", base, ends[k]);
        is_alone = !find_name(p, r, probe, &found);
    }
    is_alone = is_alone && !(i && begins(name_of(p, i - 1), base, n)) &&
               !begins(name_of(p, i + 1), base, n);
    free(base), free(probe);
    return is_alone;
}

/* True if the name of the image's file does not depend on other images. */
static bool is_named_alone(cli_planned *p, ranges *r, uint64_t i, const codec_in_parts *parts,
                           cli_picture_format format) {
    const char *own = name_of(p, i);
    uint64_t first;
    if (!own || strchr(own, '\\')) return false;
    char *name = strdup(own);
    const bool is_fine =
        name && (cli_picture_names_keep(format, name)
                     ? find_name(p, r, name, &first) && first == i /* of equal names the first */
                     : parts->names_ascend && is_alone(p, r, i, name));
    free(name);
    return is_fine;
}

static bool are_named_alone(cli_planned *p, ranges *r, const cli_decode_request *q) {
    cli_picture_format format;
    codec_in_parts parts;
    codec_in_parts_get(taper_decoder_container(p->decoder), &parts);
    bool is_fine = !parts.has_further_names;
    if (is_remote(p) || cli_picture_goes_to_file(q, &format)) return true;
    if (q->class_folders) return false;
    for (size_t k = 0; k < p->count && is_fine && p->container.info.has_names; k++)
        is_fine = is_named_alone(p, r, p->image[k], &parts, format);
    return is_fine;
}

/* --- opening --- */

/* Read the metadata of images, unless no file gets any. False: all of the container is to be
 * read for it. */
static bool read_metadata(cli_planned *p, const cli_decode_request *q) {
    cli_picture_format format;
    codec_in_parts parts;
    codec_in_parts_get(taper_decoder_container(p->decoder), &parts);
    (void)cli_picture_goes_to_file(q, &format);
    if (!parts.metadata_bytes || format >= CLI_PICTURE_IDX) return true;
    if (parts.metadata_bytes <= (is_remote(p) ? MOST_REMOTE_METADATA : MOST_METADATA) &&
        codec_in_parts_read_metadata(p->decoder, &p->container.source, NULL) == TAPER_OK) {
        p->bytes += parts.metadata_bytes;
        return true;
    }
    if (is_remote(p))
        cli_warning("decode", q->input,
                    "images are written without metadata: that of all images is %llu bytes",
                    (unsigned long long)parts.metadata_bytes);
    return is_remote(p);
}

/* A file of which the front matter is in pages; or a URL, of which that is not known yet. */
static bool may_be_planned(const char *path) {
    uint8_t head[CODEC_IN_PARTS_HEAD];
    size_t got;
    if (remote_is_url(path)) return true;
    return cli_kind_of(path) == CLI_IS_CONTAINER &&
           cli_peek(path, head, sizeof head, &got, NULL) == TAPER_OK && got == sizeof head &&
           codec_in_parts_begins(head);
}

static bool open_planned(cli_planned *p, ranges *r, const cli_decode_request *q) {
    remote_stats stats = {0};
    codec_in_parts parts;
    cli_container *c = &p->container;
    const taper_open_options how = {.size = sizeof how, .model = q->model, .limits = &q->limits};
    if (cli_stream_try(&c->stream, q->input, NULL) != TAPER_OK) return false;
    c->source = c->stream.source;
    if (is_remote(p)) remote_get_stats(c->stream.remote, &stats);
    if (stats.is_whole || taper_decoder_new_streaming(&p->decoder, &how, NULL) != TAPER_OK ||
        taper_decoder_set_scale(p->decoder, q->passes_scale, NULL) != TAPER_OK ||
        supply_front(p, r, NULL) != TAPER_OK)
        return false;
    const taper_container *open = taper_decoder_container(p->decoder);
    c->info.size = sizeof c->info;
    if (!codec_in_parts_get(open, &parts) || taper_container_get_info(open, &c->info, NULL) ||
        !choose(p, r, &q->images))
        return false;
    c->open = (taper_container *)open; /* it is not closed */
    return supply_images(p, r, 1, NULL) == TAPER_OK && are_named_alone(p, r, q) &&
           read_metadata(p, q) && taper_container_get_info(open, &c->info, NULL) == TAPER_OK;
}

bool cli_planned_open(cli_planned *p, const cli_decode_request *q) {
    *p = (cli_planned){.decoder = NULL};
    if (!q->images.count || !may_be_planned(q->input)) return false;
    ranges *r = malloc(sizeof *r);
    const bool is_open = r && open_planned(p, r, q);
    free(r);
    if (!is_open) cli_planned_close(p);
    return is_open;
}

/* Of a file, less than the front matter is refused elsewhere; and with layout `image` a cut one is
 * described image by image. */
bool cli_planned_takes(cli_planned *p, uint64_t cut) {
    const taper_container_info *info = &p->container.info;
    const uint64_t size = p->container.source.size, end = cut && cut < size ? cut : size;
    if (is_remote(p)) return true;
    if (end < info->front_bytes || (info->layout == TAPER_LAYOUT_IMAGE && end < info->file_bytes))
        return false;
    const taper_plan_options wanted = {
        .size = sizeof wanted, .image = p->image, .n = p->count, .cut = end};
    taper_range *range = malloc(MOST_RANGES * sizeof *range);
    size_t count = SIZE_MAX;
    uint64_t bytes = 0;
    if (!range || taper_decoder_plan_images(p->decoder, &wanted, range, MOST_RANGES, &count, NULL))
        count = SIZE_MAX;
    for (size_t k = 0; k < count && count <= MOST_RANGES; k++) bytes += range[k].size;
    free(range);
    return count <= MOST_RANGES && bytes <= MOST_DATA;
}

int cli_planned_fetch(cli_planned *p, const cli_decode_request *q, uint64_t cut) {
    taper_error error = {0};
    ranges *r = malloc(sizeof *r);
    const taper_status status = r ? supply_images(p, r, cut, &error) : TAPER_ERR_NOMEM;
    free(r);
    if (status != TAPER_OK) return cli_fail("decode", q->input, status, &error);
    cli_detail(q->common, 1, "decode", "%s: %llu bytes read for %zu of %llu images", q->input,
               (unsigned long long)p->bytes, p->count,
               (unsigned long long)p->container.info.images);
    return CLI_DONE;
}

void cli_planned_close(cli_planned *p) {
    p->container.open = NULL;
    cli_container_close(&p->container);
    taper_decoder_free(p->decoder);
    *p = (cli_planned){.decoder = NULL};
}
