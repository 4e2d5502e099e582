/* codecs.c -- see codecs.h. */
#include "bench/paper/codecs.h"
#include "cli/common/parallel.h"
#include "cli/compare/rd_curve.h"
#include "codec/taper.h"
#include "formats/file.h"
#include "formats/image.h"
#include "train/train.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { QUICK_IMAGES = 6000 };

/* --- this program's codec -------------------------------------------------------------- */

typedef struct test_set {
    taper_image *image;
    size_t n;
} test_set;

static test_set read_test(const paper *p) {
    formats_imageset *set = paper_open(p, 1);
    test_set t = {.n = p->test.n};
    t.image = figures_memory(t.n, sizeof *t.image);
    for (size_t i = 0; i < t.n; i++) {
        taper_error error = {0};
        figures_check(formats_imageset_read(set, i, &t.image[i], NULL, &error), "test image",
                      &error);
    }
    formats_imageset_close(set);
    return t;
}

static void free_test(test_set *t) {
    for (size_t i = 0; i < t->n; i++) free(t->image[i].pixels);
    free(t->image);
}

static taper_model *learn_model(paper *p, uint32_t units) {
    train_options options = {
        .family = TAPER_FAMILY_PCA, .window = TRAIN_WINDOW_WHOLE, .units = units};
    formats_buffer file = formats_buffer_make(SIZE_MAX / 4);
    formats_imageset *set = paper_open(p, 0);
    uint64_t room = p->quick ? (uint64_t)QUICK_IMAGES * p->training.inputs : (uint64_t)1 << 31;
    taper_error error = {0};
    train_dataset data;
    train_report report;
    taper_model *model;
    figures_check(train_dataset_load(&data, set, &(train_loading){.max_bytes = room}, &error),
                  "images", &error);
    formats_imageset_close(set);
    figures_check(train_model(&options, &data, &p->be, &p->device, NULL, &file, &report, &error),
                  "pca", &error);
    train_dataset_free(&data);
    figures_check(taper_model_load(&model, file.data, file.size, NULL, &error), "model", &error);
    formats_buffer_free(&file);
    return model;
}

static taper_status collect(void *user, const void *bytes, size_t n) {
    return formats_write_bytes(user, bytes, n);
}

static formats_buffer encode(const paper *p, const taper_model *model, const test_set *t) {
    taper_encode_options options = {.size = sizeof options, .threads = p->threads};
    taper_error error = {0};
    formats_buffer out = formats_buffer_make(SIZE_MAX / 4);
    taper_sink sink = {&out, collect};
    taper_encoder *e;
    figures_check(taper_encoder_new(&e, model, &options, &error), "encode", &error);
    for (size_t i = 0; i < t->n; i++)
        figures_check(taper_encoder_add(e, &t->image[i], NULL, -1, &error), "encode", &error);
    figures_check(taper_encoder_finish(e, 0, &sink, &error), "encode", &error);
    taper_encoder_free(e);
    return out;
}

typedef struct cut_job {
    const taper_model *model;
    const test_set *test;
    formats_memory bytes;
    double *group; /* squared error of each group */
} cut_job;

static double squared_error(const taper_image *a, const taper_image *b) {
    const uint8_t *x = a->pixels, *y = b->pixels;
    uint64_t sum = 0;
    for (size_t i = 0, n = formats_image_samples(a); i < n; i++)
        sum += (uint64_t)((x[i] - y[i]) * (x[i] - y[i]));
    return (double)sum / (double)formats_image_samples(a);
}

static void decode_group(void *user, size_t g, unsigned thread) {
    cut_job *job = user;
    taper_source source = formats_memory_source(&job->bytes);
    taper_error error = {0};
    const taper_open_options options = {.size = sizeof options, .model = job->model};
    taper_container *c;
    taper_decoder *d;
    uint64_t first, count;
    (void)thread;
    figures_check(taper_container_open(&c, &source, &options, &error), "decode", &error);
    figures_check(taper_decoder_new(&d, c, NULL, &error), "decode", &error);
    taper_container_group(c, (uint32_t)g, &first, &count, NULL);
    taper_image out = {.pixels = figures_memory(formats_image_samples(&job->test->image[0]), 1)};
    for (uint64_t i = first; i < first + count; i++) {
        figures_check(taper_decoder_render(d, i, &out, NULL, &error), "decode", &error);
        job->group[g] += squared_error(&job->test->image[i], &out);
    }
    free(out.pixels);
    taper_decoder_free(d);
    taper_container_close(c);
}

static double error_of_cut(const paper *p, const taper_model *model, const test_set *t,
                           const formats_buffer *file, size_t cut, uint32_t groups) {
    cut_job job = {model, t, {file->data, cut}, figures_memory(groups, sizeof(double))};
    double sum = 0.0;
    cli_parallel(p->threads, groups, decode_group, &job);
    for (uint32_t g = 0; g < groups; g++) sum += job.group[g];
    free(job.group);
    return sum / (double)t->n;
}

void paper_container(paper *p, uint32_t units, const paper_curve *lengths, paper_rates *payload,
                     paper_rates *file) {
    paper_load(p);
    taper_model *model = learn_model(p, units);
    test_set t = read_test(p);
    formats_buffer all = encode(p, model, &t);
    formats_memory memory = {all.data, all.size};
    taper_source source = formats_memory_source(&memory);
    taper_error error = {0};
    taper_container_info info = {.size = sizeof info};
    const taper_open_options options = {.size = sizeof options, .model = model};
    taper_container *c;
    figures_check(taper_container_open(&c, &source, &options, &error), "container", &error);
    figures_check(taper_container_get_info(c, &info, &error), "container", &error);
    taper_container_close(c);
    payload->n = file->n = 0;
    for (size_t i = 0; i < lengths->n; i++) {
        size_t cut = (size_t)info.front_bytes + t.n * lengths->length[i] / 8;
        if (cut > all.size) break;
        double mse = error_of_cut(p, model, &t, &all, cut, info.groups);
        payload->bits[payload->n] = lengths->length[i], payload->mse[payload->n++] = mse;
        file->bits[file->n] = 8.0 * (double)cut / (double)t.n, file->mse[file->n++] = mse;
    }
    formats_buffer_free(&all);
    free_test(&t);
    taper_model_free(model);
}

/* --- JPEG ------------------------------------------------------------------------------ */

static taper_status read_original(void *user, size_t i, taper_image *out, taper_error *error) {
    const test_set *t = user;
    (void)error;
    *out = t->image[i];
    out->pixels = figures_memory(formats_image_samples(out), 1);
    memcpy(out->pixels, t->image[i].pixels, formats_image_samples(out));
    return TAPER_OK;
}

static void take_points(const cli_rd_curve *from, paper_rates *to) {
    to->n = from->n;
    for (size_t i = 0; i < from->n; i++) {
        to->bits[i] = 8.0 * from->point[i].bytes_per_image;
        to->mse[i] = 65025.0 * pow(10.0, -0.1 * from->point[i].psnr_of_mean_mse_db);
    }
}

void paper_jpeg(paper *p, paper_rates *payload, paper_rates *file) {
    paper_load(p);
    test_set t = read_test(p);
    size_t runs, failed;
    size_t *start = cli_rd_even_runs(t.n, &runs);
    if (!start) figures_die("no memory for JPEG");
    cli_rd_job job = {
        .user = &t, .runs = runs, .run_start = start, .threads = p->threads, .read = read_original};
    cli_rd_curve of_file, of_payload;
    taper_error error = {0};
    figures_check(cli_rd_rival(&cli_rival_jpeg, &job, &of_file, &of_payload, &failed, &error),
                  "JPEG", &error);
    take_points(&of_file, file);
    take_points(&of_payload, payload);
    free(start);
    free_test(&t);
}
