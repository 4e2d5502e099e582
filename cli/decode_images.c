/* decode_images.c -- see decode_images.h. */
#include "cli/decode_images.h"
#include "cli/common/outputs.h"
#include "cli/common/parallel.h"
#include "cli/picture_files.h"
#include "formats/image.h"
#include <stdlib.h>

/* --- one image --- */

bool cli_decode_info(const cli_decode_job *j, uint64_t k, taper_image_info *info) {
    return taper_container_get_image(j->container->open, cli_picture_plan_image(&j->plan, k), info,
                                     NULL) == TAPER_OK;
}

/* For formats of one file the pixels are kept: they move from the canvas to the list. */
static int put_image(cli_decode_job *j, uint64_t k, cli_canvas *canvas) {
    if (!j->kept) return cli_picture_put(&j->plan, j->q, k, &canvas->image, j->q->common->force);
    j->kept[k] = canvas->image;
    *canvas = (cli_canvas){0};
    return CLI_DONE;
}

/* Nonzero: the picture is so large that it is written row by row. */
bool cli_decode_goes_by_rows(const cli_decode_job *j, uint64_t k, const taper_image_info *info) {
    enum { LARGE = 32 << 20 }; /* bytes of pixels */
    const cli_view view = {j->q->scale, j->q->crop};
    const cli_picture_form form = cli_picture_plan_form(&j->plan, j->q, k);
    return !j->kept && form.format <= CLI_PICTURE_PNM && !form.is_pam &&
           cli_view_bytes(&view, info) > LARGE;
}

/* Render image k of the plan and write it. *shown: its size; *status, *error: of rendering it,
 * where the result is CLI_DONE. */
static int render_image(cli_decode_job *j, uint64_t k, cli_decode_worker *w, taper_image *shown,
                        taper_completeness *done, taper_status *status, taper_error *error) {
    const uint64_t i = cli_picture_plan_image(&j->plan, k);
    const cli_view view = {j->q->scale, j->q->crop};
    taper_image_info info = {.size = sizeof info};
    const int is_known = taper_container_get_image(j->container->open, i, &info, NULL) == TAPER_OK;
    if (is_known && cli_decode_goes_by_rows(j, k, &info)) {
        const cli_picture_rows rows = {w->decoder, i, view.scale, view.crop,
                                       *shown = cli_view_size(&view, &info)};
        return cli_picture_put_rows(&j->plan, j->q, k, &rows, done, status, error);
    }
    *status = cli_canvas_render(&w->canvas, w->decoder, i, &view, done, error);
    if (*status != TAPER_OK && *status != TAPER_ERR_CORRUPT)
        return cli_fail("decode", j->q->input, *status, error);
    *shown = w->canvas.image;
    return put_image(j, k, &w->canvas);
}

static int decode_image(cli_decode_job *j, uint64_t k, cli_decode_worker *w, bool *told) {
    taper_error error = {0};
    taper_completeness done = {0};
    taper_image shown = {0};
    taper_status status;
    const int code = render_image(j, k, w, &shown, &done, &status, &error);
    bool damaged = status == TAPER_ERR_CORRUPT;
    if (damaged && !*told) {
        cli_fail("decode", j->q->input, error.status, &error);
        *told = true;
    }
    if (status != TAPER_OK && !damaged) return code;
    taper_image_info info = {.size = sizeof info};
    const bool is_drawing = cli_decode_info(j, k, &info) && info.is_indexed; /* has no passes */
    pthread_mutex_lock(&j->lock);
    j->written += code == CLI_DONE;
    j->damaged += damaged;
    if (done.passes < j->passes && !is_drawing) j->passes = done.passes;
    j->is_short |= damaged || !done.complete;
    pthread_mutex_unlock(&j->lock);
    cli_progress_add(&j->progress, 1);
    char passes[48];
    cli_passes_words(done.passes, done.complete && !damaged ? done.passes : done.passes_in_file,
                     passes);
    if (code == CLI_DONE)
        cli_detail(j->q->common, 2, "decode", "image %llu: %u x %u, %s, in %s%s%s",
                   (unsigned long long)cli_picture_plan_image(&j->plan, k) + 1, shown.width,
                   shown.height, passes, cli_output_name(j->q->output), j->plan.name ? "/" : "",
                   j->plan.name ? j->plan.name[k] : "");
    return code == CLI_SOME_FAILED ? CLI_DONE : code; /* a refused name does not end the work */
}

/* --- all images --- */

int cli_decode_open(const cli_decode_job *j, taper_decoder **out) {
    *out = NULL;
    taper_error error = {0};
    /* the front matter counts for the decoder, too */
    const taper_decode_options how = {.size = sizeof how,
                                      .cut = j->cut ? j->cut : 1,
                                      .max_memory = cli_limits(j->q->common).max_memory +
                                                    j->container->info.memory};
    taper_status status = taper_decoder_new(out, j->container->open, &how, &error);
    if (status == TAPER_OK) status = taper_decoder_set_scale(*out, j->q->passes_scale, &error);
    return status == TAPER_OK ? CLI_DONE : cli_fail("decode", j->q->input, status, &error);
}

static int compare_further(const void *a, const void *b) {
    const cli_further_file *x = a, *y = b;
    if (x->group != y->group) return x->group < y->group ? -1 : 1;
    return x->k < y->k ? -1 : x->k > y->k;
}

/* List the files of further names, which have the last places in the plan. */
int cli_decode_list_further(cli_decode_job *j) {
    const uint64_t images = j->container->info.images;
    uint64_t k = j->plan.count;
    while (k && cli_picture_plan_image(&j->plan, k - 1) >= images) k--;
    j->further = malloc((size_t)(j->plan.count - k + 1) * sizeof *j->further);
    if (!j->further) return cli_fail("decode", j->q->input, TAPER_ERR_NOMEM, NULL);
    for (; k < j->plan.count; k++) {
        taper_image_info info = {.size = sizeof info};
        cli_decode_info(j, k, &info);
        j->further[j->n_further++] = (cli_further_file){k, info.group};
    }
    qsort(j->further, j->n_further, sizeof *j->further, compare_further);
    return CLI_DONE;
}

/* The first of them of this group or a later one. */
static size_t first_further(const cli_decode_job *j, uint32_t group) {
    size_t low = 0, high = j->n_further;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (j->further[middle].group < group)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* True if an image of the group, or a further name of one, is in the plan. */
static bool has_wanted(const cli_decode_job *j, uint32_t group) {
    uint64_t first = 0, count = 0;
    taper_container_group(j->container->open, group, &first, &count, NULL);
    for (uint64_t place = first; place < first + count; place++)
        if (cli_picture_plan_find(&j->plan, taper_container_image_at(j->container->open, place)) !=
            UINT64_MAX)
            return true;
    const size_t n = first_further(j, group);
    return n < j->n_further && j->further[n].group == group;
}

static void decode_group(void *user, size_t group, unsigned thread) {
    cli_decode_job *j = user;
    cli_decode_worker *w = &j->worker[thread];
    uint64_t first = 0, count = 0;
    bool told = false;
    pthread_mutex_lock(&j->lock);
    int code = j->code;
    pthread_mutex_unlock(&j->lock);
    if (code != CLI_DONE) return;
    if (has_wanted(j, (uint32_t)group)) cli_prefetch_group(j->prefetch, (uint32_t)group);
    if (!w->decoder) code = cli_decode_open(j, &w->decoder);
    if (code == CLI_DONE)
        taper_container_group(j->container->open, (uint32_t)group, &first, &count, NULL);
    for (uint64_t place = first; place < first + count && code == CLI_DONE; place++) {
        uint64_t k =
            cli_picture_plan_find(&j->plan, taper_container_image_at(j->container->open, place));
        if (k != UINT64_MAX) code = decode_image(j, k, w, &told);
    }
    for (size_t n = first_further(j, (uint32_t)group);
         n < j->n_further && j->further[n].group == group && code == CLI_DONE; n++)
        code = decode_image(j, j->further[n].k, w, &told);
    if (code == CLI_DONE) return;
    pthread_mutex_lock(&j->lock);
    if (j->code == CLI_DONE) j->code = code;
    pthread_mutex_unlock(&j->lock);
}

/* One image after the other, by the decoder that has their bytes. */
static void decode_planned(cli_decode_job *j) {
    bool told = false;
    (void)taper_decoder_set_threads(j->worker[0].decoder, cli_threads(j->q->common), NULL);
    for (uint64_t k = 0; k < j->plan.count && j->code == CLI_DONE; k++)
        j->code = decode_image(j, k, &j->worker[0], &told);
}

int cli_decode_images(cli_decode_job *j, uint32_t groups) {
    unsigned threads = cli_threads(j->q->common);
    taper_image_info info = {.size = sizeof info};
    j->worker = realloc(j->worker, threads * sizeof *j->worker);
    if (!j->worker) return cli_fail("decode", j->q->input, TAPER_ERR_NOMEM, NULL);
    for (unsigned t = 1; t < threads; t++) j->worker[t] = (cli_decode_worker){0};
    cli_progress_start(&j->progress, j->q->common, "decoding", j->plan.count, "images");
    if (!j->is_planned)
        j->prefetch = cli_prefetch_new(j->container, j->plan.image, j->plan.count, j->cut,
                                       j->q->passes_scale);
    if (j->is_planned)
        decode_planned(j);
    else if (j->plan.count == 1 && cli_decode_info(j, 0, &info)) {
        (void)taper_decoder_set_threads(j->worker[0].decoder, threads, NULL); /* else one */
        decode_group(j, info.group, 0);
    } else
        cli_parallel(threads, groups, decode_group, j);
    cli_progress_end(&j->progress);
    cli_prefetch_free(j->prefetch);
    j->prefetch = NULL;
    for (unsigned t = 1; t < threads; t++) {
        taper_decoder_free(j->worker[t].decoder);
        cli_canvas_free(&j->worker[t].canvas);
    }
    return j->code;
}
