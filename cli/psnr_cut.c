/* psnr_cut.c -- see psnr_cut.h. Cuts are measured on all threads; the next cut is interpolated from
 * the last two. */
#include "cli/psnr_cut.h"
#include "cli/common/parallel.h"
#include "cli/compare/subject.h"
#include "codec/taper_quality.h"
#include "codec/taper.h"
#include "formats/image.h"
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { FINENESS = 4000, QUICK_CUTS = 8 };

/* One measurement: its groups, and the state of each thread. */
typedef struct measurement {
    const cli_psnr_search *search;
    uint32_t *group; /* [groups] numbers of the measured groups */
    size_t groups;
    taper_container *container;
    uint64_t bytes;          /* size of the cut */
    taper_decoder **decoder; /* [threads] decoders of this cut, opened when first needed */
    cli_psnr_found
        *of; /* [groups] psnr_db is a sum; summed in order, so that the result is reproducible */
    pthread_mutex_t lock;
    taper_status status; /* the first failure */
    taper_error *error;
} measurement;

/* Rows of a large image against its original. */
typedef struct row_errors {
    const taper_image *original;
    double sum; /* of the mean squared errors of rows */
} row_errors;

static taper_status compare_rows(void *user, uint32_t first, const taper_image *rows) {
    row_errors *r = user;
    const size_t stride = (size_t)rows->width * rows->channels * (rows->depth / 8u);
    taper_image of = *r->original;
    double mse;
    of.height = rows->height;
    of.pixels = (char *)of.pixels + first * stride;
    if (of.width != rows->width || of.channels != rows->channels || of.depth != rows->depth ||
        first + rows->height > r->original->height)
        return TAPER_ERR_ARG;
    TAPER_TRY(taper_quality_mse(rows, &of, &mse, NULL));
    r->sum += mse * rows->height;
    return TAPER_OK;
}

/* A large image is rendered row by row, so that only its original is in memory. */
static taper_status measure_large(measurement *m, taper_decoder *decoder, uint64_t i, double *psnr,
                                  taper_error *error) {
    taper_image original = {0};
    row_errors errors = {&original, 0};
    const taper_row_sink to = {&errors, compare_rows};
    taper_status status = m->search->read(m->search->user, i, &original, error);
    if (status == TAPER_OK) {
        formats_image_flatten(&original, 65535); /* as cli_subject_render does */
        status = taper_decoder_render_rows(decoder, i, 1, NULL, &to, NULL, error);
    }
    if (status == TAPER_OK) *psnr = taper_quality_psnr_db(errors.sum / original.height);
    free(original.pixels);
    return status;
}

static taper_status measure_image(measurement *m, taper_decoder *decoder, uint64_t i, double *psnr,
                                  taper_error *error) {
    taper_image_info info = {.size = sizeof info};
    enum { LARGE = 32 << 20 }; /* bytes of pixels */
    TAPER_TRY(taper_container_get_image(m->container, i, &info, error));
    if (info.bytes > LARGE && info.channels % 2) return measure_large(m, decoder, i, psnr, error);
    taper_image decoded, original = {0};
    double mse = 0;
    taper_status status = cli_subject_render(decoder, i, &decoded, error);
    if (status == TAPER_OK) status = m->search->read(m->search->user, i, &original, error);
    if (status == TAPER_OK) {
        formats_image_flatten(&original, 65535); /* as cli_subject_render does */
        status = taper_quality_mse(&decoded, &original, &mse, error);
    }
    free(decoded.pixels);
    free(original.pixels);
    *psnr = taper_quality_psnr_db(mse);
    return status;
}

/* An exact drawing counts as the target at most: it must not make up for photographs. */
static double counted_psnr(const measurement *m, uint64_t i, double psnr) {
    taper_image_info info = {.size = sizeof info};
    const double target = m->search->target_db;
    if (target <= 0 || psnr <= target) return psnr;
    if (taper_container_get_image(m->container, i, &info, NULL) != TAPER_OK) return psnr;
    return info.is_indexed ? target : psnr;
}

static taper_status measure_images(measurement *m, size_t item, unsigned thread,
                                   taper_error *error) {
    uint64_t first, count;
    const taper_decode_options options = {.size = sizeof options, .cut = m->bytes};
    if (!m->decoder[thread])
        TAPER_TRY(taper_decoder_new(&m->decoder[thread], m->container, &options, error));
    TAPER_TRY(taper_container_group(m->container, m->group[item], &first, &count, error));
    cli_psnr_found *of = &m->of[item];
    *of = (cli_psnr_found){.images = count, .least_db = HUGE_VAL};
    for (uint64_t place = first; place < first + count; place++) {
        double psnr = 0;
        uint64_t i = taper_container_image_at(m->container, place);
        TAPER_TRY(measure_image(m, m->decoder[thread], i, &psnr, error));
        of->psnr_db += counted_psnr(m, i, psnr);
        if (psnr < of->least_db) of->least_db = psnr, of->least_image = i;
    }
    return TAPER_OK;
}

static void measure_group(void *user, size_t item, unsigned thread) {
    measurement *m = user;
    taper_error error = {0};
    pthread_mutex_lock(&m->lock);
    taper_status status = m->status;
    pthread_mutex_unlock(&m->lock);
    if (status != TAPER_OK) return;
    status = measure_images(m, item, thread, &error);
    pthread_mutex_lock(&m->lock);
    if (status != TAPER_OK && m->status == TAPER_OK) {
        m->status = status;
        if (m->error) *m->error = error;
    }
    pthread_mutex_unlock(&m->lock);
}

static taper_status measure_cut(measurement *m, uint64_t bytes, cli_psnr_found *found) {
    const int cuts = found->cuts + 1;
    m->bytes = bytes;
    cli_parallel(m->search->threads, m->groups, measure_group, m);
    for (unsigned t = 0; t < m->search->threads; t++) {
        taper_decoder_free(m->decoder[t]);
        m->decoder[t] = NULL;
    }
    TAPER_TRY(m->status);
    *found = (cli_psnr_found){.bytes = bytes, .least_db = HUGE_VAL, .cuts = cuts};
    for (size_t i = 0; i < m->groups; i++) {
        const cli_psnr_found *of = &m->of[i];
        found->psnr_db += of->psnr_db;
        found->images += of->images;
        if (of->least_db < found->least_db)
            found->least_db = of->least_db, found->least_image = of->least_image;
    }
    found->psnr_db /= (double)found->images;
    found->reached = found->psnr_db >= m->search->target_db;
    return TAPER_OK;
}

/* The groups to measure: all, or as many as the limit of pixels allows, evenly spread. */
static taper_status choose_groups(measurement *m, const taper_container_info *info,
                                  taper_error *error) {
    size_t n = info->groups;
    const uint64_t most = m->search->pixels ? m->search->pixels : CLI_PSNR_PIXELS;
    if (info->pixels > most) n = (size_t)((double)n * (double)most / (double)info->pixels);
    m->groups = n = n ? n : 1;
    m->group = malloc(n * sizeof *m->group);
    m->of = malloc(n * sizeof *m->of);
    m->decoder = calloc(m->search->threads, sizeof *m->decoder);
    if (!m->group || !m->of || !m->decoder)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory to measure %zu groups", n);
    for (size_t k = 0; k < n; k++)
        m->group[k] = (uint32_t)((2 * (uint64_t)k + 1) * info->groups / (2 * (uint64_t)n));
    return TAPER_OK;
}

/* State of the search: the target lies between two cuts. */
typedef struct bracket {
    uint64_t front; /* the smallest cut */
    cli_psnr_found low, high;
    double db_per_octave; /* in bytes of image data */
} bracket;

/* The next cut to measure: interpolates the PSNR linearly in the logarithm of the bytes. Always
 * between the two cuts; after some steps, their middle. */
static uint64_t next_cut(const bracket *b, const cli_psnr_found *last, double target,
                         uint64_t fine) {
    const uint64_t low = b->low.bytes, high = b->high.bytes;
    if (last->cuts >= QUICK_CUTS) return low + (high - low) / 2;
    double data = (double)(last->bytes - b->front) + 1;
    double at = (double)b->front + data * exp2((target - last->psnr_db) / b->db_per_octave);
    if (!(at < (double)high - (double)fine)) return high - fine > low ? high - fine : low + 1;
    return at > (double)low + (double)fine ? (uint64_t)at : low + fine;
}

static void take_slope(bracket *b, const cli_psnr_found *last, const cli_psnr_found *now) {
    double octaves =
        log2(((double)(now->bytes - b->front) + 1) / ((double)(last->bytes - b->front) + 1));
    double slope = octaves != 0 ? (now->psnr_db - last->psnr_db) / octaves : 0;
    if (slope > 0.5 && slope < 50) b->db_per_octave = slope;
}

/* Starts at an eighth of the data. The whole, which takes longest, is measured only if no smaller
 * cut reaches the target. */
static taper_status close_in(measurement *m, uint64_t front, uint64_t size, cli_psnr_found *found) {
    const uint64_t fine = size / FINENESS ? size / FINENESS : 1;
    bracket b = {
        .front = front, .low = {.bytes = front}, .high = {.bytes = size}, .db_per_octave = 4.5};
    cli_psnr_found now = {0}, last = {0};
    while (b.high.bytes - b.low.bytes > fine) {
        uint64_t cut = last.cuts ? next_cut(&b, &last, m->search->target_db, fine)
                                 : front + (size - front) / 8;
        if (cut <= b.low.bytes || cut >= b.high.bytes)
            cut = b.low.bytes + (b.high.bytes - b.low.bytes) / 2;
        TAPER_TRY(measure_cut(m, cut, &now));
        if (last.cuts) take_slope(&b, &last, &now);
        last = now;
        *(now.reached ? &b.high : &b.low) = now;
    }
    *found = b.high;
    found->cuts = now.cuts;
    return b.high.cuts ? TAPER_OK : measure_cut(m, size, found);
}

static taper_status measure(const cli_psnr_search *search, int is_search, cli_psnr_found *found,
                            taper_error *error) {
    const taper_open_options options = {
        .size = sizeof options, .model = search->model, .limits = search->limits};
    taper_container_info info = {.size = sizeof info};
    measurement m = {.search = search, .error = error};
    *found = (cli_psnr_found){0};
    TAPER_TRY(taper_container_open(&m.container, search->source, &options, error));
    taper_status status = taper_container_get_info(m.container, &info, error);
    pthread_mutex_init(&m.lock, NULL);
    if (status == TAPER_OK) status = choose_groups(&m, &info, error);
    if (status == TAPER_OK)
        status = is_search ? close_in(&m, info.front_bytes, search->source->size, found)
                           : measure_cut(&m, search->source->size, found);
    pthread_mutex_destroy(&m.lock);
    free(m.group);
    free(m.of);
    free(m.decoder);
    taper_container_close(m.container);
    return status;
}

taper_status cli_psnr_cut(const cli_psnr_search *search, cli_psnr_found *found,
                          taper_error *error) {
    return measure(search, 1, found, error);
}

taper_status cli_psnr_measure(const cli_psnr_search *search, cli_psnr_found *found,
                              taper_error *error) {
    return measure(search, 0, found, error);
}

void cli_psnr_words(const cli_psnr_found *found, uint64_t images, const char *against,
                    const char *name, char *to, size_t room) {
    char number[32], sample[96] = "";
    snprintf(number, sizeof number, "image %llu", (unsigned long long)found->least_image + 1);
    if (found->images < images)
        snprintf(sample, sizeof sample, " (measured on %llu of %llu images)",
                 (unsigned long long)found->images, (unsigned long long)images);
    if (images == 1)
        snprintf(to, room, "; %.2f dB%s", found->psnr_db, against);
    else
        snprintf(to, room, "; %.2f dB in the mean%s, the least %.2f dB, %s%s", found->psnr_db,
                 against, found->least_db, name ? name : number, sample);
}
