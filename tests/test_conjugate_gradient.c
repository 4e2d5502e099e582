/* test_conjugate_gradient.c -- the strong Wolfe line search on functions of one variable, and
 * conjugate gradients on quadratics and on Rosenbrock's valley, resumed, and on functions that
 * fail; on the processor and on its shadow. */
#include "on_device.h"
#include "train/optimise/conjugate_gradient.h"
#include "train/sampling/numbers.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- lines ---------------------------------------------------------------------------- */

static double parabola(double a) { return (a - 3.0) * (a - 3.0); }
static double parabola_slope(double a) { return 2.0 * (a - 3.0); }
static double quartic(double a) { return pow(a - 1.0, 4.0) - a; }
static double quartic_slope(double a) { return 4.0 * pow(a - 1.0, 3.0) - 1.0; }
static double wavy(double a) { return 1.0 - a + 0.9 * sin(7.0 * a) / 7.0 + 0.3 * a * a; }
static double wavy_slope(double a) { return -1.0 + 0.9 * cos(7.0 * a) + 0.6 * a; }
/* More and Thuente 1994, their first function: flat far from its minimum at sqrt(2) */
static double flat(double a) { return -a / (a * a + 2.0); }
static double flat_slope(double a) { return (a * a - 2.0) / ((a * a + 2.0) * (a * a + 2.0)); }
static double barrier(double a) { return a < 2.0 ? -log(2.0 - a) - 3.0 * a : NAN; }
static double barrier_slope(double a) { return a < 2.0 ? 1.0 / (2.0 - a) - 3.0 : NAN; }
static double cliff(double a) {
    return a < 1e-3 ? parabola(1e3 * a) : INFINITY;
} /* at alpha 1e-3 */
static double cliff_slope(double a) { return 1e3 * parabola_slope(1e3 * a); }
static double narrow(double a) { return cosh(1e4 * (a - 1e-5)); }
static double narrow_slope(double a) { return 1e4 * sinh(1e4 * (a - 1e-5)); }
static double downhill(double a) { return -a; }
static double downhill_slope(double a) { return (void)a, -1.0; }

typedef struct curve {
    double (*value)(double), (*slope)(double);
    int calls, fail_at;
} curve;

static taper_status follow(void *user, double alpha, double *value, double *slope) {
    curve *c = user;
    assert_true(alpha > 0.0 && isfinite(alpha));
    if (++c->calls == c->fail_at) return TAPER_ERR_DEVICE;
    *value = c->value(alpha);
    *slope = c->slope(alpha);
    return TAPER_OK;
}

static train_line_result search(curve *c, double first, const train_line_options *options) {
    train_line_point start = {0.0, c->value(0.0), c->slope(0.0)};
    train_line_result r;
    assert_int_equal(train_line_search(options, follow, c, &start, first, &r), TAPER_OK);
    assert_int_equal(r.evaluations, c->calls);
    assert_true(r.evaluations <= options->evaluations);
    return r;
}

static void wolfe_conditions_hold(void **state) {
    (void)state;
    static const curve curves[] = {{parabola, parabola_slope, 0, 0}, {quartic, quartic_slope, 0, 0},
                                   {wavy, wavy_slope, 0, 0},         {flat, flat_slope, 0, 0},
                                   {barrier, barrier_slope, 0, 0},   {narrow, narrow_slope, 0, 0}};
    static const double c2[] = {0.9, 0.1, 1e-3};
    uint32_t most = 0;
    for (size_t i = 0; i < sizeof curves / sizeof *curves; i++)
        for (size_t j = 0; j < 3; j++)
            for (double first = 1e-6; first < 1e4; first *= 10.0) {
                train_line_options o = train_line_defaults();
                o.c2 = c2[j];
                curve c = curves[i];
                train_line_result r = search(&c, first, &o);
                const train_line_point *p = &r.point;
                double value = c.value(0.0), slope = c.slope(0.0);
                if (!r.wolfe) fail_msg("curve %zu from %g: no Wolfe point", i, first);
                assert_true(p->alpha > 0.0 && r.last);
                assert_true(p->value == c.value(p->alpha) && p->slope == c.slope(p->alpha));
                assert_true(p->value <= value + o.c1 * p->alpha * slope);
                assert_true(fabs(p->slope) <= o.c2 * fabs(slope));
                if (r.evaluations > most) most = r.evaluations;
            }
    printf("at most %u evaluations\n", most);
}

static void searches_without_such_a_point_end(void **state) {
    (void)state;
    train_line_options o = train_line_defaults();
    curve c = {downhill, downhill_slope, 0, 0};
    train_line_result r = search(&c, 1.0, &o);
    assert_true(!r.wolfe && r.last && r.point.alpha > 1e6 && r.point.value == -r.point.alpha);
    c = (curve){cliff, cliff_slope, 0, 0}; /* its minimum lies behind the cliff */
    r = search(&c, 1.0, &o);
    assert_true(!r.wolfe && r.point.alpha > 0.0009 && r.point.alpha < 0.001);
    o.evaluations = 1;
    c = (curve){narrow, narrow_slope, 0, 0};
    r = search(&c, 1.0, &o);
    assert_true(!r.wolfe && !r.last && r.point.alpha == 0.0 && r.point.value == cosh(-0.1));
    train_line_point start = {0.0, 9.0, -6.0};
    c = (curve){parabola, parabola_slope, 0, 1};
    assert_int_equal(train_line_search(&o, follow, &c, &start, 1.0, &r), TAPER_ERR_DEVICE);
}

static void wrong_lines_are_refused(void **state) {
    (void)state;
    for (int i = 0; i < 9; i++) {
        train_line_options o = train_line_defaults();
        train_line_point start = {0.0, 9.0, -6.0};
        train_line_result r;
        double first = 1.0;
        curve c = {parabola, parabola_slope, 0, 0};
        if (i == 0) o.c1 = 0.0;
        if (i == 1) o.c2 = 1.0;
        if (i == 2) o.c1 = 0.2;
        if (i == 3) o.evaluations = 0;
        if (i == 4) start.slope = 0.0;
        if (i == 5) start.value = NAN;
        if (i == 6) start.slope = -INFINITY;
        if (i == 7) first = 0.0;
        if (i == 8) first = INFINITY;
        assert_int_equal(train_line_search(&o, follow, &c, &start, first, &r), TAPER_ERR_ARG);
        assert_true(c.calls == 0 && r.point.alpha == 0.0 && !r.wolfe);
    }
}

/* --- functions of many variables, in double inside ------------------------------------ */

enum { MOST = 40 };

typedef struct problem {
    double (*at)(const struct problem *, const double *x, double *gradient);
    size_t n;
    double centre; /* of the quadratic */
    int calls, fail_at, poison_at;
} problem;

/* Curvatures from 1 to 10, neighbours mixed; minimum 2 at centre. */
static double quadratic(const problem *p, const double *x, double *gradient) {
    double sum = 2.0, turned[MOST], back;
    for (size_t i = 0; i < p->n; i++)
        turned[i] = 0.9 * (x[i] - p->centre) + 0.3 * (x[(i + 1) % p->n] - p->centre);
    for (size_t i = 0; i < p->n; i++) {
        double curvature = 1.0 + 9.0 * (double)i / (double)p->n;
        sum += 0.5 * curvature * turned[i] * turned[i];
        turned[i] *= curvature;
    }
    for (size_t i = 0; i < p->n; i++) {
        back = turned[(i + p->n - 1) % p->n];
        gradient[i] = 0.9 * turned[i] + 0.3 * back;
    }
    return sum;
}

/* Rosenbrock's valley in n dimensions; minimum 0 at (1, ..., 1). */
static double rosenbrock(const problem *p, const double *x, double *gradient) {
    double sum = 0.0;
    for (size_t i = 0; i < p->n; i++) gradient[i] = 0.0;
    for (size_t i = 0; i + 1 < p->n; i++) {
        double bend = x[i + 1] - x[i] * x[i], rest = 1.0 - x[i];
        sum += 100.0 * bend * bend + rest * rest;
        gradient[i] += -400.0 * bend * x[i] - 2.0 * rest;
        gradient[i + 1] += 200.0 * bend;
    }
    return sum;
}

/* A search over a problem's variables, which lie on a device. */
typedef struct searched {
    train_weights w;
    train_arena arena;
    train_cg cg;
    problem *p;
} searched;

static on_device where; /* the processor, then its shadow */

static taper_status objective(void *user, double *value) {
    searched *s = user;
    problem *p = s->p;
    float parameter[MOST], gradient[MOST];
    double x[MOST], g[MOST];
    p->calls++;
    if (p->calls == p->fail_at) return TAPER_ERR_DEVICE;
    TAPER_TRY(train_download(&where.stream, parameter, s->w.parameter, p->n * sizeof *parameter));
    for (size_t i = 0; i < p->n; i++) x[i] = parameter[i];
    *value = p->at(p, x, g);
    for (size_t i = 0; i < p->n; i++) gradient[i] = (float)g[i];
    if (p->calls == p->poison_at) gradient[p->n / 2] = NAN;
    return train_upload(&where.stream, s->w.gradient, gradient, p->n * sizeof *gradient);
}

static searched *begin(problem *p, const float *x) {
    searched *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->p = p;
    train_weights_lay_out(&s->w, &s->arena, p->n, TRAIN_WEIGHTS_TRAIN);
    assert_int_equal(train_arena_alloc(&s->arena, &where.device), TAPER_OK);
    train_weights_lay_out(&s->w, &s->arena, p->n, TRAIN_WEIGHTS_TRAIN);
    assert_int_equal(train_cg_create(&s->cg, &where.stream, &s->w), TAPER_OK);
    assert_int_equal(train_upload(&where.stream, s->w.parameter, x, p->n * sizeof *x), TAPER_OK);
    return s;
}

static void end(searched *s) {
    train_cg_free(&s->cg);
    assert_null(s->cg.start);
    train_arena_free(&s->arena);
    free(s);
}

/* One step; x is what it leaves. */
static taper_status step_from(searched *s, float *x, const train_cg_options *o,
                              train_cg_result *r) {
    taper_status status = train_cg_step(&s->cg, objective, s, o, r);
    on_device_take(&where, x, s->w.parameter, s->p->n * sizeof *x);
    return status;
}

static void quadratics_take_n_steps(void **state) {
    (void)state;
    for (size_t n = 1; n <= 20; n++) {
        problem p = {.at = quadratic, .n = n, .centre = 0.5};
        float x[MOST];
        searched *s;
        train_cg_options o = train_cg_defaults();
        train_cg_result r;
        o.line.c2 = 1e-3; /* nearly exact lines, as the theory has it */
        o.same_objective = 1;
        for (size_t i = 0; i < n; i++) x[i] = (float)i / 5.0f - 1.0f;
        s = begin(&p, x);
        for (size_t step = 0; step < n; step++) {
            int before = p.calls;
            assert_int_equal(step_from(s, x, &o, &r), TAPER_OK);
            assert_int_equal(r.evaluations, p.calls - before);
            assert_true(r.value <= r.value_before && r.restarted == (step == 0) && r.wolfe);
        }
        if (!(r.value - 2.0 < 1e-6)) fail_msg("%zu variables: %g left", n, r.value - 2.0);
        for (size_t i = 0; i < n; i++) assert_true(fabsf(x[i] - 0.5f) < 1e-3f);
        end(s);
    }
}

/* The slope at one end of a step against central differences of the objective, in double, along
 * the line that was searched: relative to the slope at the start. */
static double slope_error(problem *p, const float *x, const float *direction, double alpha,
                          double slope, double scale) {
    double y[2], g[MOST], at[MOST], h = 1e-5 / sqrt(train_dot(p->n, direction, direction));
    for (int side = 0; side < 2; side++) {
        for (size_t i = 0; i < p->n; i++) at[i] = x[i] + (alpha + (side ? h : -h)) * direction[i];
        y[side] = p->at(p, at, g);
    }
    return fabs((y[1] - y[0]) / (2.0 * h) - slope) / fabs(scale);
}

static void valleys_are_followed(void **state) {
    (void)state;
    static const size_t sizes[] = {2, 10};
    for (int size = 0; size < 2; size++) {
        problem p = {.at = rosenbrock, .n = sizes[size]};
        float x[MOST], before[MOST], along[MOST];
        searched *s;
        train_cg_options o = train_cg_defaults();
        train_cg_result r = {0};
        o.same_objective = 1;
        for (size_t i = 0; i < p.n; i++) x[i] = i % 2 ? 1.0f : -1.2f;
        s = begin(&p, x);
        uint32_t step = 0, wolfe = 0, since = 0;
        double worst = 0.0;
        do {
            memcpy(before, x, sizeof x);
            assert_int_equal(step_from(s, x, &o, &r), TAPER_OK);
            /* the direction of a step along -g is no longer there, so take it from the parameters
             */
            for (size_t i = 0; i < p.n && r.alpha > 0.0; i++)
                along[i] = (float)((x[i] - before[i]) / r.alpha);
            wolfe += (uint32_t)r.wolfe;
            since = r.restarted ? 1 : since + 1;
            assert_true(since <= p.n && (step || r.restarted));
            assert_true(r.value <= r.value_before + 1e-4 * r.alpha * r.slope_before);
            assert_true(fabs(r.slope) <= 0.1 * fabs(r.slope_before));
            if (step < 5) {
                double e0 = slope_error(&p, before, along, 0.0, r.slope_before, r.slope_before);
                double e1 = slope_error(&p, before, along, r.alpha, r.slope, r.slope_before);
                worst = fmax(worst, fmax(e0, e1));
            }
        } while (++step < 300 && r.value > 1e-8);
        printf("%zu dimensions: %u steps, %d evaluations, %u with Wolfe conditions, slopes to %g\n",
               p.n, step, p.calls, wolfe, worst);
        assert_true(step < 300 && wolfe == step && worst < 1e-5);
        for (size_t i = 0; i < p.n; i++) assert_true(fabsf(x[i] - 1.0f) < 1e-3f);
        end(s);
    }
}

/* The slope that the search is given, along a known direction, to 1e-6 of central differences. */
static void slopes_equal_finite_differences(void **state) {
    (void)state;
    problem p = {.at = rosenbrock, .n = 10};
    float x[MOST], direction[MOST];
    searched *s;
    train_cg_result r;
    train_cg_options o = train_cg_defaults();
    o.same_objective = 1;
    for (size_t i = 0; i < p.n; i++) x[i] = i % 2 ? 1.0f : -1.2f;
    s = begin(&p, x);
    for (int step = 0; step < 12; step++) {
        float before[MOST];
        on_device_take(&where, direction, s->w.m, sizeof(float) * p.n); /* what comes next */
        memcpy(before, x, sizeof x);
        assert_int_equal(step_from(s, x, &o, &r), TAPER_OK);
        if (r.restarted) continue;
        double e = slope_error(&p, before, direction, 0.0, r.slope_before, r.slope_before);
        if (!(e < 1e-6)) fail_msg("step %d: %g", step, e);
    }
    end(s);
}

/* --- other examples in every step ----------------------------------------------------- */

static void minibatches_are_followed(void **state) {
    (void)state;
    problem p = {.at = quadratic, .n = 12};
    float x[MOST] = {0};
    searched *s;
    train_cg_options o = train_cg_defaults();
    train_cg_result r;
    uint32_t along_gradient = 0;
    s = begin(&p, x);
    for (int step = 0; step < 40; step++) {
        p.centre = 3.0 + 0.05 * (step % 3 - 1); /* what all batches share, and what they do not */
        assert_int_equal(step_from(s, x, &o, &r), TAPER_OK);
        assert_true(r.wolfe);
        along_gradient += (uint32_t)r.restarted;
    }
    for (size_t i = 0; i < p.n; i++) assert_true(fabsf(x[i] - 3.0f) < 0.2f);
    assert_true(along_gradient < 20);
    end(s);
}

static void resumed_run_equals_unbroken(void **state) {
    (void)state;
    enum { N = 10, STEPS = 30, BREAK = 13 };
    for (int same = 0; same < 2; same++) {
        float x[2][N];
        double value[2];
        for (int broken = 0; broken < 2; broken++) {
            problem p = {.at = rosenbrock, .n = N};
            searched *s;
            train_cg_options o = train_cg_defaults();
            train_cg_result r;
            o.same_objective = same;
            for (int i = 0; i < N; i++) x[broken][i] = i % 3 ? 0.3f : -0.7f;
            s = begin(&p, x[broken]);
            for (int step = 0; step < STEPS; step++) {
                if (broken && step == BREAK) { /* all that a checkpoint holds, into a new state */
                    searched *old = s;
                    float direction[N], gradient[N];
                    s = begin(&p, x[broken]);
                    on_device_take(&where, direction, old->w.m, sizeof direction);
                    on_device_take(&where, gradient, old->w.v, sizeof gradient);
                    assert_int_equal(
                        train_upload(&where.stream, s->w.m, direction, sizeof direction), TAPER_OK);
                    assert_int_equal(train_upload(&where.stream, s->w.v, gradient, sizeof gradient),
                                     TAPER_OK);
                    s->cg.state = old->cg.state;
                    end(old);
                }
                assert_int_equal(step_from(s, x[broken], &o, &r), TAPER_OK);
            }
            assert_int_equal(s->cg.state.iterations, STEPS);
            value[broken] = r.value;
            end(s);
        }
        assert_true(value[0] == value[1] && value[0] < 8.0);
        assert_memory_equal(x[0], x[1], sizeof x[0]);
        static float processor[2][N];
        if (where.device.in_host_memory) memcpy(processor[same], x[0], sizeof x[0]);
        assert_memory_equal(processor[same], x[0], sizeof x[0]);
    }
}

/* --- failures ------------------------------------------------------------------------- */

static void failures_leave_the_parameters(void **state) {
    (void)state;
    for (int i = 0; i < 7; i++) {
        problem p = {.at = quadratic, .n = 6, .centre = 1.0};
        float x[MOST] = {0}, before[MOST], kept[6];
        searched *s;
        train_cg_options o = train_cg_defaults();
        train_cg_result r;
        s = begin(&p, x);
        assert_int_equal(step_from(s, x, &o, &r), TAPER_OK);
        memcpy(before, x, sizeof x);
        on_device_take(&where, kept, s->w.m, sizeof kept);
        taper_status wanted = TAPER_ERR_ARG;
        if (i == 0) p.poison_at = p.calls + 1;
        if (i == 1) p.centre = NAN;
        if (i == 2) p.fail_at = p.calls + 1, wanted = TAPER_ERR_DEVICE;
        if (i == 3) p.fail_at = p.calls + 2, wanted = TAPER_ERR_DEVICE;
        if (i == 4) o.first_length = 0.0;
        if (i == 5) o.line.c2 = 2.0;
        if (i == 6) o.line.evaluations = 0;
        assert_int_equal(step_from(s, x, &o, NULL), wanted);
        assert_memory_equal(x, before, sizeof x);
        if (wanted == TAPER_ERR_ARG) {
            float direction[6];
            on_device_take(&where, direction, s->w.m, sizeof direction);
            assert_memory_equal(direction, kept, sizeof kept);
            assert_int_equal(s->cg.state.iterations, 1);
        } else {
            assert_int_equal(s->cg.state.iterations, 0);
        }
        p.centre = 1.0, p.poison_at = p.fail_at = 0, o = train_cg_defaults(); /* and it goes on */
        assert_int_equal(step_from(s, x, &o, &r), TAPER_OK);
        assert_true(r.wolfe && r.value < r.value_before);
        end(s);
    }
}

/* A line that ended early says nothing about curvature: the next step goes along -g. */
static void unfinished_lines_begin_anew(void **state) {
    (void)state;
    problem p = {.at = quadratic, .n = 6, .centre = 1.0};
    float x[MOST] = {0};
    searched *s;
    train_cg_options o = train_cg_defaults();
    train_cg_result r;
    o.same_objective = 1;
    s = begin(&p, x);
    for (int step = 0; step < 5; step++) {
        o.line.evaluations = step == 2 ? 1 : 25;
        o.line.c2 = step == 2 ? 1e-3 : 0.1;
        assert_int_equal(step_from(s, x, &o, &r), TAPER_OK);
        assert_int_equal(r.wolfe, step != 2);
        assert_int_equal(r.restarted, step == 0 || step == 3);
        if (r.restarted)
            assert_true(fabs(r.slope_before + r.gradient_norm * r.gradient_norm) < 1e-6);
    }
    end(s);
}

/* A gradient that is NaN on the way is a reason for a shorter step, not for an end. */
static void bad_trials_shorten_the_step(void **state) {
    (void)state;
    problem p = {.at = quadratic, .n = 6, .centre = 1.0, .poison_at = 2};
    float x[MOST] = {0};
    searched *s;
    train_cg_options o = train_cg_defaults();
    train_cg_result r;
    s = begin(&p, x);
    assert_int_equal(step_from(s, x, &o, &r), TAPER_OK);
    assert_true(r.value < r.value_before && isfinite(r.slope));
    end(s);
}

static void minimum_is_where_it_stops(void **state) {
    (void)state;
    problem p = {.at = quadratic, .n = 6, .centre = 1.0};
    float x[6] = {1, 1, 1, 1, 1, 1};
    searched *s;
    train_cg_options o = train_cg_defaults();
    train_cg_result r;
    s = begin(&p, x);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(step_from(s, x, &o, &r), TAPER_OK);
        assert_true(r.alpha == 0.0 && r.wolfe && r.gradient_norm == 0.0 && r.value == 2.0);
        assert_int_equal(r.evaluations, 1);
    }
    x[0] = 3.0f; /* from there it starts again */
    assert_int_equal(train_upload(&where.stream, s->w.parameter, x, sizeof x), TAPER_OK);
    for (int i = 0; i < 10; i++) assert_int_equal(step_from(s, x, &o, &r), TAPER_OK);
    assert_true(r.value < 2.00001);
    end(s);
}

static void dot_products_are_exact_sums(void **state) {
    (void)state;
    float a[100], b[100];
    for (size_t n = 0; n <= 100; n++) {
        double wanted = 0.0;
        for (size_t i = 0; i < n; i++) {
            a[i] = (float)(i * i) - 50.0f;
            b[i] = 0.25f * (float)i;
            wanted += (double)a[i] * b[i]; /* all of it fits in 53 bits */
        }
        assert_true(train_dot(n, a, b) == wanted);
    }
}

/* Every operation of two steps loses the device: no step says that it was taken. */
static void lost_devices_are_reported(void **state) {
    (void)state;
    taper_status status = TAPER_ERR_DEVICE;
    uint64_t k = 0;
    while (status == TAPER_ERR_DEVICE) {
        problem p = {.at = rosenbrock, .n = 10};
        float x[MOST] = {0};
        searched *s = begin(&p, x);
        train_cg_options o = train_cg_defaults();
        train_processor_fail(&where.device, 0, ++k);
        for (int step = 0; step < 2; step++) {
            status = train_cg_step(&s->cg, objective, s, &o, NULL);
            if (status != TAPER_OK) break;
        }
        train_processor_fail(&where.device, 0, 0);
        end(s);
    }
    assert_int_equal(status, TAPER_OK);
    assert_true(k > 30);
}

static int open_processor(void **state) {
    (void)state;
    on_device_open(&where, TRAIN_PROCESSOR);
    return 0;
}

static int open_shadow(void **state) {
    (void)state;
    on_device_open(&where, TRAIN_SHADOW);
    return 0;
}

static int close_device(void **state) {
    (void)state;
    on_device_close(&where);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wolfe_conditions_hold),
        cmocka_unit_test(searches_without_such_a_point_end),
        cmocka_unit_test(wrong_lines_are_refused),
        cmocka_unit_test(quadratics_take_n_steps),
        cmocka_unit_test(valleys_are_followed),
        cmocka_unit_test(slopes_equal_finite_differences),
        cmocka_unit_test(minibatches_are_followed),
        cmocka_unit_test(resumed_run_equals_unbroken),
        cmocka_unit_test(failures_leave_the_parameters),
        cmocka_unit_test(unfinished_lines_begin_anew),
        cmocka_unit_test(bad_trials_shorten_the_step),
        cmocka_unit_test(minimum_is_where_it_stops),
        cmocka_unit_test(lost_devices_are_reported),
        cmocka_unit_test(dot_products_are_exact_sums),
    };
    int failed = cmocka_run_group_tests(tests, open_processor, close_device);
    return failed + cmocka_run_group_tests(tests, open_shadow, close_device);
}
