/* exact_rows.c -- see exact_rows.h. */
#include "codec/exact/exact_rows.h"
#include <string.h>

enum { MARGIN = CODEC_EXACT_MARGIN };

static int32_t *lay_row(uint32_t width, formats_layout *at) {
    int32_t *row = formats_lay(at, (uint64_t)width + 2 * MARGIN, sizeof *row);
    return row ? row + MARGIN : NULL;
}

void codec_exact_rows_lay_out(codec_exact_rows *rows, uint32_t width, uint32_t channels,
                              formats_layout *at) {
    for (uint32_t c = 0; c < channels; c++) {
        codec_exact_channel *channel = &rows->channel[c];
        for (int r = 0; r < CODEC_EXACT_LOSSY_ROWS; r++) channel->lossy[r] = lay_row(width, at);
        for (int r = 0; r < 3; r++) {
            channel->residual[r] = lay_row(width, at);
            channel->error[r] = lay_row(width, at);
            for (int p = 0; p < CODEC_EXACT_PREDICTORS; p++)
                channel->missed[p][r] = lay_row(width, at);
        }
    }
}

/* The margins repeat the first and the last column. */
static void pad(int32_t *row, uint32_t width) {
    for (int i = 1; i <= MARGIN; i++) {
        row[-i] = row[0];
        row[width - 1 + (uint32_t)i] = row[width - 1];
    }
}

/* Row y of the image, or its last row, to row r of the window. */
static void load(codec_exact_rows *rows, const taper_image *lossy, int r, uint32_t y) {
    const uint32_t from = y < rows->height ? y : rows->height - 1;
    for (uint32_t c = 0; c < rows->channels; c++) {
        int32_t *row = rows->channel[c].lossy[r];
        size_t at = (size_t)from * rows->width * rows->channels + rows->place[c];
        for (uint32_t x = 0; x < rows->width; x++, at += rows->channels)
            row[x] = codec_exact_sample(lossy, at);
        pad(row, rows->width);
    }
}

static void clear(int32_t *row, uint32_t width) {
    memset(row - MARGIN, 0, ((size_t)width + 2 * MARGIN) * sizeof *row);
}

void codec_exact_rows_begin(codec_exact_rows *rows, const taper_image *lossy, uint32_t y) {
    /* Green first: the other two are predicted best from it. Alpha is last. */
    static const uint8_t order[4][4] = {{0}, {0, 1}, {1, 0, 2}, {1, 0, 2, 3}};
    rows->width = lossy->width;
    rows->height = lossy->height;
    rows->channels = lossy->channels;
    rows->depth = lossy->depth;
    rows->y = y;
    memcpy(rows->place, order[lossy->channels - 1], sizeof rows->place);
    for (uint32_t c = 0; c < rows->channels; c++) {
        codec_exact_channel *channel = &rows->channel[c];
        for (int r = 0; r < 3; r++) {
            clear(channel->residual[r], rows->width);
            clear(channel->error[r], rows->width);
            for (int p = 0; p < CODEC_EXACT_PREDICTORS; p++)
                clear(channel->missed[p][r], rows->width);
        }
    }
    for (int r = 0; r < CODEC_EXACT_LOSSY_ROWS; r++)
        load(rows, lossy, r, y + (uint32_t)r < 2 ? 0 : y + (uint32_t)r - 2);
}

/* Complete row 0 of three, and make it row 1; the left margin of the new row is that of the old. */
static void turn(int32_t *row[3], uint32_t width) {
    pad(row[0], width);
    int32_t *last = row[2];
    row[2] = row[1];
    row[1] = row[0];
    row[0] = last;
    for (int i = 1; i <= MARGIN; i++) last[-i] = row[1][0];
}

void codec_exact_rows_next(codec_exact_rows *rows, const taper_image *lossy) {
    for (uint32_t c = 0; c < rows->channels; c++) {
        codec_exact_channel *channel = &rows->channel[c];
        turn(channel->residual, rows->width);
        turn(channel->error, rows->width);
        for (int p = 0; p < CODEC_EXACT_PREDICTORS; p++) turn(channel->missed[p], rows->width);
        int32_t *first = channel->lossy[0];
        for (int r = 0; r + 1 < CODEC_EXACT_LOSSY_ROWS; r++)
            channel->lossy[r] = channel->lossy[r + 1];
        channel->lossy[CODEC_EXACT_LOSSY_ROWS - 1] = first;
    }
    rows->y++;
    load(rows, lossy, CODEC_EXACT_LOSSY_ROWS - 1, rows->y + 2);
}

enum { OWN = 22, OF_EARLIER = 9, OF_LATER = 4 };

int codec_exact_input_count(uint32_t channels, uint32_t c) {
    if (channels != 3 && !(channels == 4 && c < 3)) return OWN;
    return OWN + OF_EARLIER * (int)c + OF_LATER * (2 - (int)c);
}

/* Residuals of known neighbours, and differences of lossy ones from the lossy sample itself. */
static int own_inputs(const codec_exact_channel *channel, uint32_t x, int32_t *to) {
    const int32_t *e0 = channel->residual[0] + x, *e1 = channel->residual[1] + x;
    const int32_t *e2 = channel->residual[2] + x;
    const int32_t *a = channel->lossy[0] + x, *b = channel->lossy[1] + x;
    const int32_t *l = channel->lossy[2] + x, *d = channel->lossy[3] + x;
    const int32_t *f = channel->lossy[4] + x, m = l[0];
    const int32_t all[OWN] = {e0[-1],    e1[0],    e1[-1],    e1[1],    e0[-2],    e2[0],
                              e2[1],     e2[-1],   e1[2],     e1[-2],   l[-1] - m, l[1] - m,
                              b[0] - m,  d[0] - m, b[-1] - m, b[1] - m, d[-1] - m, d[1] - m,
                              l[-2] - m, l[2] - m, a[0] - m,  f[0] - m};
    memcpy(to, all, sizeof all);
    return OWN;
}

static int earlier_inputs(const codec_exact_channel *channel, uint32_t x, int32_t *to) {
    const int32_t *e0 = channel->residual[0] + x, *e1 = channel->residual[1] + x;
    const int32_t *b = channel->lossy[1] + x, *l = channel->lossy[2] + x;
    const int32_t *d = channel->lossy[3] + x, m = l[0];
    const int32_t all[OF_EARLIER] = {e0[0],     e0[-1],   e1[0],    e1[-1],  e1[1],
                                     l[-1] - m, b[0] - m, l[1] - m, d[0] - m};
    memcpy(to, all, sizeof all);
    return OF_EARLIER;
}

static int later_inputs(const codec_exact_channel *channel, uint32_t x, int32_t *to) {
    const int32_t *b = channel->lossy[1] + x, *l = channel->lossy[2] + x;
    const int32_t all[OF_LATER] = {channel->residual[0][(int64_t)x - 1], channel->residual[1][x],
                                   l[-1] - l[0], b[0] - l[0]};
    memcpy(to, all, sizeof all);
    return OF_LATER;
}

int codec_exact_inputs(const codec_exact_rows *rows, uint32_t c, uint32_t x,
                       int32_t input[CODEC_EXACT_INPUTS]) {
    int n = own_inputs(&rows->channel[c], x, input);
    if (rows->channels < 3 || c > 2) return n;
    for (uint32_t o = 0; o < 3; o++) {
        if (o < c) n += earlier_inputs(&rows->channel[o], x, input + n);
        if (o > c) n += later_inputs(&rows->channel[o], x, input + n);
    }
    return n;
}
