/* truncation.c -- drawing thresholds and truncations; see truncation.h. */
#include "train/sampling/truncation.h"
#include "formats/file.h"
#include "train/sampling/numbers.h"
#include "train/sampling/philox.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

uint32_t train_truncation_from_uniform(float u, float rho, uint32_t units) {
    if (!(rho > 0.0f)) return 1;
    if (!(rho < 1.0f)) return units;
    /* P(b > n) = rho^n, so b = 1 + floor(log(1 - u) / log(rho)) */
    double extra = floor(log1p(-(double)u) / log((double)rho));
    return extra >= (double)(units - 1) ? units : 1 + (uint32_t)extra;
}

train_cut train_cut_draw(const train_cut_range *range, uint32_t units, uint64_t seed, uint64_t step,
                         uint64_t index) {
    uint32_t word[4];
    train_philox(seed, index, TRAIN_STREAM_CUT + (step << 8), word);
    double low = log((double)range->threshold_low), high = log((double)range->threshold_high);
    float u = train_philox_uniform(word[0]);
    train_cut cut = {(float)exp(low + (high - low) * u), units};
    if (range->lengths)
        cut.threshold = range->threshold_at[train_truncation_draw(range->lengths, 0, u) - 1];
    if (train_philox_uniform(word[1]) < range->truncated_fraction)
        cut.kept = train_truncation_from_uniform(train_philox_uniform(word[2]), range->rho, units);
    return cut;
}

/* --- distributions over lengths ------------------------------------------------------- */

void train_truncation_free(train_truncation *t) {
    free(t->mass); /* tail is part of it */
    memset(t, 0, sizeof *t);
}

static taper_status take_memory(train_truncation *t, uint32_t units, taper_error *error) {
    *t = (train_truncation){0};
    if (!units) return formats_fail(error, TAPER_ERR_ARG, "a code needs at least one unit");
    if (units < UINT32_MAX) t->mass = calloc((size_t)units + 1, 2 * sizeof *t->mass);
    if (!t->mass)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory for %u code lengths", units);
    t->units = units;
    t->tail = t->mass + units;
    return TAPER_OK;
}

/* Normalises masses, which are finite, not negative and not all 0. Tails are summed from the end,
 * smallest first, to keep the precision of a geometric distribution. */
static void normalise(train_truncation *t) {
    double largest = 0.0, sum = 0.0;
    for (uint32_t i = 0; i < t->units; i++) largest = fmax(largest, t->mass[i]);
    for (uint32_t i = t->units; i--;) {
        t->mass[i] /= largest; /* so that the sum cannot overflow */
        sum += t->mass[i];
    }
    for (uint32_t i = t->units; i--;) {
        t->mass[i] /= sum;
        t->tail[i] = t->tail[i + 1] + t->mass[i];
    }
}

uint32_t train_truncation_draw(const train_truncation *t, uint32_t first, float u) {
    if (first >= t->units) return t->units;
    /* P(b > i | b > first) falls with i; b is the first i at which it is below 1 - u */
    double level = t->tail[first] * (1.0 - (double)u);
    uint32_t low = first, high = t->units; /* tail[low] >= level; tail[high] < level, or no mass */
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (t->tail[middle] < level)
            high = middle;
        else
            low = middle;
    }
    return high;
}

/* --- specifications ------------------------------------------------------------------- */

static taper_status fill_geometric(train_truncation *t, const char *text, taper_error *error) {
    double rho;
    const char *rest = train_number(text, &rho);
    if (!rest || *rest || !(rho > 0.0 && rho < 1.0))
        return formats_fail(error, TAPER_ERR_ARG,
                            "\"%.40s\" is not a rate of a geometric distribution: give a number "
                            "between 0 and 1, as in geometric:0.97",
                            text);
    double tail = 1.0;
    for (uint32_t i = 0; i + 1 < t->units; i++) {
        t->mass[i] = tail * (1.0 - rho);
        tail *= rho;
    }
    t->mass[t->units - 1] = tail;
    return TAPER_OK;
}

/* Mass proportional to b^-exponent, and a fraction of all mass on the last length. */
static void fill_power(train_truncation *t, double exponent, double at_end) {
    double sum = 0.0;
    for (uint32_t b = 1; b <= t->units; b++) sum += pow(b, -exponent);
    for (uint32_t b = 1; b <= t->units; b++)
        t->mass[b - 1] = (1.0 - at_end) * pow(b, -exponent) / sum;
    t->mass[t->units - 1] += at_end;
}

static taper_status fill_log_uniform(train_truncation *t, const char *text, taper_error *error) {
    double at_end;
    const char *rest = train_number(text, &at_end);
    if (!rest || *rest || !(at_end >= 0.0 && at_end < 1.0))
        return formats_fail(error, TAPER_ERR_ARG,
                            "\"%.40s\" is not a fraction of whole codes: give a number from 0 to "
                            "below 1, as in log-uniform:0.8; none stands for 1",
                            text);
    fill_power(t, 1.0, at_end);
    return TAPER_OK;
}

static taper_status fill_from_power(train_truncation *t, const char *text, taper_error *error) {
    double exponent, at_end = 0.0;
    const char *rest = train_number(text, &exponent);
    if (rest && *rest == ',') rest = train_number(rest + 1, &at_end);
    if (!rest || *rest || !(exponent >= 0.0 && exponent <= 4.0) || !(at_end >= 0.0 && at_end < 1.0))
        return formats_fail(
            error, TAPER_ERR_ARG,
            "\"%.40s\" is not a power: give an exponent from 0 to 4 and a fraction of "
            "whole codes from 0 to below 1, as in power:0.5,0.3",
            text);
    fill_power(t, exponent, at_end);
    return TAPER_OK;
}

static const char blanks[] = " \t\r\n\v\f";

/* Parses one number of a file. */
static taper_status read_mass(const char **at, size_t line, double *mass, taper_error *error) {
    const char *rest = train_number(*at, mass);
    if (!rest || !(strchr(blanks, *rest) || *rest == '#')) { /* strchr also finds the final 0 */
        size_t length = strcspn(*at, blanks);
        return formats_fail(error, TAPER_ERR_ARG, "line %zu: \"%.*s\" is not a number", line,
                            length > 40 ? 40 : (int)length, *at);
    }
    if (!(*mass > 0.0))
        return formats_fail(error, TAPER_ERR_ARG,
                            "line %zu: %g is not above 0: give every length some weight, or use "
                            "ladder: for a few lengths alone",
                            line, *mass);
    *at = rest;
    return TAPER_OK;
}

/* Parses the numbers of a 0-terminated text; stores the first `capacity` of them in mass[]. */
static taper_status read_masses(const char *text, double *mass, size_t capacity, size_t *found,
                                taper_error *error) {
    size_t line = 1;
    *found = 0;
    for (const char *at = text; *at;) {
        if (*at == '#') {
            at += strcspn(at, "\n");
        } else if (strchr(blanks, *at)) {
            line += *at++ == '\n';
        } else {
            double one = 0.0;
            TAPER_TRY(read_mass(&at, line, &one, error));
            if (*found < capacity) mass[*found] = one;
            ++*found;
        }
    }
    return TAPER_OK;
}

static taper_status check_masses(const train_truncation *t, size_t found, taper_error *error) {
    double sum = 0.0;
    if (found != t->units)
        return formats_fail(error, TAPER_ERR_ARG,
                            "%zu numbers where %u are wanted, one for each code length from 1 to "
                            "%u",
                            found, t->units, t->units);
    for (size_t i = 0; i < found; i++) sum += t->mass[i];
    if (!(fabs(sum - 1.0) <= 1e-3))
        return formats_fail(error, TAPER_ERR_ARG,
                            "the numbers sum to %.6g, not to 1: divide each by the sum", sum);
    return TAPER_OK;
}

/* Reads a file into a malloc'd, 0-terminated text. */
static taper_status read_text(const char *path, char **text, taper_error *error) {
    uint8_t *bytes;
    size_t size;
    TAPER_TRY(formats_file_read(path, (uint64_t)1 << 26, &bytes, &size, error));
    *text = realloc(bytes, size + 1);
    if (!*text) {
        free(bytes);
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory for %zu bytes", size);
    }
    (*text)[size] = '\0';
    size_t length = strlen(*text);
    if (length == size) return TAPER_OK;
    free(*text);
    return formats_fail(error, TAPER_ERR_ARG, "byte %zu is 0: this is not a text file", length + 1);
}

static taper_status fill_from_file(train_truncation *t, const char *path, taper_error *error) {
    char *text;
    size_t found;
    TAPER_TRY(read_text(path, &text, error));
    taper_status status = read_masses(text, t->mass, t->units, &found, error);
    if (status == TAPER_OK) status = check_masses(t, found, error);
    free(text);
    return status;
}

static taper_status fill_ladder(train_truncation *t, const char *text, taper_error *error) {
    uint32_t length = 0, before = 0, weighted = 0, n = 0;
    for (const char *at = text;; at++) {
        double weight = 1.0;
        const char *rest = train_whole_number(at, &length);
        if (!rest || length < 1 || length > t->units)
            return formats_fail(error, TAPER_ERR_ARG,
                                "\"%.40s\" does not begin with a code length from 1 to %u", at,
                                t->units);
        if (length <= before)
            return formats_fail(error, TAPER_ERR_ARG,
                                "code length %u stands behind %u: write them in rising order",
                                length, before);
        if (*rest == '=') {
            const char *number = rest + 1;
            rest = train_number(number, &weight);
            weighted++;
            if (!rest || !(weight > 0.0))
                return formats_fail(error, TAPER_ERR_ARG,
                                    "the weight of code length %u is not a positive number: "
                                    "\"%.40s\"",
                                    length, number);
        }
        t->mass[(before = length) - 1] = weight;
        n++;
        if (!*(at = rest)) break;
        if (*at != ',')
            return formats_fail(error, TAPER_ERR_ARG,
                                "\"%.40s\" behind code length %u: separate lengths by commas", at,
                                length);
    }
    if (weighted && weighted != n)
        return formats_fail(error, TAPER_ERR_ARG,
                            "%u of %u code lengths have a weight: give it to all or to none",
                            weighted, n);
    return TAPER_OK;
}

static taper_status fill(train_truncation *t, const char *spec, taper_error *error) {
    if (!strncmp(spec, "geometric:", 10)) return fill_geometric(t, spec + 10, error);
    if (!strncmp(spec, "log-uniform:", 12)) return fill_log_uniform(t, spec + 12, error);
    if (!strncmp(spec, "power:", 6)) return fill_from_power(t, spec + 6, error);
    if (!strncmp(spec, "file:", 5)) return fill_from_file(t, spec + 5, error);
    if (!strncmp(spec, "ladder:", 7)) return fill_ladder(t, spec + 7, error);
    if (!strcmp(spec, "uniform")) {
        for (uint32_t i = 0; i < t->units; i++) t->mass[i] = 1.0;
        return TAPER_OK;
    }
    return formats_fail(error, TAPER_ERR_ARG,
                        "\"%.60s\" is no distribution of code lengths: there are geometric:RHO, "
                        "log-uniform:E, power:A,E, uniform, file:PATH and ladder:16,32,64",
                        spec);
}

/* The number of lengths that the specification defines. */
static taper_status own_lengths(const char *spec, uint32_t *lengths, taper_error *error) {
    char *text;
    size_t found = 0;
    *lengths = 0;
    if (!strncmp(spec, "ladder:", 7)) {
        const char *comma = strrchr(spec, ',');
        train_whole_number(comma ? comma + 1 : spec + 7, lengths); /* unchanged if not a number */
        return TAPER_OK;
    }
    if (strncmp(spec, "file:", 5) != 0)
        return formats_fail(error, TAPER_ERR_ARG,
                            "\"%.60s\" does not say how many lengths there are: give file:PATH or "
                            "ladder:16,32,64",
                            spec);
    TAPER_TRY(read_text(spec + 5, &text, error));
    taper_status status = read_masses(text, NULL, 0, &found, error);
    free(text);
    if (status == TAPER_OK && found > UINT32_MAX - 1)
        return formats_fail(error, TAPER_ERR_LIMIT, "%zu numbers are too many", found);
    *lengths = (uint32_t)found;
    return status;
}

taper_status train_truncation_make(train_truncation *t, const char *spec, uint32_t units,
                                   taper_error *error) {
    *t = (train_truncation){0};
    if (!units) TAPER_TRY(own_lengths(spec, &units, error));
    TAPER_TRY(take_memory(t, units, error));
    taper_status status = fill(t, spec, error);
    if (status == TAPER_OK)
        normalise(t);
    else
        train_truncation_free(t);
    return status;
}
