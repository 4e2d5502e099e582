/* line_search.c -- bracketing and zooming to a strong Wolfe point; see line_search.h. */
#include "train/optimise/line_search.h"
#include <math.h>

typedef struct search {
    const train_line_options *options;
    train_line_function *phi;
    void *user;
    train_line_point start;
    train_line_result *result;
} search;

train_line_options train_line_defaults(void) { return (train_line_options){1e-4, 0.1, 25}; }

int train_line_legal(const train_line_options *o) {
    return o->c1 > 0.0 && o->c1 < o->c2 && o->c2 < 1.0 && o->evaluations > 0;
}

static int finite_point(const train_line_point *p) {
    return isfinite(p->value) && isfinite(p->slope);
}

static int gains(const search *s, const train_line_point *p) {
    return p->value <= s->start.value + s->options->c1 * p->alpha * s->start.slope;
}

static int budget_left(const search *s) {
    return s->result->evaluations < s->options->evaluations && !s->result->wolfe;
}

/* Evaluates phi at alpha, and keeps the point if it is the best so far or the result. */
static taper_status visit(search *s, double alpha, train_line_point *p) {
    train_line_result *r = s->result;
    *p = (train_line_point){alpha, 0.0, 0.0};
    TAPER_TRY(s->phi(s->user, alpha, &p->value, &p->slope));
    r->evaluations++;
    r->last = 0;
    if (!finite_point(p)) return TAPER_OK;
    int gained = gains(s, p);
    r->wolfe = gained && fabs(p->slope) <= s->options->c2 * fabs(s->start.slope);
    if (r->wolfe || (gained && p->value < r->point.value)) {
        r->point = *p;
        r->last = 1;
    }
    return TAPER_OK;
}

/* The minimum of the cubic through two values and slopes (Nocedal & Wright, equation 3.59); not
 * finite if there is none. The points may be in either order. */
static double cubic_minimum(const train_line_point *a, const train_line_point *b) {
    double width = b->alpha - a->alpha;
    double d1 = a->slope + b->slope - 3.0 * (b->value - a->value) / width;
    double root = sqrt(d1 * d1 - a->slope * b->slope);
    double d2 = width > 0.0 ? root : -root;
    return b->alpha - width * (b->slope + d2 - d1) / (b->slope - a->slope + 2.0 * d2);
}

/* Algorithm 3.6. There are Wolfe points between low and high. low has the lowest value so far among
 * points with sufficient decrease, and its slope points towards high. The value at high may not be
 * finite. Every third trial halves the interval. */
static taper_status zoom(search *s, train_line_point low, train_line_point high) {
    for (int round = 1; budget_left(s); round++) {
        double width = high.alpha - low.alpha; /* of either sign */
        double alpha = finite_point(&high) ? cubic_minimum(&low, &high) : NAN;
        double fraction = (alpha - low.alpha) / width;
        if (!isfinite(fraction) || round % 3 == 0) fraction = 0.5;
        alpha = low.alpha + fmin(fmax(fraction, 0.1), 0.9) * width;
        if (alpha == low.alpha || alpha == high.alpha) return TAPER_OK; /* limit of precision */
        train_line_point p;
        TAPER_TRY(visit(s, alpha, &p));
        if (!finite_point(&p) || !gains(s, &p) || p.value >= low.value) {
            high = p;
            continue;
        }
        if (p.slope * width >= 0.0) high = low;
        low = p;
    }
    return TAPER_OK;
}

/* The next trial beyond `now`, where phi still decreases: the minimum of the cubic, limited to 1.1
 * to 10 times the distance, and less than `wall`, the least alpha with a value that is not
 * finite. */
static double further(const train_line_point *before, const train_line_point *now, double wall) {
    double alpha = cubic_minimum(before, now);
    if (!(alpha > now->alpha)) alpha = 10.0 * now->alpha; /* also if there is no minimum */
    alpha = fmin(fmax(alpha, 1.1 * now->alpha), 10.0 * now->alpha);
    return alpha < wall ? alpha : now->alpha + 0.5 * (wall - now->alpha);
}

/* Algorithm 3.5. */
static taper_status bracket(search *s, double alpha) {
    train_line_point before = s->start, now;
    double wall = INFINITY;
    while (budget_left(s) && isfinite(alpha) && alpha > before.alpha) {
        TAPER_TRY(visit(s, alpha, &now));
        if (!finite_point(&now)) {
            wall = alpha;
            alpha = before.alpha + 0.1 * (wall - before.alpha);
            continue;
        }
        if (!gains(s, &now) || (before.alpha > 0.0 && now.value >= before.value))
            return zoom(s, before, now);
        if (now.slope >= 0.0) return zoom(s, now, before);
        alpha = further(&before, &now, wall);
        before = now;
    }
    return TAPER_OK;
}

taper_status train_line_search(const train_line_options *options, train_line_function *phi,
                               void *user, const train_line_point *start, double first,
                               train_line_result *result) {
    *result = (train_line_result){.point = *start};
    result->point.alpha = 0.0;
    if (!train_line_legal(options) || !finite_point(start) || !(start->slope < 0.0) ||
        !(first > 0.0) || !isfinite(first))
        return TAPER_ERR_ARG;
    search s = {options, phi, user, result->point, result};
    return bracket(&s, first);
}
