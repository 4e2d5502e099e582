/* code_tables.c -- memory, order and serialised form of code tables; see code_tables.h. */
#include "codec/bitplane/code_tables.h"
#include "codec/bitplane/conditional.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

taper_status codec_code_tables_alloc(codec_code_tables *t, uint32_t units) {
    memset(t, 0, sizeof *t);
    t->units = units;
    t->fractions = 1;
    t->step = calloc(units, sizeof *t->step);
    t->planes = calloc(units, sizeof *t->planes);
    t->log_scale = calloc(units, sizeof *t->log_scale);
    if (t->step && t->planes && t->log_scale) return TAPER_OK;
    codec_code_tables_free(t);
    return TAPER_ERR_NOMEM;
}

void codec_code_tables_free(codec_code_tables *t) {
    free(t->step), free(t->planes), free(t->log_scale), free(t->rd_slope), free(t->pass);
    free(t->density);
    if (t->conditional) codec_conditional_free(t->conditional);
    if (t->head) codec_conditional_free(t->head);
    free(t->conditional), free(t->head), free(t->head_depth);
    memset(t, 0, sizeof *t);
}

taper_status codec_code_tables_set_planes(codec_code_tables *t) {
    uint32_t total = 0;
    for (uint32_t u = 0; u < t->units; u++) total += t->planes[u] * t->fractions;
    t->n_rd_slopes = t->n_passes = total;
    free(t->rd_slope), free(t->pass);
    t->rd_slope = calloc(total + 1, sizeof *t->rd_slope);
    t->pass = calloc(total + 1, sizeof *t->pass);
    return t->rd_slope && t->pass ? TAPER_OK : TAPER_ERR_NOMEM;
}

/* A counting sort by descending slope, then ascending depth and fraction. Units ascend, as they are
 * visited in order. */
static taper_status make_order(codec_code_tables *t, int apart) {
    enum { STEPS = CODEC_MAX_PLANES * CODEC_MAX_FRACTIONS, KEYS = 256 * STEPS };
    uint32_t *start = calloc(KEYS + 1, sizeof *start), fractions = t->fractions;
    if (!start) return TAPER_ERR_NOMEM;
    taper_status status = TAPER_OK;
    for (int place = 0; place < 2; place++) { /* count, then place */
        const uint8_t *rd_slope = t->rd_slope;
        for (uint32_t u = 0; u < t->units; rd_slope += t->planes[u++] * fractions)
            for (uint32_t i = 0; i < t->planes[u] * fractions; i++) {
                uint32_t key = (255u - rd_slope[i]) * STEPS + i, fraction = i % fractions;
                if (i && rd_slope[i] > rd_slope[i - 1]) status = TAPER_ERR_CORRUPT;
                if (!apart && fraction + 1 < fractions && rd_slope[i] == rd_slope[i + 1]) continue;
                if (place)
                    t->pass[start[key]++] =
                        (codec_pass){(uint16_t)u, (uint8_t)(i / fractions), (uint8_t)fraction};
                else
                    start[key + 1]++;
            }
        for (uint32_t k = 0; !place && k < KEYS; k++) start[k + 1] += start[k];
        if (!place) t->n_passes = start[KEYS];
    }
    free(start);
    return status;
}

taper_status codec_order_make(codec_code_tables *t) { return make_order(t, 0); }
taper_status codec_order_make_apart(codec_code_tables *t) { return make_order(t, 1); }

/* --- binary models --------------------------------------------------------------------- */

/* Set everything except the layers, with density 1/2 for every unit. The tables that binary models
 * do not use have legal values. */
static taper_status make_binary_units(codec_code_tables *t, uint32_t units) {
    TAPER_TRY(codec_code_tables_alloc(t, units));
    t->density = malloc(units);
    for (uint32_t u = 0; u < units; u++) t->step[u] = 1.0f, t->planes[u] = 1;
    taper_status status = t->density ? codec_code_tables_set_planes(t) : TAPER_ERR_NOMEM;
    if (status == TAPER_OK) status = codec_order_make(t);
    if (status == TAPER_OK)
        memset(t->density, 128, units);
    else
        codec_code_tables_free(t);
    return status;
}

/* Layers end at every unit up to 8, then at 4 units per octave. */
static void set_binary_layers(codec_code_tables *t, uint32_t window_pixels) {
    double bits = 0; /* per window */
    for (uint32_t u = 0, end = 1; u < t->units; u++) {
        double p = fmin(fmax(t->density[u] / 256.0, 1e-3), 1 - 1e-3);
        bits -= p * log2(p) + (1 - p) * log2(1 - p);
        if (u + 1 < end && u + 1 < t->units) continue;
        double bytes = bits / 8 * 1e6 / window_pixels;
        t->layer[t->n_layers++] = (codec_layer_end){u + 1, (uint32_t)fmin(bytes + 1, 4e9)};
        uint32_t octave = 1;
        while (octave * 2 <= end) octave *= 2;
        end += octave < 4 ? 1 : octave / 4;
    }
}

taper_status codec_code_tables_make_binary(codec_code_tables *t, uint32_t units,
                                           uint32_t window_pixels, const float *density) {
    memset(t, 0, sizeof *t);
    if (!units || units > CODEC_MAX_UNITS || !window_pixels) return TAPER_ERR_ARG;
    TAPER_TRY(make_binary_units(t, units));
    for (uint32_t u = 0; density && u < units; u++)
        t->density[u] = density[u] > 0 ? (uint8_t)fminf(density[u] * 256 + 0.5f, 255) : 0;
    set_binary_layers(t, window_pixels);
    return TAPER_OK;
}

/* --- serialised form ------------------------------------------------------------------- */

/* Bits of the step mode: one step per unit; planes with fractions; passes with a causal template.
 */
enum { EACH_STEP = 1, IN_FRACTIONS = 2, CAUSAL = 4 };

static uint32_t float_bits(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static void write_i16(formats_buffer *out, const int16_t *v, size_t n) {
    for (size_t i = 0; i < n; i++) formats_write_u16le(out, (uint16_t)v[i]);
}

static void read_i16(formats_cursor *in, int16_t *v, size_t n) {
    for (size_t i = 0; i < n; i++) v[i] = (int16_t)formats_read_u16le(in);
}

static taper_status write_layers(const codec_code_tables *t, formats_buffer *out) {
    formats_write_u8(out, (uint8_t)t->n_layers);
    for (uint32_t l = 0; l < t->n_layers; l++) {
        formats_write_varint(out, t->layer[l].pass);
        formats_write_varint(out, t->layer[l].bytes_per_mpixel);
    }
    return out->status;
}

/* The last slope of each unit, then the differences to the next one, from the end: equal ones of
 * different units lie together, and pack well. */
static void write_slopes(const codec_code_tables *t, formats_buffer *out) {
    for (uint32_t back = 0; back < CODEC_MAX_PLANES * t->fractions; back++) {
        const uint8_t *end = t->rd_slope;
        for (uint32_t u = 0; u < t->units; u++) {
            uint32_t slopes = t->planes[u] * t->fractions;
            end += slopes;
            if (back < slopes)
                formats_write_u8(out, (uint8_t)(*(end - back - 1) - (back ? *(end - back) : 0)));
        }
    }
}

taper_status codec_code_tables_write(const codec_code_tables *t, formats_buffer *out) {
    if (t->density) {
        formats_write_u32le(out, float_bits(t->centre));
        formats_write_bytes(out, t->density, t->units);
        return write_layers(t, out);
    }
    int same_step = 1;
    for (uint32_t u = 1; u < t->units; u++) same_step &= t->step[u] == t->step[0];
    formats_write_u8(out,
                     (uint8_t)((same_step ? 0 : EACH_STEP) + (t->fractions > 1 ? IN_FRACTIONS : 0) +
                               (t->causal ? CAUSAL : 0)));
    if (t->fractions > 1) {
        formats_write_u8(out, (uint8_t)t->fractions);
        formats_write_bytes(out, t->least, t->fractions - 1);
    }
    const uint32_t steps = same_step ? 1 : t->units;
    for (int digit = 0; digit < 4; digit++)
        for (uint32_t u = 0; u < steps; u++)
            formats_write_u8(out, (uint8_t)(float_bits(t->step[u]) >> 8 * digit));
    formats_write_bytes(out, t->planes, t->units);
    write_i16(out, t->log_scale, t->units);
    write_slopes(t, out);
    write_layers(t, out);
    formats_write_bytes(out, t->recon, sizeof t->recon);
    formats_write_bytes(out, t->zero_norm, sizeof t->zero_norm);
    write_i16(out, &t->weight[0][0], CODEC_CLASSES * CODEC_FEATURES);
    write_i16(out, t->bias, CODEC_CLASSES);
    formats_write_bytes(out, t->prior, sizeof t->prior);
    formats_write_bytes(out, t->signed_weight, sizeof t->signed_weight);
    if (t->causal) {
        write_i16(out, &t->causal_weight[0][0], CODEC_CAUSAL_UNITS * CODEC_AROUND);
        formats_write_bytes(out, t->causal_logit, sizeof t->causal_logit);
    }
    return out->status;
}

/* Copy n bytes; they stay zero if the cursor has failed. */
static void read_bytes(formats_cursor *in, void *to, size_t n) {
    const uint8_t *from = formats_read_bytes(in, n);
    if (from) memcpy(to, from, n);
}

/* The fields of IN_FRACTIONS. */
static taper_status read_fractions(codec_code_tables *t, formats_cursor *in, taper_error *error) {
    t->fractions = formats_read_u8(in);
    if (t->fractions < 2 || t->fractions > CODEC_MAX_FRACTIONS)
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "model: planes in %u fractions, 2 to %d are legal", t->fractions,
                            CODEC_MAX_FRACTIONS);
    read_bytes(in, t->least, t->fractions - 1);
    for (uint32_t i = 0; i + 1 < t->fractions; i++)
        if (t->least[i] >= (i ? t->least[i - 1] : CODEC_BINS))
            return formats_fail(
                error, TAPER_ERR_CORRUPT,
                "model: bin %u of fraction %u of a plane is not below its predecessor", t->least[i],
                i);
    return TAPER_OK;
}

static taper_status read_quantiser(codec_code_tables *t, formats_cursor *in, taper_error *error) {
    uint8_t mode = formats_read_u8(in), each = mode & EACH_STEP;
    if (mode > (EACH_STEP | IN_FRACTIONS | CAUSAL))
        return formats_fail(error, TAPER_ERR_CORRUPT, "model: step mode %u is not 0 to 7", mode);
    t->causal = (mode & CAUSAL) != 0;
    if (mode & IN_FRACTIONS) TAPER_TRY(read_fractions(t, in, error));
    const uint32_t steps = each ? t->units : 1;
    const uint8_t *digit = formats_read_bytes(in, 4 * (size_t)steps);
    for (uint32_t u = 0; u < t->units; u++) {
        uint32_t bits = 0, from = each ? u : 0;
        for (uint32_t i = 0; digit && i < 4; i++)
            bits |= (uint32_t)digit[i * (size_t)steps + from] << 8 * i;
        memcpy(&t->step[u], &bits, sizeof bits);
        if (!(t->step[u] >= 1e-6f && t->step[u] <= 1e6f)) /* NaN too */
            return formats_fail(error, TAPER_ERR_CORRUPT,
                                "model: step of unit %u is outside 1e-6 .. 1e6", u);
    }
    read_bytes(in, t->planes, t->units);
    read_i16(in, t->log_scale, t->units);
    for (uint32_t u = 0; u < t->units; u++) {
        if (t->planes[u] > CODEC_MAX_PLANES)
            return formats_fail(error, TAPER_ERR_CORRUPT,
                                "model: unit %u has %u planes, at most 15 are legal", u,
                                t->planes[u]);
        if (t->log_scale[u] < -512 || t->log_scale[u] > 1023)
            return formats_fail(error, TAPER_ERR_CORRUPT, "model: scale of unit %u is out of range",
                                u);
    }
    return formats_cursor_check(in, "model: quantiser", error);
}

static taper_status read_layers(codec_code_tables *t, formats_cursor *in, taper_error *error) {
    t->n_layers = formats_read_u8(in);
    if (t->n_layers < 1 || t->n_layers > CODEC_MAX_LAYERS_IN_MODEL)
        return formats_fail(error, TAPER_ERR_CORRUPT, "model: %u layers, 1 to 64 are legal",
                            t->n_layers);
    codec_layer_end before = {0, 0};
    for (uint32_t l = 0; l < t->n_layers; before = t->layer[l++]) {
        t->layer[l].pass = (uint32_t)formats_read_varint_max(in, t->n_passes);
        t->layer[l].bytes_per_mpixel = (uint32_t)formats_read_varint_max(in, UINT32_MAX);
        if (t->layer[l].pass <= before.pass ||
            t->layer[l].bytes_per_mpixel < before.bytes_per_mpixel)
            return formats_fail(error, TAPER_ERR_CORRUPT,
                                "model: layer %u does not follow its predecessor", l);
    }
    if (before.pass != t->n_passes)
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "model: the last layer does not end with the order");
    return formats_cursor_check(in, "model: layers", error);
}

/* As write_slopes. They do not rise within a unit, as no difference is below 0. */
static taper_status read_slopes(codec_code_tables *t, formats_cursor *in, taper_error *error) {
    const uint8_t *from = formats_read_bytes(in, t->n_rd_slopes);
    TAPER_TRY(formats_cursor_check(in, "model: order", error));
    for (uint32_t back = 0; back < CODEC_MAX_PLANES * t->fractions; back++) {
        uint8_t *end = t->rd_slope;
        for (uint32_t u = 0; u < t->units; u++) {
            uint32_t slopes = t->planes[u] * t->fractions;
            end += slopes;
            if (back >= slopes) continue;
            uint32_t slope = *from++ + (back ? *(end - back) : 0u);
            *(end - back - 1) = (uint8_t)slope;
            if (slope > UINT8_MAX)
                return formats_fail(error, TAPER_ERR_CORRUPT, "model: a slope of unit %u above 255",
                                    u);
        }
    }
    return TAPER_OK;
}

static taper_status read_order(codec_code_tables *t, formats_cursor *in, taper_error *error) {
    if (codec_code_tables_set_planes(t) != TAPER_OK)
        return formats_fail(error, TAPER_ERR_NOMEM, "model: no memory for %u passes", t->n_passes);
    TAPER_TRY(read_slopes(t, in, error));
    taper_status status = codec_order_make(t);
    if (status == TAPER_ERR_NOMEM)
        return formats_fail(error, status, "model: no memory to order %u passes", t->n_passes);
    if (status != TAPER_OK) return formats_fail(error, status, "model: slopes rise within a unit");
    return read_layers(t, in, error);
}

taper_status codec_code_tables_read_binary(codec_code_tables *t, uint32_t units, formats_cursor *in,
                                           taper_error *error) {
    if (make_binary_units(t, units) != TAPER_OK)
        return formats_fail(error, TAPER_ERR_NOMEM, "model: no memory for %u units", units);
    uint32_t centre = formats_read_u32le(in);
    memcpy(&t->centre, &centre, sizeof centre);
    read_bytes(in, t->density, units);
    taper_status status = formats_cursor_check(in, "model: densities", error);
    if (status == TAPER_OK && !(t->centre >= 0 && t->centre <= 1)) /* NaN too */
        status = formats_fail(error, TAPER_ERR_CORRUPT, "model: the centre is outside 0 .. 1");
    if (status == TAPER_OK) status = read_layers(t, in, error);
    if (status != TAPER_OK) codec_code_tables_free(t);
    return status;
}

taper_status codec_code_tables_read(codec_code_tables *t, uint32_t units, formats_cursor *in,
                                    taper_error *error) {
    if (codec_code_tables_alloc(t, units) != TAPER_OK)
        return formats_fail(error, TAPER_ERR_NOMEM, "model: no memory for %u units", units);
    taper_status status = read_quantiser(t, in, error);
    if (status == TAPER_OK) status = read_order(t, in, error);
    if (status == TAPER_OK) {
        read_bytes(in, t->recon, sizeof t->recon);
        read_bytes(in, t->zero_norm, sizeof t->zero_norm);
        read_i16(in, &t->weight[0][0], CODEC_CLASSES * CODEC_FEATURES);
        read_i16(in, t->bias, CODEC_CLASSES);
        read_bytes(in, t->prior, sizeof t->prior);
        read_bytes(in, t->signed_weight, sizeof t->signed_weight);
        if (t->causal) {
            read_i16(in, &t->causal_weight[0][0], CODEC_CAUSAL_UNITS * CODEC_AROUND);
            read_bytes(in, t->causal_logit, sizeof t->causal_logit);
        }
        status = formats_cursor_check(in, "model: contexts", error);
    }
    if (status != TAPER_OK) codec_code_tables_free(t);
    return status;
}
