/* small_set.c -- see small_set.h. Files are decoded ahead on several threads, and reduced in order.
 */
#include "cli/copies/small_set.h"
#include "cli/common/progress.h"
#include "cli/common/readahead.h"
#include "cli/copies/candidates.h"
#include "formats/bytes.h"
#include "formats/imageset/imageset.h"
#include <stdlib.h>

enum {
    LEAST = 2 * CLI_GREY_SIDE, /* pixels that the shorter side of a small picture keeps */
    /* What an image takes while it is read, and then while it is compared (groups.c). */
    EACH = CLI_GREY_PIXELS + 64 + 2 * sizeof(cli_descriptor)
};

/* --- memory --- */

static int take_memory(cli_small_set *out, const cli_code_set *set) {
    const size_t n = cli_code_set_images(set);
    const taper_limits limits = cli_limits(set->common);
    const uint64_t bytes = (uint64_t)n * EACH;
    taper_error error = {0};
    *out = (cli_small_set){.n = n};
    if (bytes > limits.max_memory) {
        const taper_status status = formats_fail_fact(
            &error, TAPER_ERR_LIMIT, TAPER_FACT_MAX_MEMORY, formats_memory_needed(&limits, bytes),
            "comparing %zu images takes %llu MiB", n, (unsigned long long)(bytes >> 20) + 1);
        return cli_fail(set->verb, NULL, status, &error);
    }
    out->grey = malloc((n + 1) * sizeof *out->grey);
    out->width = calloc(n + 1, sizeof *out->width);
    out->height = calloc(n + 1, sizeof *out->height);
    out->digest = calloc(n + 1, sizeof *out->digest);
    if (!out->grey || !out->width || !out->height || !out->digest)
        return cli_fail(set->verb, NULL, TAPER_ERR_NOMEM, NULL);
    out->held = cli_memory_hold((uint64_t)n * (CLI_GREY_PIXELS + 16));
    return CLI_DONE;
}

void cli_small_set_free(cli_small_set *s) {
    free(s->grey), free(s->width), free(s->height), free(s->digest);
    cli_memory_release(s->held);
    *s = (cli_small_set){.n = 0};
}

/* --- images --- */

/* Take image i, which is freed. size: of the whole image, where this one is smaller. */
static taper_status take(cli_small_set *out, size_t i, taper_image *image,
                         const taper_image *size) {
    const uint64_t key[] = {formats_digest_image(image),
                            (uint64_t)size->width << 32 | size->height};
    const uint64_t digest = formats_digest_bytes(key, sizeof key);
    const uint32_t width = size->width, height = size->height;
    const taper_status status = cli_grey_make(image, out->grey[i]);
    formats_image_free(image);
    if (status != TAPER_OK) return status;
    out->digest[i] = digest, out->width[i] = width, out->height[i] = height;
    out->read++;
    return TAPER_OK;
}

static int read_images(cli_small_set *out, cli_code_set *set, cli_progress *progress) {
    cli_readahead *ahead;
    taper_error error = {0};
    const taper_status opened =
        cli_readahead_new(&ahead, set->set, cli_threads(set->common), 0, &error);
    if (opened != TAPER_OK) return cli_fail(set->verb, NULL, opened, &error);
    int code = CLI_DONE;
    for (size_t i = 0; i < out->n && code == CLI_DONE; i++) {
        taper_image image;
        error = (taper_error){0};
        taper_status status = cli_readahead_next(ahead, &image, NULL, &error);
        if (status == TAPER_OK) formats_image_apply_alpha(&image, set->alpha);
        if (status == TAPER_OK) status = take(out, i, &image, &image);
        if (status != TAPER_OK)
            code =
                cli_left_out_image(&set->left, formats_imageset_path(set->set, i), status, &error);
        cli_progress_add(progress, 1);
    }
    cli_readahead_free(ahead);
    if (code == CLI_DONE) cli_left_out_report(&set->left, set->set);
    return code;
}

/* --- containers --- */

/* Report an image of a container that cannot be shown. Of a damaged group, which may have thousands
 * of images, only the first. */
static int leave_out(cli_code_set *set, size_t i, taper_status status, const taper_error *error) {
    char name[CLI_IMAGE_NAME];
    cli_code_set_name(set, i, name);
    if (status == TAPER_ERR_LIMIT || formats_is_system_error(status))
        return cli_fail(set->verb, name, status, error);
    if (status == TAPER_ERR_CORRUPT && set->damaged++)
        set->left.failed++;
    else
        cli_left_out_image(&set->left, name, status, error);
    return CLI_DONE;
}

static int tell_empty(cli_code_set *set, const cli_small_set *out) {
    cli_left_out_report_of(&set->left, out->n);
    if (!set->empty) return CLI_DONE;
    cli_error(set->verb, cli_code_set_path(set),
              "the cut holds nothing of %zu of %zu images: they are left out", set->empty, out->n);
    if (!set->left.failed) set->left.code = CLI_CORRUPT;
    set->left.failed += set->empty;
    return CLI_DONE;
}

static int read_containers(cli_small_set *out, cli_code_set *set, const taper_model *model,
                           cli_progress *progress) {
    int code = cli_container_set_show(set->containers, model);
    for (size_t i = 0; i < out->n && code == CLI_DONE; i++) {
        taper_image image, size;
        taper_error error = {0};
        bool has_data = true;
        taper_status status =
            cli_container_set_small(set->containers, i, LEAST, &image, &size, &has_data, &error);
        if (status == TAPER_OK && !has_data) {
            formats_image_free(&image);
            set->empty++;
        } else if (status == TAPER_OK) {
            status = take(out, i, &image, &size);
        }
        if (status != TAPER_OK) code = leave_out(set, i, status, &error);
        cli_progress_add(progress, 1);
    }
    return code == CLI_DONE ? tell_empty(set, out) : code;
}

int cli_small_set_read(cli_small_set *out, cli_code_set *set, const taper_model *model) {
    cli_progress progress;
    int code = take_memory(out, set);
    if (code != CLI_DONE) return code;
    cli_progress_start(&progress, set->common, "reading", out->n, "images");
    code = set->containers ? read_containers(out, set, model, &progress)
                           : read_images(out, set, &progress);
    cli_progress_end(&progress);
    if (code != CLI_DONE || out->read || !out->n) return code;
    cli_error(set->verb, NULL, "no input could be used: nothing was written");
    return set->left.code;
}

/* --- equal images --- */

typedef struct equal_key {
    uint64_t digest;
    uint32_t image;
} equal_key;

static int by_digest(const void *a, const void *b) {
    const equal_key *x = a, *y = b;
    if (x->digest != y->digest) return x->digest < y->digest ? -1 : 1;
    return (x->image > y->image) - (x->image < y->image);
}

taper_status cli_small_set_find_equal(const cli_small_set *set, uint32_t *first) {
    size_t n = 0;
    equal_key *key = malloc((set->n + 1) * sizeof *key);
    if (!key) return TAPER_ERR_NOMEM;
    for (size_t i = 0; i < set->n; i++) {
        first[i] = UINT32_MAX;
        if (set->width[i]) key[n++] = (equal_key){set->digest[i], (uint32_t)i};
    }
    qsort(key, n, sizeof *key, by_digest);
    for (size_t i = 0, from = 0; i < n; i++) {
        if (key[i].digest != key[from].digest) from = i;
        first[key[i].image] = key[from].image;
    }
    free(key);
    return TAPER_OK;
}
