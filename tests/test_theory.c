/* test_theory.c -- section 3 of Rippel, Gelbart & Adams (2014) on pictures: what linear networks
 * become under nested dropout, measured.
 *
 *   theorem 3   with orthonormal decoder columns, the covariance's eigenvectors in their order
 *   theorem 2   without: X = T Sigma R^T, Gamma = Q T^-1, where T commutes in truncation and
 *               inversion, so that lemma 1 holds of it
 *   theorem 1   the best codes of every length are had at once, the whole one among them
 *
 * The pictures are samples made at run time; where TAPER_DATA names a folder with CIFAR-10's
 * data_batch_1.bin, also these. Each figure is printed. */
#include "on_device.h"
#include "scratch.h"
#include "train/linear/pca.h"
#include "train/nested/nested_errors.h"
#include "train/nested/nested_gradient.h"
#include "train/nested/nested_trainer.h"
#include "train/optimise/conjugate_gradient.h"
#include "train/sampling/philox.h"
#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIDE = 32, PIXELS = SIDE * SIDE, RECORD = 1 + 3 * PIXELS };

static char samples_program[SCRATCH_PATH]; /* make_samples */

static void *take(size_t n, size_t size) {
    void *p = calloc(n, size);
    assert_non_null(p);
    return p;
}

/* --- pictures -------------------------------------------------------------------------------- */

/* Up to `most` records of a file in CIFAR's format; NULL: it cannot be opened. */
static uint8_t *read_records(const char *path, size_t most, size_t *n) {
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    uint8_t *bytes = take(most, RECORD);
    *n = fread(bytes, RECORD, most, file);
    fclose(file);
    assert_true(*n > 1);
    return bytes;
}

/* Records of samples; NULL where the generator was not built. */
static uint8_t *read_samples(size_t most, size_t *n) {
    char folder[SCRATCH_PATH], path[SCRATCH_PATH];
    int status = 0;
    if (access(samples_program, X_OK) != 0) {
        printf("SKIP %s was not built\n", samples_program);
        return NULL;
    }
    scratch_make(folder);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        execl(samples_program, samples_program, "small", folder, "--count", "600", "--format",
              "cifar", (char *)NULL);
        _exit(127);
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    uint8_t *bytes = read_records(scratch_join(path, folder, "cifar/train.bin"), most, n);
    scratch_remove(folder);
    assert_non_null(bytes);
    return bytes;
}

/* Records of CIFAR-10; NULL where there are none. */
static uint8_t *read_photographs(size_t most, size_t *n) {
    const char *folder = getenv("TAPER_DATA");
    char path[SCRATCH_PATH];
    uint8_t *bytes = NULL;
    if (folder && folder[0])
        bytes = read_records(scratch_join(path, folder, "data_batch_1.bin"), most, n);
    if (!bytes) printf("SKIP TAPER_DATA does not name a folder with CIFAR-10's data_batch_1.bin\n");
    return bytes;
}

/* Windows of side `side`, three planes or (grey 1) their mean, spread over all of n records, as
 * rows of a planar window. */
static train_pixels cut_windows(const uint8_t *record, size_t n, uint32_t side, int grey,
                                size_t rows) {
    uint32_t across = SIDE / side, planes = grey ? 1 : 3, inputs = planes * side * side;
    uint8_t *to = take(rows * inputs, 1);
    size_t all = n * across * across;
    assert_true(rows <= all);
    for (size_t r = 0; r < rows; r++) {
        size_t window = r * all / rows, place = window % (across * across);
        const uint8_t *from = record + window / (across * across) * RECORD + 1 +
                              place / across * side * SIDE + place % across * side;
        for (uint32_t i = 0; i < inputs; i++) {
            const uint8_t *at =
                from + i / (side * side) * PIXELS + i / side % side * SIDE + i % side;
            to[r * inputs + i] =
                grey ? (uint8_t)((at[0] + at[PIXELS] + at[2 * PIXELS] + 1) / 3) : *at;
        }
    }
    return (train_pixels){.pixels = to, .n = rows, .inputs = inputs};
}

/* --- the closed form ---------------------------------------------------------------------------
 */

/* Of data[n][D]: mean, covariance, the first K eigenvectors and eigenvalues. */
typedef struct spectrum {
    uint32_t inputs, units;
    size_t rows;
    double *covariance; /* [D][D] */
    double trace;
    double *eigenvalue; /* [K] */
    codec_network net;  /* mean; synthesis [K][D] */
} spectrum;

static void spectrum_make(spectrum *s, const train_pixels *data, uint32_t units) {
    const size_t d = data->inputs, block = 500;
    train_covariance cov;
    codec_backend be;
    train_device device;
    *s = (spectrum){.inputs = data->inputs, .units = units, .rows = data->n};
    codec_backend_cpu(&be);
    assert_int_equal(train_processor_open(&device, &be, TRAIN_PROCESSOR), TAPER_OK);
    assert_int_equal(train_covariance_alloc(&cov, &device, data->inputs), TAPER_OK);
    float *rows = take(block * d, sizeof *rows);
    for (size_t r = 0; r < data->n; r += block) {
        size_t n = data->n - r < block ? data->n - r : block;
        for (size_t i = 0; i < n * d; i++) rows[i] = data->pixels[r * d + i];
        assert_int_equal(train_covariance_add(&cov, rows, n), TAPER_OK);
    }
    s->covariance = take(d * d, sizeof(double));
    assert_int_equal(train_covariance_take(&cov, s->covariance), TAPER_OK);
    for (size_t i = 0; i < d; i++) s->trace += s->covariance[i * d + i];
    s->eigenvalue = take(units, sizeof(double));
    assert_int_equal(
        codec_network_alloc(&s->net, data->inputs, units, CODEC_TIED, NULL, 0, NULL, 0), TAPER_OK);
    assert_int_equal(train_pca_solve(&cov, &s->net, s->eigenvalue, NULL), TAPER_OK);
    train_covariance_free(&cov);
    train_processor_close(&device);
    free(rows);
}

static void spectrum_free(spectrum *s) {
    free(s->covariance), free(s->eigenvalue);
    codec_network_free(&s->net);
}

/* The squared error that codes of b units leave at best: the eigenvalues after b. */
static double left_after(const spectrum *s, uint32_t b) {
    double sum = s->trace;
    for (uint32_t k = 0; k < b; k++) sum -= s->eigenvalue[k];
    return sum;
}

/* --- the network's exact objective -------------------------------------------------------------
 */

/* All rows at all lengths, or at one: equation 11 without sampling, p_B uniform. */
typedef struct exact {
    train_nested_network net;
    on_device where;
    train_arena moments;
    train_nested_source source;
    size_t rows;
    uint32_t *order, *kept;
} exact;

static void exact_make(exact *e, const train_pixels *data, const float *mean, uint32_t units,
                       int nested) {
    const train_nested_shape shape = {.inputs = data->inputs, .layers = 1, .width = {units}};
    size_t lengths = nested ? units : 1;
    *e = (exact){.rows = lengths * data->n};
    on_device_open(&e->where, TRAIN_PROCESSOR);
    e->order = take(e->rows, sizeof *e->order);
    e->kept = take(e->rows, sizeof *e->kept);
    for (size_t i = 0; i < e->rows; i++) {
        e->order[i] = (uint32_t)(i / lengths);
        e->kept[i] = nested ? 1 + (uint32_t)(i % lengths) : units;
    }
    assert_int_equal(train_nested_create(&e->net, &shape, &e->where.device, mean, 50.0f, 4),
                     TAPER_OK);
    assert_int_equal(train_nested_source_open(&e->source, &e->net, data, e->order, e->rows),
                     TAPER_OK);
    for (int pass = 0; pass < 2; pass++) {
        train_weights *w = &e->net.weights;
        w->m = train_arena_floats(&e->moments, w->n, 1);
        w->v = train_arena_floats(&e->moments, w->n, 1);
        if (!pass) assert_int_equal(train_arena_alloc(&e->moments, &e->where.device), TAPER_OK);
    }
}

static void exact_free(exact *e) {
    train_nested_source_close(&e->source);
    train_arena_free(&e->moments);
    train_nested_free(&e->net);
    on_device_close(&e->where);
    free(e->order), free(e->kept);
}

static taper_status exact_objective(void *user, double *value) {
    exact *e = user;
    train_nested_network *net = &e->net;
    const train_nested_step step = {.kept = e->kept};
    train_nested_loss loss;
    train_fed fed;
    TAPER_TRY(train_nested_zero(net));
    TAPER_TRY(train_zero(&net->stream, net->losses, sizeof loss));
    TAPER_TRY(train_feed_take(&e->source.feed, &net->stream, &e->source.order, 0, e->rows, &fed));
    TAPER_TRY(train_nested_add(net, &step, fed.rows, fed.order, e->rows, e->rows, 0, net->losses));
    TAPER_TRY(train_download(&net->stream, &loss, net->losses, sizeof loss));
    *value = loss.loss;
    return TAPER_OK;
}

/* The network's vectors, to the host and back. */
static float *fetch(exact *e, const float *from) {
    float *to = take(e->net.weights.n, sizeof *to);
    on_device_take(&e->where, to, from, e->net.weights.n * sizeof *to);
    return to;
}

static void send(exact *e, const float *from) {
    const train_weights *w = &e->net.weights;
    assert_int_equal(train_upload(&e->net.stream, w->parameter, from, w->n * sizeof *from),
                     TAPER_OK);
}

/* Conjugate gradients until a line gains nothing; the network holds the end. */
static uint32_t exact_train(exact *e, uint32_t most) {
    train_cg_options options = train_cg_defaults();
    train_cg cg;
    uint32_t step = 0;
    assert_int_equal(train_cg_create(&cg, &e->net.stream, &e->net.weights), TAPER_OK);
    for (; step < most; step++) {
        train_cg_result result;
        assert_int_equal(train_cg_step(&cg, exact_objective, e, &options, &result), TAPER_OK);
        options.same_objective = 1;
        if (result.alpha > 0.0) continue;
        if (result.restarted) break;
        assert_int_equal(train_cg_reset(&cg), TAPER_OK);
        options.same_objective = 0;
    }
    train_cg_free(&cg);
    return step;
}

/* Where losses differ by rounding alone, gradients still tell: steps of s.s / s.y along them, with
 * s and y the last changes of parameters and gradient (Barzilai & Borwein 1988). They go up and
 * down: the network gets the parameters with the smallest gradient. */
static void exact_polish(exact *e, uint32_t steps) {
    size_t n = e->net.weights.n;
    float *at = fetch(e, e->net.weights.parameter), *best = take(n, sizeof *best);
    float *before = take(n, sizeof *before);
    double *s = take(n, sizeof *s), rate = 0.1, least = INFINITY, value;
    for (uint32_t step = 0; step < steps; step++) {
        send(e, at);
        assert_int_equal(exact_objective(e, &value), TAPER_OK);
        float *gradient = fetch(e, e->net.weights.gradient);
        double ss = 0.0, sy = 0.0, norm = 0.0;
        for (size_t i = 0; i < n; i++) {
            ss += s[i] * s[i], sy += s[i] * ((double)gradient[i] - before[i]);
            norm += (double)gradient[i] * gradient[i];
        }
        if (norm < least) memcpy(best, at, n * sizeof *at), least = norm;
        if (step && sy > 0.0) rate = ss / sy;
        memcpy(before, gradient, n * sizeof *before);
        for (size_t i = 0; i < n; i++) {
            float from = at[i];
            at[i] = (float)(at[i] - rate * gradient[i]);
            s[i] = (double)at[i] - from;
        }
        free(gradient);
    }
    send(e, best);
    free(at), free(best), free(before), free(s);
}

/* --- theorem 3 ---------------------------------------------------------------------------------
 */

/* Gamma's columns lie as rows [K][D], as in the network. */
typedef struct frame {
    uint32_t inputs, units;
    const double *covariance, *tail; /* tail[k] = P(b > k) */
    double *at, *before;             /* Gamma */
    double *image, *image_before;    /* C Gamma */
    double value;                    /* sum of tail[k] Gamma_k . C Gamma_k */
} frame;

/* The nearest matrix with orthonormal columns, in place: U V^T of the singular value decomposition.
 * No column comes before another here, as one would in Gram and Schmidt's: what order the result
 * has comes from the objective. */
static void orthonormalise(double *gamma, uint32_t inputs, uint32_t units) {
    const lapack_int d = (lapack_int)inputs, k = (lapack_int)units;
    double *u = take((size_t)inputs * units, sizeof *u),
           *vt = take((size_t)units * units, sizeof *vt), *value = take(units, sizeof *value);
    assert_int_equal(LAPACKE_dgesdd(LAPACK_COL_MAJOR, 'S', d, k, gamma, d, value, u, d, vt, k), 0);
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, d, k, k, 1.0, u, d, vt, k, 0.0, gamma,
                d);
    free(u), free(vt), free(value);
}

static double frame_look(frame *f) {
    const int d = (int)f->inputs, k = (int)f->units;
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, d, k, d, 1.0, f->covariance, d, f->at, d,
                0.0, f->image, d);
    f->value = 0.0;
    for (int i = 0; i < k; i++)
        f->value += f->tail[i] * cblas_ddot(d, f->at + (size_t)i * f->inputs, 1,
                                            f->image + (size_t)i * f->inputs, 1);
    return f->value;
}

/* With Gamma^T Gamma = I the best linear encoder of every length is Gamma^T, and equation 11 is
 * constant - value. Its gradient is -2 C Gamma diag(tail). A step goes down along it so
 * far that where it began no longer counts, and back to the nearest orthonormal columns: value,
 * which is convex, rises by that. It begins at a point extrapolated from the last two (Nesterov
 * 1983), for speed; that starts anew when value falls. Returns the steps taken. */
static uint32_t frame_descend(frame *f, uint32_t steps) {
    size_t n = (size_t)f->inputs * f->units;
    double *next = take(n, sizeof *next), last = frame_look(f);
    uint32_t since = 0, step = 0;
    memcpy(f->before, f->at, n * sizeof *next);
    memcpy(f->image_before, f->image, n * sizeof *next);
    for (; step < steps; step++) {
        double beta = (double)since / (since + 3.0), moved = 0.0;
        for (size_t i = 0; i < n; i++)
            next[i] =
                f->tail[i / f->inputs] * (f->image[i] + beta * (f->image[i] - f->image_before[i]));
        memcpy(f->before, f->at, n * sizeof *next);
        memcpy(f->image_before, f->image, n * sizeof *next);
        orthonormalise(next, f->inputs, f->units);
        memcpy(f->at, next, n * sizeof *next);
        since = frame_look(f) < last ? 0 : since + 1;
        last = f->value;
        for (size_t i = 0; i < n; i++)
            moved += (f->at[i] - f->before[i]) * (f->at[i] - f->before[i]);
        if (moved < 1e-10) break;
    }
    free(next);
    return step;
}

/* At Gamma, with Gamma^T for an encoder: the network's gradient is what was said above, and the
 * encoder's is 0. */
static void check_network_gradient(const frame *f, exact *e) {
    size_t n = (size_t)f->inputs * f->units;
    const train_nested_layer *y = &e->net.layer[0];
    const float *all_numbers = e->net.weights.parameter;
    float *parameter = take(e->net.weights.n, sizeof *parameter);
    double value, off = 0.0, all = 0.0, encoder = 0.0, d = f->inputs;
    float *w = parameter + (y->w - all_numbers), *v = parameter + (y->v - all_numbers);
    for (size_t i = 0; i < n; i++) w[i] = v[i] = (float)f->at[i];
    send(e, parameter);
    assert_int_equal(exact_objective(e, &value), TAPER_OK);
    float *gradient = fetch(e, e->net.weights.gradient);
    const float *own_w = gradient + (y->w - all_numbers), *own_v = gradient + (y->v - all_numbers);
    double square = (double)e->net.scale * e->net.scale, left = -f->value;
    for (size_t i = 0; i < f->inputs; i++) left += f->covariance[i * f->inputs + i];
    assert_true(fabs(value * square * d - left) <= 1e-5 * left);
    /* along the orthonormal ones: Gamma_i . G_j - Gamma_j . G_i, of which the rest is made */
    for (uint32_t i = 0; i < f->units; i++)
        for (uint32_t j = 0; j < i; j++) {
            double got = 0.0, want = 0.0;
            for (uint32_t p = 0; p < f->inputs; p++) {
                size_t a = (size_t)i * f->inputs + p, b = (size_t)j * f->inputs + p;
                got += (f->at[a] * own_v[b] - f->at[b] * own_v[a]) * d * square / 2.0;
                want -= f->tail[j] * f->at[a] * f->image[b] - f->tail[i] * f->at[b] * f->image[a];
            }
            off += (got - want) * (got - want), all += want * want;
        }
    for (size_t i = 0; i < n; i++) encoder += own_w[i] * own_w[i] * pow(d * square / 2.0, 2);
    printf("theorem 3: gradient of the network off by %.2g, of its encoder %.2g\n", sqrt(off / all),
           sqrt(encoder / all));
    assert_true(off <= 1e-8 * all && encoder <= 1e-8 * all);
    free(parameter), free(gradient);
}

static void check_eigenvectors(const char *what, const train_pixels *data, int with_network,
                               uint32_t steps) {
    enum { K = 40, LOOKED_AT = 32 };
    spectrum s;
    double tail[K], least = 1.0;
    spectrum_make(&s, data, K);
    size_t n = (size_t)K * data->inputs;
    frame f = {data->inputs,
               K,
               s.covariance,
               tail,
               take(n, sizeof(double)),
               take(n, sizeof(double)),
               take(n, sizeof(double)),
               take(n, sizeof(double)),
               0.0};
    for (int k = 0; k < K; k++) tail[k] = (double)(K - k) / K; /* uniform p_B */
    for (size_t i = 0; i < n; i++) {
        uint32_t word[4];
        train_philox(9, i, 1000, word);
        f.at[i] = train_philox_uniform(word[0]) - 0.5;
    }
    orthonormalise(f.at, data->inputs, K);
    frame_look(&f);
    if (with_network) {
        exact e;
        exact_make(&e, data, s.net.mean, K, 1);
        check_network_gradient(&f, &e);
        exact_free(&e);
    }
    uint32_t taken = frame_descend(&f, steps);
    for (int k = 0; k < LOOKED_AT; k++) {
        double cosine = 0.0;
        const float *q = s.net.synthesis + (size_t)k * data->inputs;
        for (size_t i = 0; i < data->inputs; i++)
            cosine += f.at[(size_t)k * data->inputs + i] * q[i];
        least = fmin(least, fabs(cosine));
    }
    printf("theorem 3, %s: %zu rows of %u, %u steps: least |cosine| of %d columns and eigenvectors "
           "%.6f\n",
           what, data->n, (unsigned)data->inputs, (unsigned)taken, LOOKED_AT, least);
    assert_true(least >= 0.999);
    free(f.at), free(f.before), free(f.image), free(f.image_before);
    spectrum_free(&s);
}

static void orthonormal_decoders_become_eigenvectors(void **unused) {
    (void)unused;
    size_t n;
    uint8_t *record = read_samples(400, &n);
    if (!record) skip();
    train_pixels data = cut_windows(record, n, 8, 0, 3000);
    check_eigenvectors("windows of 8x8x3 of samples", &data, 1, 3000);
    free((void *)data.pixels), free(record);
}

static void orthonormal_decoders_of_photographs_become_eigenvectors(void **unused) {
    (void)unused;
    size_t n;
    uint8_t *record = read_photographs(10000, &n);
    if (!record) skip();
    train_pixels data = cut_windows(record, n, 8, 0, 3000);
    check_eigenvectors("windows of 8x8x3 of CIFAR-10", &data, 1, 3000);
    free((void *)data.pixels);
    data = cut_windows(record, n, SIDE, 0, n);
    check_eigenvectors("CIFAR-10", &data, 0, 3000);
    free((void *)data.pixels), free(record);
}

/* Eigenvalues this near, each to the next, are compared as one space: what lies between their
 * eigenvectors is hardly determined. */
static const double near_eigenvalues = 1.1;

/* The largest angle, in degrees, between rows v[n][D], orthonormal, and the space of q[m][D]: its
 * sine is the largest singular value of v - (v q^T) q. */
static double largest_angle(const float *v, size_t n, const float *q, size_t m, size_t d) {
    double *rest = take(n * d, sizeof *rest), *value = take(n, sizeof *value), none[1];
    for (size_t i = 0; i < n; i++) {
        for (size_t p = 0; p < d; p++) rest[i * d + p] = v[i * d + p];
        for (size_t j = 0; j < m; j++) {
            double product = 0.0;
            for (size_t p = 0; p < d; p++) product += (double)v[i * d + p] * q[j * d + p];
            for (size_t p = 0; p < d; p++) rest[i * d + p] -= product * q[j * d + p];
        }
    }
    const lapack_int rows = (lapack_int)d, columns = (lapack_int)n;
    assert_int_equal(
        LAPACKE_dgesdd(LAPACK_COL_MAJOR, 'N', rows, columns, rest, rows, value, none, 1, none, 1),
        0);
    double sine = value[0];
    free(rest), free(value);
    return asin(fmin(sine, 1.0)) * 180.0 / acos(-1.0);
}

/* Of trained rows v[units][D] from the eigenvectors: the largest angle of any group; *groups is how
 * many there are. A group that goes on beyond the last unit is compared with all of it. */
static double largest_angle_of_groups(const spectrum *s, const float *v, uint32_t units,
                                      uint32_t *groups) {
    double worst = 0.0;
    *groups = 0;
    for (uint32_t from = 0, to; from < units; from = to, ++*groups) {
        for (to = from + 1; to < s->units; to++)
            if (s->eigenvalue[to - 1] > near_eigenvalues * s->eigenvalue[to]) break;
        size_t n = (to < units ? to : units) - from, d = s->inputs;
        double angle = largest_angle(v + from * d, n, s->net.synthesis + from * d, to - from, d);
        worst = fmax(worst, angle);
    }
    return worst;
}

/* Theorem 3 through the trainer: `units` linear units, tied or not, trained on minibatches under
 * sampled truncations with an orthonormal decoder, from random weights. p_B is uniform. */
static void check_training(const char *what, const train_pixels *data, uint32_t units, int tied,
                           const train_nested_options *options, double most) {
    const train_nested_shape shape = {
        .inputs = data->inputs, .layers = 1, .width = {units}, .tied = tied};
    train_nested_options o = *options;
    train_truncation truncation;
    train_nested_network net;
    on_device where;
    spectrum s;
    uint32_t groups;
    double off = 0.0;
    spectrum_make(&s, data, data->inputs < 8 * units ? data->inputs : 8 * units);
    on_device_open(&where, TRAIN_PROCESSOR);
    assert_int_equal(train_truncation_make(&truncation, "uniform", units, NULL), TAPER_OK);
    float *mean = take(data->inputs, sizeof *mean), scale;
    train_nested_statistics(data, mean, &scale);
    o.truncation = &truncation, o.orthonormal = 1, o.max_validation = 0;
    assert_int_equal(train_nested_create(&net, &shape, &where.device, mean, scale, o.seed),
                     TAPER_OK);
    assert_int_equal(train_nested(&o, data, &net, NULL, NULL, NULL), TAPER_OK);
    size_t d = data->inputs;
    float *v = take(units * d, sizeof *v);
    on_device_take(&where, v, net.layer[0].v, units * d * sizeof *v);
    for (size_t i = 0; i < units; i++)
        for (size_t j = 0; j <= i; j++) {
            double product = 0.0;
            for (size_t p = 0; p < d; p++) product += (double)v[i * d + p] * v[j * d + p];
            off = fmax(off, fabs(product - (i == j)));
        }
    double angle = largest_angle_of_groups(&s, v, units, &groups);
    printf(
        "theorem 3, trained, %s, %s, seed %u, %u units in %u groups of near eigenvalues: largest "
        "principal angle of a group in degrees %.3f, rows from orthonormal %.2g\n",
        what, tied ? "tied" : "untied", (unsigned)o.seed, (unsigned)units, (unsigned)groups, angle,
        off);
    assert_true(off <= 1e-4);
    assert_true(angle <= most);
    free(v), free(mean);
    train_nested_free(&net), train_truncation_free(&truncation);
    on_device_close(&where);
    spectrum_free(&s);
}

static void training_finds_eigenvectors(void **unused) {
    (void)unused;
    size_t n;
    uint8_t *record = read_samples(400, &n);
    if (!record) skip();
    train_pixels data = cut_windows(record, n, 8, 0, 3000);
    train_nested_options o = train_nested_defaults();
    o.epochs = 600, o.batch = 250, o.rate = 2e-3f;
    for (int tied = 1; tied >= 0; tied--)
        check_training("windows of 8x8x3 of samples", &data, 12, tied, &o, 3.0);
    free((void *)data.pixels), free(record);
}

/* Of photographs it takes minutes: where TAPER_LONG is set. */
static void training_finds_eigenvectors_of_photographs(void **unused) {
    (void)unused;
    size_t n;
    const char *asked = getenv("TAPER_LONG");
    uint8_t *record = asked && asked[0] ? read_photographs(10000, &n) : NULL;
    if (!record) skip();
    train_nested_options o = train_nested_defaults();
    o.batch = 1000, o.rate = 0.01f;
    train_pixels data = cut_windows(record, n, 8, 0, 10000);
    for (o.seed = 1, o.epochs = 4000; o.seed <= 3; o.seed++)
        check_training("windows of 8x8x3 of CIFAR-10", &data, 32, 1, &o, 2.0);
    free((void *)data.pixels);
    data = cut_windows(record, n, SIDE, 0, n);
    o.seed = 1; /* a quarter of an hour, on one core */
    check_training("CIFAR-10", &data, 32, 1, &o, 2.0);
    free((void *)data.pixels), free(record);
}

/* --- theorems 1 and 2 --------------------------------------------------------------------------
 */

enum { UNITS = 6 };

/* The inverse of the leading b x b part of t[UNITS][UNITS], by Gauss and Jordan, with pivots. */
static void invert(double t[UNITS][UNITS], int b, double inverse[UNITS][UNITS]) {
    double a[UNITS][2 * UNITS] = {{0}};
    for (int i = 0; i < b; i++)
        for (int j = 0; j < b; j++) a[i][j] = t[i][j], a[i][b + j] = i == j;
    for (int p = 0; p < b; p++) {
        int top = p;
        for (int i = p; i < b; i++)
            if (fabs(a[i][p]) > fabs(a[top][p])) top = i;
        assert_true(fabs(a[top][p]) > 1e-12);
        for (int j = 0; j < 2 * b; j++) {
            double keep = a[p][j];
            a[p][j] = a[top][j], a[top][j] = keep;
        }
        for (int i = 0; i < b; i++) {
            double factor = i == p ? 0.0 : a[i][p] / a[p][p];
            for (int j = 0; j < 2 * b; j++) a[i][j] -= factor * a[p][j];
        }
    }
    for (int i = 0; i < b; i++)
        for (int j = 0; j < b; j++) inverse[i][j] = a[i][b + j] / a[i][i];
}

/* How far T is from what section 3 says of it, all relative. */
typedef struct deviations {
    double code;        /* of X from T Sigma R^T, largest over its rows */
    double decoder;     /* of Gamma T from Q */
    double commutation; /* equation 12, largest over b */
    double lemma;       /* lemma 1: largest over b of the smaller of |A_b| and |B_b| */
    double diagonal;    /* largest |A_b| or |B_b|; 0: equation 19 makes T lower triangular,
                           equation 20 T^-1, and so T, upper triangular */
} deviations;

/* T = X R Sigma^-1 = Omega Q, its rows divided by their diagonal element: the scale of a unit is
 * free. */
static deviations deviations_of(exact *e, const spectrum *s) {
    const train_nested_layer *y = &e->net.layer[0];
    float *parameter = fetch(e, e->net.weights.parameter);
    const float *w = parameter + (y->w - e->net.weights.parameter),
                *u = parameter + (y->v - e->net.weights.parameter);
    const float *q = s->net.synthesis;
    double t[UNITS][UNITS] = {{0}}, all[UNITS][UNITS], part[UNITS][UNITS];
    double off = 0.0, whole = 0.0;
    deviations v = {0};
    size_t d = s->inputs;
    assert_true(d <= 16);
    for (int i = 0; i < UNITS; i++)
        for (int j = 0; j < UNITS; j++)
            for (size_t p = 0; p < d; p++)
                t[i][j] += (double)w[(size_t)i * d + p] * q[(size_t)j * d + p];
    for (int i = 0; i < UNITS; i++) {
        const float *omega = w + (size_t)i * d;
        double rest[16]; /* of row i of Omega - T Q^T */
        for (size_t p = 0; p < d; p++) {
            rest[p] = omega[p];
            for (int j = 0; j < UNITS; j++) rest[p] -= t[i][j] * q[(size_t)j * d + p];
        }
        off = whole = 0.0;
        for (size_t p = 0; p < d; p++)
            for (size_t r = 0; r < d; r++) {
                off += rest[p] * s->covariance[p * d + r] * rest[r];
                whole += (double)omega[p] * s->covariance[p * d + r] * omega[r];
            }
        v.code = fmax(v.code, sqrt(fmax(off, 0.0) / whole));
    }
    off = 0.0;
    for (int j = 0; j < UNITS; j++)
        for (size_t p = 0; p < d; p++) {
            double sum = -q[(size_t)j * d + p];
            for (int i = 0; i < UNITS; i++) sum += u[(size_t)i * d + p] * t[i][j];
            off += sum * sum / UNITS;
        }
    v.decoder = sqrt(off);
    free(parameter);
    for (int i = 0; i < UNITS; i++) {
        double diagonal = t[i][i];
        assert_true(fabs(diagonal) > 1e-3);
        for (int j = 0; j < UNITS; j++) t[i][j] /= diagonal;
    }
    invert(t, UNITS, all);
    for (int b = 1; b <= UNITS; b++) {
        double a = 0.0, below = 0.0;
        invert(t, b, part);
        off = whole = 0.0;
        for (int i = 0; i < b; i++)
            for (int j = 0; j < b; j++)
                off += (part[i][j] - all[i][j]) * (part[i][j] - all[i][j]),
                    whole += part[i][j] * part[i][j];
        v.commutation = fmax(v.commutation, sqrt(off / whole));
        for (int i = 0; i + 1 < b; i++)
            a += t[i][b - 1] * t[i][b - 1], below += t[b - 1][i] * t[b - 1][i];
        v.lemma = fmax(v.lemma, sqrt(fmin(a, below)));
        v.diagonal = fmax(v.diagonal, sqrt(fmax(a, below)));
    }
    return v;
}

/* Train to the end; errors[b - 1] is the squared error of a row at length b. */
static deviations train_and_look(exact *e, const spectrum *s, const char *what, double *errors) {
    uint32_t length[UNITS], steps = exact_train(e, 3000);
    exact_polish(e, 1500);
    for (uint32_t b = 0; b < UNITS; b++) length[b] = b + 1;
    const train_nested_data rows = {.feed = &e->source.feed, .n = s->rows};
    assert_int_equal(train_nested_errors(&e->net, &rows, length, UNITS, errors), TAPER_OK);
    for (int b = 0; b < UNITS; b++) errors[b] *= s->inputs;
    deviations v = deviations_of(e, s);
    printf("theorem 2, %s, %u steps: X - T Sigma R^T %.2g, Gamma T - Q %.2g, commutation %.2g, "
           "lemma 1 %.2g, from diagonal %.2g\n",
           what, (unsigned)steps, v.code, v.decoder, v.commutation, v.lemma, v.diagonal);
    return v;
}

/* A nested network, and for contrast a standard one, which no theorem orders. */
static void check_optimum(const char *what, const uint8_t *record, size_t n) {
    train_pixels data = cut_windows(record, n, 4, 1, 600);
    spectrum s;
    exact nested, standard;
    double errors[UNITS], plain[UNITS], worst = 0.0;
    printf("%s, windows of 4x4, %d units\n", what, UNITS);
    spectrum_make(&s, &data, UNITS);
    exact_make(&nested, &data, s.net.mean, UNITS, 1);
    exact_make(&standard, &data, s.net.mean, UNITS, 0);
    deviations v = train_and_look(&nested, &s, "nested", errors),
               w = train_and_look(&standard, &s, "standard", plain);
    for (uint32_t b = 1; b <= UNITS; b++)
        worst = fmax(worst, fabs(errors[b - 1] / left_after(&s, b) - 1.0));
    double best = left_after(&s, UNITS);
    printf(
        "theorem 1: full length nested %.8g, standard %.8g, eigenvalues left out %.8g; any length "
        "off by %.2g\n",
        errors[UNITS - 1], plain[UNITS - 1], best, worst);
    assert_true(fabs(errors[UNITS - 1] / best - 1.0) <= 1e-4);
    assert_true(fabs(plain[UNITS - 1] / best - 1.0) <= 1e-4);
    assert_true(worst <= 1e-4);
    assert_true(v.code <= 5e-3 && v.decoder <= 1e-3 && v.commutation <= 1e-4);
    assert_true(v.lemma <= 0.01 && v.diagonal <= 0.01);
    assert_true(w.code <= 1e-3 && w.decoder <= 1e-3);
    assert_true(w.commutation > 0.1 && w.lemma > 0.1);
    exact_free(&nested), exact_free(&standard);
    spectrum_free(&s);
    free((void *)data.pixels);
}

static void nested_optimum_of_samples(void **unused) {
    (void)unused;
    size_t n;
    uint8_t *record = read_samples(400, &n);
    if (!record) skip();
    check_optimum("samples", record, n);
    free(record);
}

static void nested_optimum_of_photographs(void **unused) {
    (void)unused;
    size_t n;
    uint8_t *record = read_photographs(2000, &n);
    if (!record) skip();
    check_optimum("CIFAR-10", record, n);
    free(record);
}

/* The generator lies beside the folder of this program; tests/run.sh says where, too. */
static void find_samples_program(const char *self) {
    const char *given = getenv("SAMPLES"), *slash = strrchr(self, '/');
    int length = slash ? (int)(slash - self) : 1;
    int n = given ? snprintf(samples_program, SCRATCH_PATH, "%s", given)
                  : snprintf(samples_program, SCRATCH_PATH, "%.*s/../make_samples", length,
                             slash ? self : ".");
    if (n < 0 || n >= SCRATCH_PATH) samples_program[0] = '\0';
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orthonormal_decoders_become_eigenvectors),
        cmocka_unit_test(training_finds_eigenvectors),
        cmocka_unit_test(training_finds_eigenvectors_of_photographs),
        cmocka_unit_test(nested_optimum_of_samples),
        cmocka_unit_test(nested_optimum_of_photographs),
        cmocka_unit_test(orthonormal_decoders_of_photographs_become_eigenvectors),
    };
    find_samples_program(argc > 0 ? argv[0] : "");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
