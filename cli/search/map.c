/* map.c -- see map.h. The page is map.html. The style sheet of all pages (page.css) replaces
 * @STYLE@, JSON replaces @DATA@: places (two 16-bit numbers a point), labels and
 * neighbours (32 bits each) in base64, little-endian as browsers are, pictures as PNG sheets of
 * some hundred each, in base64, and names. */
#include "cli/search/map.h"
#include "cli/common/outputs.h"
#include "cli/common/page.h"
#include "cli/common/plain_text.h"
#include "codec/taper_search.h"
#include "codec/taper_quality.h"
#include "formats/bytes.h"
#include "formats/images/png.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const char cli_map_page[], cli_map_page_end[];

enum { NEIGHBOURS = 12, COLUMNS = 25, PER_SHEET = 1000, LONGEST = 32, LEAST_MARGIN = 600 };

struct cli_map {
    const cli_code_set *set;
    cli_output out;
    size_t width;      /* of a code */
    size_t step, met;  /* every step-th image has a point; images so far */
    size_t n, room;    /* points */
    float *code;       /* [room][width] */
    size_t *number;    /* [room] in the set */
    uint32_t side[2];  /* of a picture */
    taper_image sheet; /* in colour */
    cli_text sheets;   /* JSON strings of those that are full */
};

/* --- pictures ------------------------------------------------------------------------------- */

/* Append the sheet as a string, then clear it to white. */
static taper_status flush_sheet(cli_map *m) {
    uint8_t *png = NULL;
    size_t bytes = 0;
    TAPER_TRY(formats_png_encode(&m->sheet, &png, &bytes, NULL));
    fputs(m->n > PER_SHEET ? ",\"" : "\"", m->sheets.to);
    cli_page_base64(m->sheets.to, png, bytes);
    fputc('"', m->sheets.to);
    free(png);
    memset(m->sheet.pixels, 255, (size_t)m->sheet.width * m->sheet.height * 3);
    return cli_text_flush(&m->sheets);
}

/* The first image determines the size of pictures. */
static taper_status size_pictures(cli_map *m, const taper_image *first) {
    const uint32_t longest = first->width > first->height ? first->width : first->height;
    const double factor = longest > LONGEST ? (double)LONGEST / longest : 1.0;
    m->side[0] = (uint32_t)fmax(1.0, factor * first->width);
    m->side[1] = (uint32_t)fmax(1.0, factor * first->height);
    m->sheet = (taper_image){COLUMNS * m->side[0], PER_SHEET / COLUMNS * m->side[1], 3, 8, NULL};
    const size_t bytes = (size_t)m->sheet.width * m->sheet.height * 3;
    m->sheet.pixels = malloc(bytes);
    if (!m->sheet.pixels) return TAPER_ERR_NOMEM;
    memset(m->sheet.pixels, 255, bytes);
    return TAPER_OK;
}

static taper_status put_picture(cli_map *m, const taper_image *image) {
    const size_t k = m->n % PER_SHEET, stride = (size_t)m->sheet.width * 3;
    taper_image small;
    TAPER_TRY(taper_image_scale(image, m->side[0], m->side[1], &small, NULL));
    const uint8_t *from = small.pixels;
    uint8_t *to = (uint8_t *)m->sheet.pixels + k / COLUMNS * m->side[1] * stride +
                  k % COLUMNS * m->side[0] * 3;
    for (uint32_t y = 0; y < m->side[1]; y++, to += stride)
        for (uint32_t x = 0; x < m->side[0]; x++)
            for (int c = 0; c < 3; c++)
                to[3 * x + c] =
                    from[(y * m->side[0] + x) * small.channels + (small.channels == 3 ? c : 0)];
    formats_image_free(&small);
    return TAPER_OK;
}

/* --- points --------------------------------------------------------------------------------- */

static taper_status add(cli_map *m, size_t number, const taper_image *image, const float *code) {
    if (!m->sheet.pixels) TAPER_TRY(size_pictures(m, image));
    if (m->n && m->n % PER_SHEET == 0) TAPER_TRY(flush_sheet(m));
    TAPER_TRY(put_picture(m, image));
    memcpy(m->code + m->n * m->width, code, m->width * sizeof *code);
    m->number[m->n++] = number;
    return TAPER_OK;
}

int cli_map_take(cli_map *m, const size_t *number, const taper_image *image, size_t n,
                 const float *codes) {
    for (size_t i = 0; i < n; i++) {
        if (m->met++ % m->step || m->n == m->room) continue;
        taper_error error = {0};
        taper_image own = {.pixels = NULL};
        taper_status status =
            image ? TAPER_OK : cli_code_set_picture(m->set, number[i], &own, &error);
        if (status == TAPER_OK)
            status = add(m, number[i], image ? &image[i] : &own, codes + i * m->width);
        formats_image_free(&own);
        if (status != TAPER_OK) return cli_fail(m->set->verb, NULL, status, &error);
    }
    return CLI_DONE;
}

/* axis[width]: the direction of most variance, of those at a right angle to `other` (or NULL):
 * power iteration on the codes, less their mean. */
static taper_status principal_axis(const cli_map *m, const double *mean, const double *other,
                                   double *axis) {
    enum { STEPS = 60 };
    const size_t d = m->width;
    double *sum = calloc(d, sizeof *sum);
    if (!sum) return TAPER_ERR_NOMEM;
    for (size_t j = 0; j < d; j++) axis[j] = 1.0 / (1.0 + (double)j);
    for (int s = 0; s < STEPS; s++) {
        double along = 0.0, length = 0.0;
        memset(sum, 0, d * sizeof *sum);
        for (size_t i = 0; i < m->n; i++) {
            double dot = 0.0;
            for (size_t j = 0; j < d; j++) dot += ((double)m->code[i * d + j] - mean[j]) * axis[j];
            for (size_t j = 0; j < d; j++) sum[j] += dot * ((double)m->code[i * d + j] - mean[j]);
        }
        for (size_t j = 0; j < d && other; j++) along += sum[j] * other[j];
        for (size_t j = 0; j < d; j++) {
            if (other) sum[j] -= along * other[j];
            length += sum[j] * sum[j];
        }
        for (size_t j = 0; j < d && length > 0.0; j++) axis[j] = sum[j] / sqrt(length);
    }
    free(sum);
    return TAPER_OK;
}

/* at[n][2]. */
static taper_status place(const cli_map *m, double *at) {
    const size_t d = m->width;
    double *work = calloc(3 * d + 1, sizeof *work), *mean = work, *axis[2];
    if (!work) return TAPER_ERR_NOMEM;
    axis[0] = work + d, axis[1] = work + 2 * d;
    for (size_t i = 0; i < m->n * d; i++) mean[i % d] += (double)m->code[i] / (double)m->n;
    if (d <= 2)
        for (size_t k = 0; k < d; k++) axis[k][k] = 1.0;
    taper_status status = TAPER_OK;
    for (int k = 0; d > 2 && k < 2 && status == TAPER_OK; k++)
        status = principal_axis(m, mean, k ? axis[0] : NULL, axis[k]);
    for (size_t i = 0; i < m->n; i++)
        for (size_t k = 0; k < 2; k++) {
            at[2 * i + k] = 0.0;
            for (size_t j = 0; j < d; j++)
                at[2 * i + k] += ((double)m->code[i * d + j] - mean[j]) * axis[k][j];
        }
    free(work);
    return status;
}

/* One scale for both, so that distances stay what they are. */
static taper_status put_places(const cli_map *m, const double *at, FILE *to) {
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    uint16_t *xy = calloc(2 * m->n + 1, sizeof *xy);
    if (!xy) return TAPER_ERR_NOMEM;
    for (size_t i = 0; i < 2 * m->n; i++) {
        low[i % 2] = fmin(low[i % 2], at[i]);
        high[i % 2] = fmax(high[i % 2], at[i]);
    }
    const double side = fmax(fmax(high[0] - low[0], high[1] - low[1]), 1e-30);
    for (size_t i = 0; i < 2 * m->n; i++) {
        const double from_middle = (at[i] - (low[i % 2] + high[i % 2]) / 2) / side;
        xy[i] = (uint16_t)lround(32767.5 + (65535.0 - 2 * LEAST_MARGIN) * from_middle);
    }
    cli_page_base64(to, xy, 2 * m->n * sizeof *xy);
    free(xy);
    return TAPER_OK;
}

static taper_status put_neighbours(const cli_map *m, size_t k, FILE *to, taper_error *error) {
    uint32_t *near = malloc((m->n * k + 1) * sizeof *near);
    double *distance = malloc((m->n * k + 1) * sizeof *distance);
    const taper_search search = {.size = sizeof(taper_search),
                                 .references = m->code,
                                 .n_references = m->n,
                                 .n_queries = m->n,
                                 .width = m->width,
                                 .k = k,
                                 .threads = cli_threads(m->set->common)};
    taper_status status = near && distance ? TAPER_OK : TAPER_ERR_NOMEM;
    if (status == TAPER_OK && k) status = taper_nearest(&search, near, distance, error);
    if (status == TAPER_OK) cli_page_base64(to, near, m->n * k * sizeof *near);
    free(near), free(distance);
    return status;
}

/* --- the page ------------------------------------------------------------------------------- */

/* As a string of JSON within HTML: no end of a script within. */
static void put_string(FILE *to, const char *text) {
    char plain[2 * CLI_IMAGE_NAME];
    cli_plain_text(plain, sizeof plain, text);
    fputc('"', to);
    for (const char *c = plain; *c; c++)
        if (*c == '"' || *c == '\\')
            fprintf(to, "\\%c", *c);
        else if (*c == '<')
            fputs("\\u003c", to);
        else
            fputc(*c, to);
    fputc('"', to);
}

static void put_names(const cli_map *m, FILE *to) {
    const cli_code_set *set = m->set;
    char name[CLI_IMAGE_NAME];
    fputs("\",\"classes\":[", to);
    for (size_t k = 0; k < cli_code_set_classes(set); k++) {
        if (k) fputc(',', to);
        put_string(to, cli_code_set_class(set, k));
    }
    fputs("],\"names\":[", to);
    for (size_t i = 0; i < m->n; i++) {
        if (i) fputc(',', to);
        put_string(to, cli_code_set_name(set, m->number[i], name));
    }
    fputs("],\"lead\":", to);
    snprintf(
        name, sizeof name,
        "%zu image%s%s, by %s; each axis fills the window. Point at one to see it, click for its "
        "neighbours; turn the wheel or pinch to look closer, drag to move.",
        m->n, formats_plural(m->n, "s"), m->step > 1 ? ", evenly chosen" : "",
        m->width <= 2 ? "the numbers of their codes"
                      : "the first two principal components of their codes");
    put_string(to, name);
}

static taper_status put_data(cli_map *m, FILE *to, taper_error *error) {
    const size_t k = formats_smaller(NEIGHBOURS, m->n - 1);
    double *at = malloc(2 * m->n * sizeof *at);
    int32_t *label = malloc(m->n * sizeof *label);
    taper_status status = at && label ? place(m, at) : TAPER_ERR_NOMEM;
    for (size_t i = 0; i < m->n && label; i++) label[i] = cli_code_set_label(m->set, m->number[i]);
    fprintf(to, "{\"n\":%zu,\"k\":%zu,\"width\":%u,\"height\":%u,\"columns\":%d,\"per\":%d", m->n,
            k, m->side[0], m->side[1], COLUMNS, PER_SHEET);
    fputs(",\"places\":\"", to);
    if (status == TAPER_OK) status = put_places(m, at, to);
    fputs("\",\"labels\":\"", to);
    if (status == TAPER_OK) cli_page_base64(to, label, m->n * sizeof *label);
    fputs("\",\"near\":\"", to);
    if (status == TAPER_OK) status = put_neighbours(m, k, to, error);
    put_names(m, to);
    fputs(",\"sheets\":[", to);
    fwrite(m->sheets.bytes, 1, m->sheets.size, to);
    fputs("]}", to);
    free(at), free(label);
    return status;
}

static taper_status write_page(cli_map *m, taper_error *error) {
    static const char style_mark[] = "@STYLE@", data_mark[] = "@DATA@";
    const char *style = strstr(cli_map_page, style_mark), *rest = style + sizeof style_mark - 1;
    const char *data = strstr(rest, data_mark);
    const taper_sink sink = cli_output_sink(&m->out);
    cli_text text;
    TAPER_TRY(flush_sheet(m));
    TAPER_TRY(cli_text_open(&text));
    fwrite(cli_map_page, 1, (size_t)(style - cli_map_page), text.to);
    cli_page_style(text.to);
    fwrite(rest, 1, (size_t)(data - rest), text.to);
    const taper_status status = put_data(m, text.to, error);
    data += sizeof data_mark - 1;
    fwrite(data, 1, (size_t)(cli_map_page_end - data), text.to);
    const taper_status written = cli_text_write(&text, &sink);
    return status != TAPER_OK ? status : written;
}

/* --- begin and end -------------------------------------------------------------------------- */

static void free_map(cli_map *m) {
    cli_text_free(&m->sheets);
    free(m->sheet.pixels), free(m->code), free(m->number), free(m);
}

int cli_map_open(cli_map **out, const cli_code_set *set, const char *path, size_t width) {
    const size_t images = cli_code_set_images(set);
    cli_map *m = calloc(1, sizeof *m);
    *out = NULL;
    if (!m) return cli_fail(set->verb, NULL, TAPER_ERR_NOMEM, NULL);
    m->set = set, m->width = width;
    m->step = (images + CLI_MAP_MOST - 1) / CLI_MAP_MOST;
    if (!m->step) m->step = 1;
    m->room = images / m->step + 1;
    m->code = malloc(m->room * width * sizeof *m->code);
    m->number = malloc(m->room * sizeof *m->number);
    int code = m->code && m->number && cli_text_open(&m->sheets) == TAPER_OK
                   ? cli_output_open(&m->out, set->verb, path, set->common)
                   : (int)cli_fail(set->verb, NULL, TAPER_ERR_NOMEM, NULL);
    if (code != CLI_DONE)
        free_map(m);
    else
        *out = m;
    return code;
}

int cli_map_finish(cli_map *m) {
    taper_error error = {0};
    if (!m || !m->n) return CLI_DONE;
    const taper_status status = write_page(m, &error);
    return cli_output_finish(&m->out, NULL, status, &error);
}

int cli_map_close(cli_map *m, int code) {
    if (!m) return code;
    if (code != CLI_DONE || !m->n) /* a message was printed */
        formats_atomic_file_abort(m->out.file);
    else
        code = cli_output_close(&m->out, NULL, TAPER_OK, NULL);
    free_map(m);
    return code;
}
