/* decoding.c -- see decoding.h. */
#include "cli/decoding.h"
#include "cli/chosen_images.h"
#include "cli/picture_files.h"
#include "cli/picture_metadata.h"
#include "cli/reach.h"
#include "formats/file.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* --- which images --- */

static int choose_images(cli_picture_plan *plan, const cli_decode_request *q,
                         const taper_container *container) {
    cli_chosen chosen;
    if (q->chosen) {
        plan->count = q->n_chosen;
        plan->image = malloc((plan->count + 1) * sizeof *plan->image);
        if (!plan->image) return cli_fail(q->verb->name, q->input, TAPER_ERR_NOMEM, NULL);
        memcpy(plan->image, q->chosen, q->n_chosen * sizeof *plan->image);
        return CLI_DONE;
    }
    const int code = cli_chosen_make(&chosen, q->verb->name, q->input, container, q->images.item,
                                     q->images.count);
    plan->image = chosen.image, plan->count = chosen.count;
    return code;
}

uint64_t cli_picture_plan_find(const cli_picture_plan *plan, uint64_t image) {
    if (!plan->image) return image;
    uint64_t low = 0, high = plan->count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (plan->image[middle] < image)
            low = middle + 1;
        else
            high = middle;
    }
    return low < plan->count && plan->image[low] == image ? low : UINT64_MAX;
}

/* --- one file, or a folder --- */

static int refuse_one_file(const cli_decode_request *q, uint64_t count) {
    /* the images of `extract` are its operands */
    const char *how = !strcmp(q->verb->name, "decode") ? " with --image" : "";
    if (!strcmp(q->output, "-"))
        cli_error("decode", NULL,
                  "only one image goes to standard output, and there are %llu: choose one%s",
                  (unsigned long long)count, how);
    else
        cli_error("decode", q->output,
                  "names one file, and there are %llu images: name a folder, or choose one%s",
                  (unsigned long long)count, how);
    return CLI_USAGE;
}

/* An existing folder counts as a folder, whatever its name. */
bool cli_picture_goes_to_file(const cli_decode_request *q, cli_picture_format *format) {
    struct stat st;
    bool is_stdout = strcmp(q->output, "-") == 0;
    bool is_folder = !is_stdout && stat(q->output, &st) == 0 && S_ISDIR(st.st_mode);
    int said = is_folder ? -1 : cli_picture_format_of(q->output);
    *format = q->format;
    if (!q->format_given && said >= 0) *format = (cli_picture_format)said;
    return *format >= CLI_PICTURE_IDX || is_stdout || (said >= 0 && said < CLI_PICTURE_IDX);
}

static int choose_target(cli_picture_plan *plan, const cli_decode_request *q) {
    const bool is_stdout = strcmp(q->output, "-") == 0;
    plan->one_file = cli_picture_goes_to_file(q, &plan->format);
    if (plan->format == CLI_PICTURE_ORIGINAL && plan->one_file)
        return cli_usage(q->verb, "--format original is for files under their own names: give -o "
                                  "DIR, or leave out --format");
    if (plan->format < CLI_PICTURE_IDX && plan->one_file && plan->count != 1)
        return refuse_one_file(q, plan->count);
    if (q->progressive && (plan->format >= CLI_PICTURE_IDX || is_stdout))
        return cli_usage(q->verb, "--progressive rewrites PNG or PNM files: give -o DIR");
    if (q->class_folders && plan->one_file)
        return cli_usage(q->verb, "--class-folders is for files in a folder: give -o DIR");
    return CLI_DONE;
}

int cli_picture_plan_make(cli_picture_plan *plan, const cli_decode_request *q,
                          const taper_container *container) {
    *plan = (cli_picture_plan){.folder = -1};
    int code = choose_images(plan, q, container);
    if (code == CLI_DONE) code = choose_target(plan, q);
    if (code == CLI_DONE && plan->format < CLI_PICTURE_IDX)
        cli_picture_metadata_open(&plan->metadata, q->input, container);
    if (code == CLI_DONE && !plan->one_file) code = cli_picture_files_plan(plan, q, container);
    if (code != CLI_DONE) cli_picture_plan_free(plan);
    return code;
}

void cli_picture_plan_free(cli_picture_plan *plan) {
    cli_picture_files_free(plan);
    cli_picture_metadata_free(plan->metadata);
    free(plan->image);
    *plan = (cli_picture_plan){.folder = -1};
}

/* --- rendering --- */

void cli_passes_words(uint32_t passes, uint32_t of, char to[48]) {
    if (passes < of)
        snprintf(to, 48, "%u of %u pass%s", passes, of, formats_plural(of, "es"));
    else
        snprintf(to, 48, "%u pass%s", passes, formats_plural(passes, "es"));
}

/* One axis of a view: at .. at + n of an image of `all` pixels, in small pixels. */
static uint32_t view_side(uint32_t at, uint32_t n, uint32_t all, uint32_t scale) {
    if (at >= all) at = all - 1;
    if (n > all - at) n = all - at;
    return (n ? at + n - 1 : at) / scale - at / scale + 1;
}

taper_image cli_view_size(const cli_view *view, const taper_image_info *info) {
    const taper_crop all = {0, 0, info->width, info->height}, *c = view->crop ? view->crop : &all;
    return (taper_image){view_side(c->x, c->width, info->width, view->scale),
                         view_side(c->y, c->height, info->height, view->scale), info->channels,
                         info->depth, NULL};
}

uint64_t cli_view_bytes(const cli_view *view, const taper_image_info *info) {
    const taper_image size = cli_view_size(view, info);
    return (uint64_t)size.width * size.height * size.channels * (size.depth / 8u);
}

taper_status cli_canvas_render(cli_canvas *canvas, taper_decoder *decoder, uint64_t i,
                               const cli_view *view, taper_completeness *done, taper_error *error) {
    taper_image_info info = {.size = sizeof info};
    TAPER_TRY(taper_container_get_image(taper_decoder_container(decoder), i, &info, error));
    uint64_t bytes = cli_view_bytes(view, &info);
    if (bytes > canvas->room) {
        free(canvas->image.pixels);
        canvas->room = 0;
        canvas->image.pixels = bytes <= SIZE_MAX ? malloc((size_t)bytes) : NULL;
        if (!canvas->image.pixels)
            return formats_fail(error, TAPER_ERR_NOMEM, "no memory for %u x %u pixels", info.width,
                                info.height);
        canvas->room = (size_t)bytes;
    }
    if (!view->crop)
        return taper_decoder_render_scaled(decoder, i, view->scale, &canvas->image, done, error);
    return taper_decoder_render_crop(decoder, i, view->scale, view->crop, &canvas->image, done,
                                     error);
}

void cli_canvas_free(cli_canvas *canvas) {
    free(canvas->image.pixels);
    *canvas = (cli_canvas){0};
}
