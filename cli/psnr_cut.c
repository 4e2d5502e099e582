/* psnr_cut.c -- bisection over cuts, each measured on all cores; see psnr_cut.h. */
#include "cli/psnr_cut.h"
#include "cli/common/parallel.h"
#include "cli/compare/subject.h"
#include "codec/quality/metrics.h"
#include "codec/taper.h"
#include <pthread.h>
#include <stdlib.h>

enum { FINENESS = 4000 };

/* One measurement: the groups looked at, and what each thread brings along. */
typedef struct measurement {
    const cli_psnr_search *search;
    uint32_t *group; /* [groups] numbers of the groups that are measured */
    size_t groups;
    taper_source source;     /* cut */
    taper_decoder **decoder; /* [threads] at this cut, opened when first needed */
    double *sum;             /* [groups] of PSNR; added in order, for the same result always */
    uint64_t *images;        /* [groups] */
    pthread_mutex_t lock;
    taper_status status; /* the first failure */
    taper_error *error;
} measurement;

static taper_status measure_image(measurement *m, taper_decoder *decoder, uint64_t i, double *psnr,
                                  taper_error *error) {
    taper_image decoded, original = {0};
    double mse = 0;
    taper_status status = cli_subject_render(decoder, i, &decoded, error);
    if (status == TAPER_OK) status = m->search->read(m->search->user, i, &original, error);
    if (status == TAPER_OK) status = codec_mse(&decoded, &original, &mse, error);
    free(decoded.pixels);
    free(original.pixels);
    *psnr = codec_psnr_db(mse);
    return status;
}

static taper_status measure_images(measurement *m, size_t item, unsigned thread,
                                   taper_error *error) {
    const cli_psnr_search *s = m->search;
    uint64_t first, count;
    if (!m->decoder[thread])
        TAPER_TRY(taper_decoder_open(&m->decoder[thread], &m->source, s->model, s->limits, error));
    TAPER_TRY(taper_decoder_group_range(m->decoder[thread], m->group[item], &first, &count));
    m->sum[item] = 0;
    m->images[item] = count;
    for (uint64_t place = first; place < first + count; place++) {
        double psnr = 0;
        uint64_t i = taper_decoder_image_at(m->decoder[thread], place);
        TAPER_TRY(measure_image(m, m->decoder[thread], i, &psnr, error));
        m->sum[item] += psnr;
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

/* Mean PSNR of the first so many bytes. */
static taper_status measure_cut(measurement *m, uint64_t bytes, double *psnr, uint64_t *images) {
    m->source = *m->search->source;
    m->source.size = bytes;
    cli_parallel(m->search->threads, m->groups, measure_group, m);
    for (unsigned t = 0; t < m->search->threads; t++) {
        taper_decoder_free(m->decoder[t]);
        m->decoder[t] = NULL;
    }
    TAPER_TRY(m->status);
    double sum = 0;
    *images = 0;
    for (size_t i = 0; i < m->groups; i++) {
        sum += m->sum[i];
        *images += m->images[i];
    }
    *psnr = sum / (double)*images;
    return TAPER_OK;
}

/* Groups to look at: all, or as many as CLI_PSNR_PIXELS allow, evenly spread. */
static taper_status choose_groups(measurement *m, const taper_container_info *info,
                                  taper_error *error) {
    size_t n = info->groups;
    if (info->pixels > CLI_PSNR_PIXELS)
        n = (size_t)((double)n * CLI_PSNR_PIXELS / (double)info->pixels);
    m->groups = n = n ? n : 1;
    m->group = malloc(n * sizeof *m->group);
    m->sum = malloc(n * sizeof *m->sum);
    m->images = malloc(n * sizeof *m->images);
    m->decoder = calloc(m->search->threads, sizeof *m->decoder);
    if (!m->group || !m->sum || !m->images || !m->decoder)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory to measure %zu groups", n);
    for (size_t k = 0; k < n; k++)
        m->group[k] = (uint32_t)((2 * (uint64_t)k + 1) * info->groups / (2 * (uint64_t)n));
    return TAPER_OK;
}

static taper_status bisect(measurement *m, uint64_t low, uint64_t high, cli_psnr_found *found) {
    uint64_t fine = high / FINENESS ? high / FINENESS : 1;
    found->bytes = high;
    TAPER_TRY(measure_cut(m, high, &found->psnr_db, &found->images));
    found->reached = found->psnr_db >= m->search->target_db;
    while (found->reached && high - low > fine) {
        uint64_t middle = low + (high - low) / 2;
        double psnr;
        TAPER_TRY(measure_cut(m, middle, &psnr, &found->images));
        if (psnr >= m->search->target_db) {
            high = found->bytes = middle;
            found->psnr_db = psnr;
        } else {
            low = middle;
        }
    }
    return TAPER_OK;
}

taper_status cli_psnr_cut(const cli_psnr_search *search, cli_psnr_found *found,
                          taper_error *error) {
    taper_decoder *decoder;
    taper_container_info info;
    measurement m = {.search = search, .error = error};
    *found = (cli_psnr_found){0};
    TAPER_TRY(taper_decoder_open(&decoder, search->source, search->model, search->limits, error));
    taper_status status = taper_decoder_get_info(decoder, &info);
    taper_decoder_free(decoder);
    TAPER_TRY(status);
    pthread_mutex_init(&m.lock, NULL);
    status = choose_groups(&m, &info, error);
    if (status == TAPER_OK) status = bisect(&m, info.front_bytes, search->source->size, found);
    pthread_mutex_destroy(&m.lock);
    free(m.group);
    free(m.sum);
    free(m.images);
    free(m.decoder);
    return status;
}
