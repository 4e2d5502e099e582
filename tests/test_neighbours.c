/* test_neighbours.c -- the derivation in train/objectives/neighbours.h: gradients in double against
 * finite differences, alpha's too; and the gradients that Min et al. 2010 and Salakhutdinov &
 * Hinton 2007 print, evaluated as printed. Prints by how much these fail. */
#include "neighbours_reference.h"
#include "train/device/elements_neighbours.h"
#include "train/sampling/philox.h"
#include <stdio.h>
#include <string.h>

enum { N = 24, MOST_D = 30 };
static const double alphas[] = {0.5, 1.0, 2.0, 29.0};
static const size_t dims[] = {1, 2, 30};

/* Codes in which no probability is all or nothing; three classes, one alone, two without. */
static uint32_t label[N];
static void draw(size_t d, uint64_t seed, double *f) {
    for (size_t i = 0; i < N; i++) {
        uint32_t word[4];
        label[i] = i == 5 ? 9 : i % 11 == 7 ? TRAIN_UNLABELLED : (uint32_t)(i % 3);
        for (size_t k = 0; k < d; k++) {
            train_philox(seed, i * d + k, 3, word);
            f[i * d + k] = 3.0 / sqrt((double)d) * ((double)train_philox_uniform(word[0]) - 0.5) +
                           0.3 * (double)(i % 3);
        }
    }
}

/* How far a is from b, beside the largest of b. */
static double apart(size_t n, const double *a, const double *b) {
    double most = 0.0, error = 0.0;
    for (size_t i = 0; i < n; i++) {
        most = fmax(most, fabs(b[i]));
        if (!(fabs(a[i] - b[i]) <= error)) error = fabs(a[i] - b[i]);
    }
    return error / most;
}

/* The same by differences of the loss. */
static void differences(reference r, double *f, double *df, double *dalpha) {
    const double h = 1e-5;
    for (size_t i = 0; i < r.n * r.d; i++) {
        const double kept = f[i];
        f[i] = kept + h;
        const double above = reference_loss(&r, f);
        f[i] = kept - h;
        df[i] = (above - reference_loss(&r, f)) / (2.0 * h);
        f[i] = kept;
    }
    reference more = r, less = r;
    more.alpha += h * r.alpha, less.alpha -= h * r.alpha;
    *dalpha = (reference_loss(&more, f) - reference_loss(&less, f)) / (2.0 * h * r.alpha);
}

static void gradients_are_differences(void **state) {
    (void)state;
    static double f[N * MOST_D], df[N * MOST_D], want[N * MOST_D];
    double worst = 0.0;
    for (int kind = 0; kind < 3 * 2 * 2 * 2; kind++)
        for (size_t a = 0; a < 4; a++)
            for (size_t k = 0; k < 3; k++) {
                reference r = {.loss = (train_neighbour_loss)(kind % 3),
                               .all_pairs = kind / 3 % 2,
                               .student = kind / 6 % 2,
                               .hinge = kind / 12 % 2 ? 0.3 : 0.0,
                               .alpha = alphas[a],
                               .n = N,
                               .d = dims[k],
                               .label = label};
                double dalpha, by_alpha;
                if (!r.student && a) continue;
                draw(r.d, 1 + a, f);
                reference_gradient(&r, f, df, &dalpha);
                differences(r, f, want, &by_alpha);
                const double error = apart(N * r.d, df, want);
                worst = fmax(worst, error);
                assert_true(error < 1e-7);
                assert_true(fabs(dalpha - by_alpha) <= 1e-7 * (1e-3 + fabs(by_alpha)));
            }
    printf("the derivation: within %.1e of finite differences\n", worst);
}

/* --- as printed ----------------------------------------------------------------------------- */

/* What Min et al. call u; repaired: what belongs there. */
static double u_of(int repaired, double alpha, double square) {
    return pow(1.0 + square / alpha, repaired ? -1.0 : -(1.0 + alpha) / 2.0);
}

/* Section 2.1: the gradients of KL(P || Q), all pairs. */
static void printed_mcml(int repaired, const reference *r, const double *f, double *df,
                         double *dalpha) {
    const double a = r->alpha;
    reference_pairs t = reference_open(r, f);
    *dalpha = 0.0;
    for (size_t i = 0; i < N; i++)
        for (size_t k = 0; k < r->d; k++) df[i * r->d + k] = 0.0;
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++) {
            if (!reference_meet(r, i, j)) continue;
            const double square = t.square[i * N + j], x = 1.0 + square / a;
            const double pq = reference_target(r, &t, i, j) - t.q[i * N + j];
            for (size_t k = 0; k < r->d; k++)
                df[i * r->d + k] += 2.0 * (a + 1.0) / a * u_of(repaired, a, square) * pq *
                                    (f[i * r->d + k] - f[j * r->d + k]);
            *dalpha += pq * (0.5 * log(x) - (1.0 + a) * square / (2.0 * a * a * x));
        }
    reference_close(&t);
}

/* Section 2.2: the gradient of minus the sum of q_{j|i}. Repaired, its first and third terms have
 * the other sign. */
static void printed_nca(int repaired, const reference *r, const double *f, double *df) {
    const double a = r->alpha, sign = repaired ? -1.0 : 1.0;
    const size_t d = r->d;
    reference_pairs t = reference_open(r, f);
    for (size_t i = 0; i < N; i++)
        for (size_t k = 0; k < d; k++) {
            double own = 0.0, sum = 0.0;
            for (size_t j = 0; j < N; j++) {
                if (!reference_meet(r, i, j)) continue;
                const double u = u_of(repaired, a, t.square[i * N + j]),
                             v = f[i * d + k] - f[j * d + k]; /* v_ij; v_ji = -v */
                const double same = reference_same(r, i, j) ? 1.0 : 0.0;
                own += t.q[i * N + j] * u * v;
                sum += t.q[j * N + i] * u * -v * t.p[j];
                sum -= sign * same * t.q[i * N + j] * u * v;
                sum -= same * t.q[j * N + i] * u * -v;
            }
            df[i * d + k] = (1.0 + a) / a * (sign * t.p[i] * own + sum);
        }
    reference_close(&t);
}

/* The same by alpha. Repaired, log u is log(1 + D / alpha), and the whole has the other sign. */
static double printed_nca_alpha(int repaired, const reference *r, const double *f) {
    const double a = r->alpha;
    reference_pairs t = reference_open(r, f);
    double sum = 0.0;
    for (size_t i = 0; i < N; i++) {
        double own = 0.0;
        for (size_t j = 0; j < N; j++) {
            if (!reference_meet(r, i, j)) continue;
            const double square = t.square[i * N + j], u = u_of(repaired, a, square);
            const double log_u = repaired ? log(1.0 + square / a) : log(u);
            const double term = (1.0 + a) / 2.0 * u * square / (a * a) - 0.5 * log_u;
            if (reference_same(r, i, j)) sum += t.q[j * N + i] * term; /* q_{i|j} */
            own += t.q[i * N + j] * term;
        }
        sum -= t.p[i] * own;
    }
    reference_close(&t);
    return repaired ? -sum : sum;
}

static void what_min_prints(void **state) {
    (void)state;
    static double f[N * MOST_D], df[N * MOST_D], want[N * MOST_D];
    for (size_t a = 0; a < 4; a++)
        for (size_t k = 0; k < 3; k++) {
            reference r = {.loss = TRAIN_MCML,
                           .all_pairs = 1,
                           .student = 1,
                           .alpha = alphas[a],
                           .n = N,
                           .d = dims[k],
                           .label = label};
            double dalpha, by_alpha;
            draw(r.d, 1 + a, f);
            differences(r, f, want, &by_alpha);
            double off[2][4]; /* as printed, repaired */
            for (int repaired = 0; repaired < 2; repaired++) {
                printed_mcml(repaired, &r, f, df, &dalpha);
                off[repaired][0] = apart(N * r.d, df, want);
                off[repaired][1] = apart(1, &dalpha, &by_alpha);
            }
            r.loss = TRAIN_NCA, r.all_pairs = 0;
            differences(r, f, want, &by_alpha);
            for (size_t i = 0; i < N * r.d; i++) want[i] *= N; /* a sum, there */
            by_alpha *= N;
            for (int repaired = 0; repaired < 2; repaired++) {
                printed_nca(repaired, &r, f, df);
                dalpha = printed_nca_alpha(repaired, &r, f);
                off[repaired][2] = apart(N * r.d, df, want);
                off[repaired][3] = apart(1, &dalpha, &by_alpha);
            }
            printf("alpha %4.1f, d %2zu, as printed off by: dt-MCML %.1e, its alpha %.1e; dt-NCA "
                   "%.1e, its alpha %.1e\n",
                   r.alpha, r.d, off[0][0], off[0][1], off[0][2], off[0][3]);
            for (int i = 0; i < 4; i++) assert_true(off[1][i] < 1e-6);
            assert_true(alphas[a] == 1.0 ? off[0][0] < 1e-6 : off[0][0] > 0.1);
            assert_true(off[0][1] < 1e-6 && off[0][2] > 0.1 && off[0][3] > 0.1);
        }
}

/* Salakhutdinov & Hinton 2007, appendix: of the sum of p, which is maximised. */
static void what_salakhutdinov_prints(void **state) {
    (void)state;
    static double f[N * MOST_D], df[N * MOST_D], want[N * MOST_D];
    for (size_t k = 0; k < 3; k++) {
        const size_t d = dims[k];
        reference r = {.loss = TRAIN_NCA, .alpha = 1.0, .n = N, .d = d, .label = label};
        double by_alpha;
        draw(d, 7, f);
        differences(r, f, want, &by_alpha);
        reference_pairs t = reference_open(&r, f);
        for (size_t a = 0; a < N; a++)
            for (size_t u = 0; u < d; u++) {
                double same = 0.0, all = 0.0, back = 0.0;
                for (size_t b = 0; b < N; b++) {
                    if (!reference_meet(&r, a, b)) continue;
                    const double v = f[a * d + u] - f[b * d + u]; /* d_ab; d_la = -d_al */
                    const double is = reference_same(&r, a, b) ? 1.0 : 0.0;
                    same += is * t.q[a * N + b] * v, all += t.q[a * N + b] * v;
                    back += is * t.q[b * N + a] * -v - t.p[b] * t.q[b * N + a] * -v;
                }
                df[a * d + u] = -2.0 * (same - t.p[a] * all) + 2.0 * back;
                want[a * d + u] *= -(double)N;
            }
        reference_close(&t);
        const double error = apart(N * d, df, want);
        printf("Salakhutdinov & Hinton, d %2zu, as printed off by: %.1e\n", d, error);
        assert_true(error < 1e-6);
    }
}

/* --- the elements --------------------------------------------------------------------------- */

static void exp_and_log_are_near(void **state) {
    (void)state;
    for (float x = -100.0f; x < 127.0f; x += 0.00731f)
        assert_true(fabs((double)train_exp2(x) / exp2((double)x) - 1.0) < 2.5e-7);
    for (float x = 1e-30f; x < 1e37f; x *= 1.0037f)
        assert_true(fabs((double)train_log2_1p(x) * log(2.0) / log1p((double)x) - 1.0) < 2.5e-7);
    for (float x = -200.0f; x < 27.0f; x += 0.00731f)
        assert_true(x < -100.0f ? fabs((double)train_exp2_raised(x, 100) / exp2((double)x + 100) -
                                       1.0) < 2.5e-7
                                : train_exp2_raised(x, 100) == ldexpf(train_exp2(x), 100));
    assert_true(train_exp2_raised(-200.5f, 100) == 0.0f && train_exp2_raised(27, 100) <= 2e38f);
    assert_true(train_exp2(0.0f) == 1.0f && train_log2_1p(0.0f) == 0.0f);
    assert_true(train_exp2(-100.5f) == 0.0f && train_exp2(-INFINITY) == 0.0f);
    assert_true(isfinite(train_exp2(INFINITY)) && train_exp2(INFINITY) > 1e38f);
    assert_true(isinf(train_log2_1p(INFINITY)));
    assert_true(isnan(train_log2_1p(NAN)) && isnan(train_exp2(NAN)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_are_differences), cmocka_unit_test(what_min_prints),
        cmocka_unit_test(what_salakhutdinov_prints), cmocka_unit_test(exp_and_log_are_near)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
