/* iiif.c -- see iiif.h. */
#include "serve/request/iiif.h"
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { MILLION = 1000000 };
static const uint64_t MOST = 1u << 31; /* of a number of pixels */

/* --- numbers --- */

/* Decimal digits up to `end`; more than MOST is MOST. */
static bool read_whole(const char **text, uint64_t *out) {
    const char *at = *text;
    for (*out = 0; *at >= '0' && *at <= '9'; at++)
        *out = *out >= MOST ? MOST : *out * 10 + (uint64_t)(*at - '0');
    if (*out > MOST) *out = MOST;
    if (at == *text) return false;
    *text = at;
    return true;
}

/* A number with a point, in millionths; further digits are dropped. */
static bool read_millionths(const char **text, uint64_t *out) {
    uint64_t whole;
    if (!read_whole(text, &whole)) return false;
    *out = whole * MILLION;
    if (**text != '.') return true;
    const char *digit = ++*text;
    for (uint64_t unit = MILLION / 10; *digit >= '0' && *digit <= '9'; digit++, unit /= 10)
        *out += unit * (uint64_t)(*digit - '0');
    if (digit == *text) return false;
    *text = digit;
    return true;
}

static bool read_comma(const char **text) {
    if (**text != ',') return false;
    ++*text;
    return true;
}

/* --- the parts of a path --- */

static int wrong(int status, const char *text, const char **why) {
    *why = text;
    return status;
}

static int read_region(const char *text, serve_iiif *out, const char **why) {
    bool (*read)(const char **, uint64_t *) = read_whole;
    if (!strcmp(text, "full")) return out->region = SERVE_REGION_FULL, 0;
    if (!strcmp(text, "square")) return out->region = SERVE_REGION_SQUARE, 0;
    out->region = SERVE_REGION_PIXELS;
    if (!strncmp(text, "pct:", 4))
        text += 4, read = read_millionths, out->region = SERVE_REGION_PERCENT;
    if (read(&text, &out->x) && read_comma(&text) && read(&text, &out->y) && read_comma(&text) &&
        read(&text, &out->width) && read_comma(&text) && read(&text, &out->height) && !*text)
        return 0;
    return wrong(400, "the region is none of full, square, x,y,w,h and pct:x,y,w,h", why);
}

/* "w,", ",h", "w,h" or "!w,h". */
static bool read_sides(const char *text, serve_iiif *out) {
    const bool is_within = *text == '!';
    text += is_within;
    const bool has_width = read_whole(&text, &out->to_width);
    if (!read_comma(&text)) return false;
    const bool has_height = read_whole(&text, &out->to_height);
    if (*text || (!has_width && !has_height) || (is_within && !(has_width && has_height)))
        return false;
    out->size = is_within                 ? SERVE_SIZE_WITHIN
                : has_width && has_height ? SERVE_SIZE_BOTH
                : has_width               ? SERVE_SIZE_WIDTH
                                          : SERVE_SIZE_HEIGHT;
    return (!has_width || out->to_width) && (!has_height || out->to_height);
}

static bool read_size_of(const char *text, serve_iiif *out) {
    if (!strcmp(text, "max")) return out->size = SERVE_SIZE_MAX, true;
    if (strncmp(text, "pct:", 4) != 0) return read_sides(text, out);
    text += 4;
    out->size = SERVE_SIZE_PERCENT;
    return read_millionths(&text, &out->to_width) && !*text && out->to_width;
}

static int read_size(const char *text, serve_iiif *out, const char **why) {
    const bool is_larger = *text == '^';
    if (!read_size_of(text + is_larger, out))
        return wrong(400, "the size is none of max, w, ,h w,h !w,h and pct:n", why);
    return is_larger ? wrong(501, "sizes with ^, above that of the image, are not supported", why)
                     : 0;
}

static int read_rotation(const char *text, const char **why) {
    uint64_t degrees;
    const bool is_mirrored = *text == '!';
    text += is_mirrored;
    if (!read_millionths(&text, &degrees) || *text || degrees > (uint64_t)360 * MILLION)
        return wrong(400, "the rotation is no number from 0 to 360", why);
    if (degrees || is_mirrored) return wrong(501, "the only rotation is 0", why);
    return 0;
}

static int read_quality(const char *text, serve_iiif *out, const char **why) {
    const char *dot = strchr(text, '.');
    const size_t n = dot ? (size_t)(dot - text) : strlen(text);
    if (!dot) return wrong(400, "the format is missing: default.jpg", why);
    out->is_png = !strcmp(dot, ".png");
    const bool is_known = !strcmp(dot, ".jpg") || out->is_png;
    const bool is_legal = is_known || !strcmp(dot, ".tif") || !strcmp(dot, ".gif") ||
                          !strcmp(dot, ".jp2") || !strcmp(dot, ".pdf") || !strcmp(dot, ".webp");
    if (!is_legal) return wrong(400, "the format is none of the Image API", why);
    if ((n == 4 && !memcmp(text, "gray", 4)) || (n == 7 && !memcmp(text, "bitonal", 7)))
        return wrong(501, "the qualities are default and color", why);
    if (!(n == 7 && !memcmp(text, "default", 7)) && !(n == 5 && !memcmp(text, "color", 5)))
        return wrong(400, "the quality is none of the Image API", why);
    return is_known ? 0 : wrong(501, "the formats are jpg and png", why);
}

/* --- the path --- */

enum { PARTS = 4, PART_BYTES = 128 };

/* region, size, rotation, quality.format, which follow the identifier. */
static int read_parts(const char *path, size_t n, serve_iiif *out, const char **why) {
    char part[PARTS][PART_BYTES];
    const char *at = path, *end = path + n;
    for (int i = 0; i < PARTS; i++) {
        const char *slash = memchr(at, '/', (size_t)(end - at));
        const char *stop = slash ? slash : end;
        if ((slash == NULL) != (i == PARTS - 1))
            return wrong(400, "a picture is REGION/SIZE/ROTATION/QUALITY.FORMAT", why);
        if (!serve_unescape(at, (size_t)(stop - at), part[i], PART_BYTES))
            return wrong(400, "a part of the path is not legal", why);
        at = slash ? slash + 1 : end;
    }
    int status = read_region(part[0], out, why);
    if (!status) status = read_size(part[1], out, why);
    if (!status) status = read_rotation(part[2], why);
    return status ? status : read_quality(part[3], out, why);
}

int serve_iiif_read(const char *path, size_t n, serve_iiif *out, const char **why) {
    char escaped[SERVE_PATH_BYTES];
    const char *slash = memchr(path, '/', n);
    const size_t length = slash ? (size_t)(slash - path) : n;
    *out = (serve_iiif){.kind = SERVE_IIIF_BASE};
    *why = "";
    escaped[0] = '/';
    if (!serve_unescape(path, length, escaped + 1, sizeof escaped - 1))
        return wrong(400, "the identifier is not legal", why);
    /* decoded, it must be a clean path; a % in it is one of the name */
    for (const char *name = escaped; name; name = strchr(name + 1, '/'))
        if (name[1] == '\0' || name[1] == '/' || name[1] == '.')
            return wrong(404, "there is no such image", why);
    memcpy(out->identifier, escaped + 1, strlen(escaped));
    if (!slash || length + 1 == n) return 0;
    path += length + 1, n -= length + 1;
    if (n == 9 && !memcmp(path, "info.json", 9)) return out->kind = SERVE_IIIF_INFO, 0;
    out->kind = SERVE_IIIF_PICTURE;
    return read_parts(path, n, out, why);
}

/* --- an image of known size --- */

/* a * b / c, rounded, with a and b up to 2^31. */
static uint64_t share(uint64_t a, uint64_t b, uint64_t c) { return (a * b + c / 2) / c; }

/* Percents, in millionths, of a side. */
static uint64_t part_of(uint64_t percents, uint64_t side) {
    const uint64_t hundred = (uint64_t)100 * MILLION;
    return percents >= hundred ? side : share(percents, side, hundred);
}

static bool region_of(const serve_iiif *asked, uint32_t width, uint32_t height,
                      serve_iiif_picture *out) {
    uint64_t x = 0, y = 0, w = width, h = height;
    const uint32_t shorter = width < height ? width : height;
    if (asked->region == SERVE_REGION_SQUARE)
        x = (width - shorter) / 2, y = (height - shorter) / 2, w = h = shorter;
    if (asked->region == SERVE_REGION_PIXELS)
        x = asked->x, y = asked->y, w = asked->width, h = asked->height;
    if (asked->region == SERVE_REGION_PERCENT) {
        x = part_of(asked->x, width), w = part_of(asked->width, width);
        y = part_of(asked->y, height), h = part_of(asked->height, height);
    }
    if (x >= width || y >= height || !w || !h) return false;
    if (w > width - x) w = width - x;
    if (h > height - y) h = height - y;
    out->x = (uint32_t)x, out->y = (uint32_t)y, out->width = (uint32_t)w, out->height = (uint32_t)h;
    return true;
}

/* The largest size of the region's shape within w x h. */
static void within(const serve_iiif_picture *r, uint64_t w, uint64_t h, uint64_t *to_w,
                   uint64_t *to_h) {
    const bool is_wide = (uint64_t)r->width * h > (uint64_t)r->height * w;
    *to_w = is_wide ? w : share(r->width, h, r->height);
    *to_h = is_wide ? share(r->height, w, r->width) : h;
}

static uint64_t root_of(uint64_t n) {
    uint64_t root = 0;
    for (uint64_t bit = (uint64_t)1 << 31; bit; bit >>= 1)
        if ((root + bit) * (root + bit) <= n) root += bit;
    return root;
}

static void size_of(const serve_iiif *asked, uint64_t most_area, const serve_iiif_picture *r,
                    uint64_t *w, uint64_t *h) {
    const uint64_t area = (uint64_t)r->width * r->height;
    *w = r->width, *h = r->height;
    switch (asked->size) {
    case SERVE_SIZE_MAX:
        if (area <= most_area) break;
        *w = root_of(most_area / r->height * r->width);
        if (*w > most_area) *w = most_area;
        *h = *w * r->height / r->width;
        break;
    case SERVE_SIZE_WIDTH:
        *w = asked->to_width, *h = share(asked->to_width, r->height, r->width);
        break;
    case SERVE_SIZE_HEIGHT:
        *h = asked->to_height, *w = share(asked->to_height, r->width, r->height);
        break;
    case SERVE_SIZE_BOTH: *w = asked->to_width, *h = asked->to_height; break;
    case SERVE_SIZE_WITHIN: within(r, asked->to_width, asked->to_height, w, h); break;
    case SERVE_SIZE_PERCENT:
        *w = part_of(asked->to_width, r->width), *h = part_of(asked->to_width, r->height);
        if (asked->to_width > (uint64_t)100 * MILLION) ++*w;
        break;
    }
    if (!*w) *w = 1;
    if (!*h) *h = 1;
    if (asked->size == SERVE_SIZE_WITHIN && *w > r->width) *w = r->width, *h = r->height;
}

int serve_iiif_fit(const serve_iiif *asked, uint32_t width, uint32_t height, uint64_t most_area,
                   serve_iiif_picture *out, const char **why) {
    uint64_t w, h;
    *out = (serve_iiif_picture){0};
    if (!region_of(asked, width, height, out))
        return wrong(400, "the region is empty or outside the image", why);
    size_of(asked, most_area, out, &w, &h);
    if (w > out->width || h > out->height)
        return wrong(400, "the size is above that of the region", why);
    if (w > UINT32_MAX || h > UINT32_MAX || w * h > most_area)
        return wrong(400, "the size is above maxArea", why);
    out->to_width = (uint32_t)w, out->to_height = (uint32_t)h;
    return 0;
}

void serve_iiif_canonical(const serve_iiif_picture *p, uint32_t width, uint32_t height, int is_png,
                          char to[SERVE_CANONICAL_BYTES]) {
    char region[48] = "full", size[24] = "max";
    if (p->width != width || p->height != height)
        snprintf(region, sizeof region, "%u,%u,%u,%u", p->x, p->y, p->width, p->height);
    if (p->to_width != p->width || p->to_height != p->height)
        snprintf(size, sizeof size, "%u,%u", p->to_width, p->to_height);
    snprintf(to, SERVE_CANONICAL_BYTES, "%s/%s/0/default.%s", region, size, is_png ? "png" : "jpg");
}
