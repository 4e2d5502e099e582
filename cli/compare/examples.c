/* examples.c -- see examples.h. */
#include "cli/compare/examples.h"
#include "cli/common/page.h"
#include "cli/common/parallel.h"
#include "cli/common/plain_text.h"
#include "cli/compare/rival_fit.h"
#include "codec/taper_quality.h"
#include "formats/image.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_EXAMPLES = 6,
    MAX_RATES = 5,
    MAX_ROWS = CLI_MAX_RIVALS + 1, /* of rivals: JPEG may have two */
    TINY = 128,                    /* pixels of the longer side: shown enlarged */
    SHOWN_WIDTH = 768,             /* pixels that are shown of a photograph, at most; */
    SHOWN_HEIGHT = 512             /* of one that is no larger than 768 x 768 all */
};

/* A rival in one accounting, of which each image has a row of pictures. */
typedef struct rival_row {
    const cli_rival *rival;
    bool is_payload;
} rival_row;

/* What the rival makes of an image at each rate. */
typedef struct fitted {
    cli_rival_fit fit[MAX_RATES];
    size_t smallest;
    taper_status status;
    taper_error error;
} fitted;

typedef struct gallery {
    const cli_comparison *comparison;
    const cli_subject *subject;
    const cli_originals *originals;
    const cli_examples *how;
    FILE *page;
    size_t n_rates, n_images, n_rows;
    const cli_rd_point *rate[MAX_RATES]; /* points of our curve; quality is the cut */
    rival_row row[MAX_ROWS];
    size_t image[MAX_EXAMPLES];
    taper_image original[MAX_EXAMPLES], plain[MAX_EXAMPLES]; /* plain: as rivals take it */
    taper_image ours[MAX_EXAMPLES][MAX_RATES];
    fitted rivals[MAX_EXAMPLES][MAX_ROWS];
} gallery;

static bool is_tiny(const taper_image *image) {
    return image->width <= TINY && image->height <= TINY;
}

/* The points nearest to five levels of quality, from poor to good; each once. */
static void choose_rates(gallery *g) {
    const cli_rd_curve *curve = cli_comparison_curve(g->comparison, "taper", "file");
    if (!curve || !curve->n) return;
    const double low = fmax(21, curve->point[0].psnr_db),
                 high = fmin(38, curve->point[curve->n - 1].psnr_db);
    for (size_t w = 0; w < MAX_RATES; w++) {
        const double wanted = low + (high - low) * (double)w / (MAX_RATES - 1);
        const cli_rd_point *best = curve->point;
        for (size_t i = 1; i < curve->n; i++)
            if (fabs(curve->point[i].psnr_db - wanted) < fabs(best->psnr_db - wanted))
                best = &curve->point[i];
        if (!g->n_rates || best > g->rate[g->n_rates - 1]) g->rate[g->n_rates++] = best;
    }
}

static taper_status read_originals(gallery *g, size_t n, taper_error *error) {
    const cli_originals *from = g->originals;
    if (n > MAX_EXAMPLES) n = MAX_EXAMPLES;
    if (n > from->count) n = from->count;
    for (size_t k = 0; k < n; k++) {
        size_t i = (2 * k + 1) * from->count / (2 * n);
        g->image[k] = i;
        g->n_images = k + 1;
        TAPER_TRY(cli_originals_read(from, i, &g->original[k], error));
    }
    return TAPER_OK;
}

static taper_status render_ours(gallery *g, taper_error *error) {
    for (size_t r = 0; r < g->n_rates; r++) {
        taper_decoder *decoder = NULL;
        const cli_subject *subject = g->subject;
        cli_subject_cut cut;
        TAPER_TRY(cli_subject_cut_open(subject, (uint64_t)g->rate[r]->quality, &cut, error));
        taper_status status = cli_subject_decoder(&cut, &decoder, error);
        for (size_t k = 0; k < g->n_images && status == TAPER_OK; k++)
            status = cli_subject_render(decoder, g->image[k], &g->ours[k][r], error);
        taper_decoder_free(decoder);
        cli_subject_cut_close(&cut);
        if (status != TAPER_OK) return status;
    }
    return TAPER_OK;
}

/* --- rivals ----------------------------------------------------------------------------------- */

/* The measured rivals; for tiny images, whose JPEG files are mostly headers, also JPEG's scans. */
static void choose_rows(gallery *g) {
    const cli_comparison *c = g->comparison;
    for (size_t i = 0; i < c->n_contenders; i++) {
        const cli_rival *rival = c->contender[i].rival;
        if (c->contender[i].failure[0]) continue;
        g->row[g->n_rows++] = (rival_row){rival, false};
        if (rival == &cli_rival_jpeg && g->n_images && is_tiny(&g->original[0]))
            g->row[g->n_rows++] = (rival_row){rival, true};
    }
}

/* taper's share of a cut for image k. */
static double share(const gallery *g, size_t k, size_t r) {
    return g->rate[r]->bpp / 8 * g->original[k].width * g->original[k].height;
}

static void fit_one(void *user, size_t item, unsigned thread) {
    gallery *g = user;
    const size_t k = item / g->n_rows, row = item % g->n_rows;
    fitted *f = &g->rivals[k][row];
    double budget[MAX_RATES];
    (void)thread;
    for (size_t r = 0; r < g->n_rates; r++) budget[r] = share(g, k, r);
    f->status = cli_rival_fit_all(g->row[row].rival, &g->plain[k], g->row[row].is_payload, budget,
                                  g->n_rates, f->fit, &f->smallest, &f->error);
    if (g->how->done) g->how->done(g->how->user, 1);
}

static taper_status fit_rivals(gallery *g, taper_error *error) {
    for (size_t k = 0; k < g->n_images; k++)
        TAPER_TRY(cli_rival_prepare(&g->original[k], &g->plain[k], error));
    if (g->how->begin) g->how->begin(g->how->user, g->n_images * g->n_rows);
    cli_parallel(g->how->threads, g->n_images * g->n_rows, fit_one, g);
    for (size_t i = 0; i < g->n_images * g->n_rows; i++) {
        const fitted *f = &g->rivals[i / g->n_rows][i % g->n_rows];
        if (f->status == TAPER_OK) continue;
        if (error) *error = f->error;
        return f->status;
    }
    return TAPER_OK;
}

/* --- pictures --------------------------------------------------------------------------------- */

static uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }

/* The part that is shown: all, or the middle. */
static cli_page_view view_of(const taper_image *image) {
    const uint32_t w = image->width, h = image->height;
    const bool is_whole = w <= SHOWN_WIDTH && h <= SHOWN_WIDTH;
    cli_page_view v = {.width = smaller(w, SHOWN_WIDTH),
                       .height = is_whole ? h : smaller(h, SHOWN_HEIGHT),
                       .of_width = w,
                       .of_height = h};
    v.left = (w - v.width) / 2, v.top = (h - v.height) / 2;
    return v;
}

/* The view's part of the image at 8 bits; the caller frees its pixels. */
static taper_status crop(const taper_image *image, const cli_page_view *v, taper_image *out,
                         taper_error *error) {
    taper_image whole;
    TAPER_TRY(cli_rival_prepare(image, &whole, error));
    taper_status status = cli_rival_new_image(v->width, v->height, whole.channels, out, error);
    for (uint32_t y = 0; y < v->height && status == TAPER_OK; y++)
        memcpy((uint8_t *)out->pixels + (size_t)y * v->width * whole.channels,
               (uint8_t *)whole.pixels +
                   ((size_t)(v->top + y) * whole.width + v->left) * whole.channels,
               (size_t)v->width * whole.channels);
    free(whole.pixels);
    return status;
}

/* The picture, of an image that is shown as PNG. */
static taper_status put_pixels(gallery *g, const taper_image *image, cli_page_picture *p,
                               taper_error *error) {
    taper_image shown;
    const cli_page_view v = view_of(image);
    TAPER_TRY(crop(image, &v, &shown, error));
    p->image = &shown;
    if (!is_tiny(image)) p->view = (cli_page_view){v.width, v.height, 0, 0, v.width, v.height};
    taper_status status = cli_page_put_picture(g->page, p, error);
    free(shown.pixels);
    return status;
}

static void caption(cli_page_picture *p, double bytes, double mse, char room[2][48]) {
    cli_comparison_size(bytes, room[0]);
    snprintf(room[1], 48, "%.1f dB", taper_quality_psnr_db(mse));
    p->first = room[0], p->second = room[1];
}

static taper_status put_original(gallery *g, size_t k, taper_error *error) {
    char size[48];
    const taper_image *image = &g->original[k];
    cli_page_picture p = {.alt = "original", .by = "original", .first = "original", .second = size};
    snprintf(size, sizeof size, "%u \u00d7 %u pixels", image->width, image->height);
    return put_pixels(g, image, &p, error);
}

static taper_status put_ours(gallery *g, size_t k, size_t r, taper_error *error) {
    char room[2][48];
    double mse;
    cli_page_picture p = {.alt = "taper", .by = "taper", .cut = r + 1};
    TAPER_TRY(taper_quality_mse(&g->original[k], &g->ours[k][r], &mse, error));
    caption(&p, share(g, k, r), mse, room);
    return put_pixels(g, &g->ours[k][r], &p, error);
}

/* A rival's own file, where browsers show it, else its pixels. */
static taper_status put_theirs(gallery *g, size_t k, size_t row, size_t r, taper_error *error) {
    char room[2][48], why[120], size[48];
    const cli_rival *rival = g->row[row].rival;
    const fitted *f = &g->rivals[k][row];
    const cli_rival_fit *fit = &f->fit[r];
    cli_page_picture p = {.alt = rival->title, .by = rival->title, .cut = r + 1, .why = why};
    if (!fit->bytes) {
        snprintf(why, sizeof why, "The smallest %s takes %s.", rival->title,
                 cli_comparison_size((double)f->smallest, size));
        return cli_page_put_picture(g->page, &p, error);
    }
    caption(&p, (double)fit->counted, fit->mse, room);
    if (rival->media_type) {
        p.file = fit->bytes, p.file_size = fit->size, p.type = rival->media_type;
        if (!is_tiny(&g->original[k])) p.view = view_of(&g->original[k]);
        return cli_page_put_picture(g->page, &p, error);
    }
    taper_image decoded;
    TAPER_TRY(cli_rival_fit_decode(rival, &g->plain[k], fit, &decoded, error));
    taper_status status = put_pixels(g, &decoded, &p, error);
    free(decoded.pixels);
    return status;
}

/* --- an image --------------------------------------------------------------------------------- */

static void name_of(const gallery *g, size_t k, char *to, size_t room) {
    const size_t i = g->originals->index[g->image[k]];
    const char *name = formats_imageset_name(g->originals->set, i);
    const char *path = formats_imageset_path(g->originals->set, i), *base = strrchr(path, '/');
    char number[4200];
    snprintf(number, sizeof number, "%s, image %llu", base ? base + 1 : path,
             (unsigned long long)formats_imageset_part(g->originals->set, i) + 1);
    cli_plain_text(to, room, name ? name : number);
}

/* A row of pictures for taper, and one for each rival. */
static taper_status put_rows(gallery *g, size_t k, bool are_small, taper_error *error) {
    taper_status status = TAPER_OK;
    char label[80];
    cli_page_label(g->page, "taper");
    cli_page_pictures_begin(g->page, are_small);
    for (size_t r = 0; r < g->n_rates && !status; r++) status = put_ours(g, k, r, error);
    if (!status) status = put_original(g, k, error);
    cli_page_pictures_end(g->page);
    for (size_t row = 0; row < g->n_rows && !status; row++) {
        snprintf(label, sizeof label, "%s%s", g->row[row].rival->title,
                 g->row[row].is_payload ? ", its scans alone counted" : "");
        cli_page_label(g->page, label);
        cli_page_pictures_begin(g->page, are_small);
        for (size_t r = 0; r < g->n_rates && !status; r++) status = put_theirs(g, k, row, r, error);
        cli_page_pictures_end(g->page);
    }
    return status;
}

static taper_status put_example(gallery *g, size_t k, taper_error *error) {
    char name[300], part[120];
    const taper_image *image = &g->original[k];
    const cli_page_view v = view_of(image);
    name_of(g, k, name, sizeof name);
    if (is_tiny(image)) {
        cli_page_subheading(g->page, name);
        return put_rows(g, k, true, error);
    }
    const bool is_part = v.width < image->width || v.height < image->height;
    snprintf(part, sizeof part, "Shown: the middle %u \u00d7 %u of %u \u00d7 %u pixels.", v.width,
             v.height, image->width, image->height);
    cli_page_photo_begin(g->page, name, is_part ? part : NULL, v.width, v.height);
    taper_status status = put_rows(g, k, false, error);
    cli_page_photo_end(g->page);
    return status;
}

static taper_status fill_and_put(gallery *g, taper_error *error) {
    TAPER_TRY(read_originals(g, g->how->most, error));
    TAPER_TRY(render_ours(g, error));
    choose_rows(g);
    TAPER_TRY(fit_rivals(g, error));
    cli_page_heading(g->page, is_tiny(&g->original[0]) ? "Images" : "Photographs");
    cli_page_text(g->page, "Every cut is of the same container. The bytes of a cut are shared out "
                           "to images by their pixels; each other codec gets at most as many for "
                           "the same image. The PSNR is of the whole image.");
    taper_status status = TAPER_OK;
    for (size_t k = 0; k < g->n_images && !status; k++) status = put_example(g, k, error);
    return status;
}

static void free_gallery(gallery *g) {
    for (size_t k = 0; k < MAX_EXAMPLES; k++) {
        formats_image_free(&g->original[k]);
        formats_image_free(&g->plain[k]);
        for (size_t r = 0; r < MAX_RATES; r++) formats_image_free(&g->ours[k][r]);
        for (size_t i = 0; i < MAX_ROWS * MAX_RATES; i++)
            cli_rival_fit_free(&g->rivals[k][i / MAX_RATES].fit[i % MAX_RATES]);
    }
    free(g);
}

taper_status cli_examples_put(const cli_comparison *comparison, const cli_subject *subject,
                              const cli_originals *originals, const cli_examples *how, FILE *page,
                              taper_error *error) {
    gallery *g = calloc(1, sizeof *g);
    if (!g) return formats_fail(error, TAPER_ERR_NOMEM, "no memory for examples");
    *g = (gallery){comparison, subject, originals, how, .page = page};
    choose_rates(g);
    taper_status status = g->n_rates && how->most ? fill_and_put(g, error) : TAPER_OK;
    free_gallery(g);
    return status;
}
