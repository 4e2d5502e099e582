/* page.c -- the pieces of an offline HTML page. */
#include "cli/common/page.h"
#include "formats/png.h"
#include <stdlib.h>
#include <string.h>

enum { SHOWN_WIDTH = 144 }; /* pixels on the page that small pictures are enlarged to, at most */

static const char k_style[] =
    "<style>\n"
    ":root{--ink:#1b1f24;--soft:#5b6570;--line:#dfe3e8;--tint:#f5f7f9;--mark:#b34700}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0 auto;padding:2.5rem 1.5rem "
    "4rem;max-width:82rem;color:var(--ink);background:#fff;"
    "font:16px/1.55 system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif}\n"
    "h1{font-size:1.9rem;line-height:1.2;margin:0 0 .4rem;letter-spacing:-.01em}\n"
    "h2{font-size:1.25rem;margin:2.6rem 0 .6rem}\n"
    ".lead{font-size:1.08rem;color:var(--soft);margin:0 0 1.2rem;max-width:56rem}\n"
    "p{margin:.5rem 0;max-width:56rem}\n"
    ".note,footer{font-size:.88rem;color:var(--soft)}\n"
    "footer{margin-top:3rem;border-top:1px solid var(--line);padding-top:.8rem}\n"
    "pre{background:var(--tint);border:1px solid var(--line);border-radius:6px;padding:.7rem .9rem;"
    "font:14px/1.5 ui-monospace,'DejaVu Sans "
    "Mono',monospace;white-space:pre-wrap;overflow-wrap:anywhere}\n"
    ".wide{overflow-x:auto}\n"
    "table{border-collapse:collapse;font-size:.93rem}\n"
    ".data{margin:.6rem 0}\n"
    ".data th{font-weight:600;color:var(--soft);text-align:right;border-bottom:2px solid "
    "var(--line)}\n"
    ".data th,.data td{padding:.32rem .9rem .32rem 0}\n"
    ".data td{text-align:right;border-bottom:1px solid "
    "var(--line);font-variant-numeric:tabular-nums}\n"
    ".data td:not(.t){white-space:nowrap}\n"
    ".data .t{text-align:left}\n"
    ".data .s td{font-weight:600;color:var(--mark)}\n"
    ".plot svg{max-width:100%;height:auto;display:block}\n"
    ".beside{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,26rem),1fr));"
    "gap:1rem;max-width:76rem;margin:.8rem 0}\n"
    ".grid{border-spacing:0;border-collapse:separate;margin:.6rem 0}\n"
    ".grid thead th{font-size:.85rem;font-weight:600;padding:.4rem "
    ".45rem;text-align:left;white-space:pre-line}\n"
    ".grid tbody "
    "th{font-size:.85rem;font-weight:500;color:var(--soft);text-align:left;vertical-align:top;"
    "padding:.55rem .9rem .3rem 0;min-width:7.5rem;max-width:9rem}\n"
    ".grid td{padding:.45rem;vertical-align:top}\n"
    ".grid .over{font-size:.85rem;color:var(--soft)}\n"
    ".grid .g>*{border-top:1px solid var(--line);padding-top:.9rem}\n"
    "figure{margin:0}\n"
    "figure img{display:block;image-rendering:pixelated;border-radius:3px;background:var(--tint)}\n"
    "figcaption{font-size:.78rem;line-height:1.35;color:var(--soft);margin-top:.25rem;white-space:"
    "nowrap;"
    "font-variant-numeric:tabular-nums}\n"
    "figcaption b{color:var(--ink);font-weight:600}\n"
    ".none{width:128px;min-height:96px;border:1px dashed var(--line);border-radius:3px;"
    "display:flex;align-items:center;padding:.5rem;font-size:.78rem;line-height:1.35;color:var(--"
    "soft)}\n"
    "h3{font-size:1rem;margin:1.4rem 0 .2rem}\n"
    ".strip{display:grid;grid-template-columns:1.35fr repeat(5,minmax(0,1fr));gap:.6rem;"
    "max-width:37.5rem;margin:.4rem 0 .8rem;align-items:end}\n"
    ".strip figure{min-width:0}\n"
    ".strip img,.strip .none{width:100%;height:auto}\n"
    ".strip .m img{outline:3px solid var(--mark);outline-offset:1px}\n"
    ".strip figcaption{white-space:normal;overflow-wrap:anywhere;min-height:2.7em}\n"
    ".heat td,.heat th{padding:.32rem .5rem}\n"
    "@media(max-width:40rem){body{padding:1.4rem 1rem 3rem}"
    ".data th,.data td{padding-right:.5rem;font-size:.85rem}"
    ".heat td,.heat th{padding:.3rem .28rem;font-size:.78rem}"
    ".strip{grid-template-columns:repeat(5,minmax(0,1fr));gap:.45rem;margin-bottom:1.4rem}"
    ".strip figure:first-child{grid-column:1/-1;display:flex;gap:.7rem;align-items:center}"
    ".strip figure:first-child img{width:6.5rem}}\n"
    "@media print{body{padding:0}.grid tr,.plot{break-inside:avoid}}\n"
    "</style>\n";

static void put_escaped(FILE *to, const char *text) {
    for (; *text; text++) switch (*text) {
        case '&': fputs("&amp;", to); break;
        case '<': fputs("&lt;", to); break;
        case '>': fputs("&gt;", to); break;
        case '"': fputs("&quot;", to); break;
        default: fputc((unsigned char)*text < 32 && *text != '\n' ? ' ' : *text, to);
        }
}

static void put_element(FILE *to, const char *open, const char *text, const char *close) {
    fputs(open, to);
    put_escaped(to, text);
    fputs(close, to);
}

void cli_page_begin(FILE *to, const char *title, const char *lead) {
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n",
          to);
    put_element(to, "<title>", title, "</title>\n");
    fputs(k_style, to);
    put_element(to, "</head>\n<body>\n<h1>", title, "</h1>\n");
    if (lead) put_element(to, "<p class=\"lead\">", lead, "</p>\n");
}

void cli_page_end(FILE *to, const char *footer) {
    if (footer) put_element(to, "<footer>", footer, "</footer>\n");
    fputs("</body>\n</html>\n", to);
}

void cli_page_heading(FILE *to, const char *text) { put_element(to, "<h2>", text, "</h2>\n"); }
void cli_page_subheading(FILE *to, const char *text) { put_element(to, "<h3>", text, "</h3>\n"); }
void cli_page_text(FILE *to, const char *text) { put_element(to, "<p>", text, "</p>\n"); }
void cli_page_note(FILE *to, const char *text) {
    put_element(to, "<p class=\"note\">", text, "</p>\n");
}
void cli_page_code(FILE *to, const char *text) { put_element(to, "<pre>", text, "</pre>\n"); }

void cli_page_put_table(FILE *to, const cli_page_table *t) {
    fprintf(to, "<div class=\"wide\"><table class=\"data%s\">\n<thead><tr>",
            t->shade ? " heat" : "");
    for (size_t c = 0; c < t->columns; c++)
        put_element(to, c < t->text_columns ? "<th class=\"t\">" : "<th>", t->head[c], "</th>");
    fputs("</tr></thead>\n<tbody>\n", to);
    for (size_t r = 0; r < t->rows; r++) {
        fputs(t->strong && t->strong[r] ? "<tr class=\"s\">" : "<tr>", to);
        for (size_t c = 0; c < t->columns; c++) {
            const char *text = t->cell[r * t->columns + c];
            const double shade = t->shade ? t->shade[r * t->columns + c] : 0.0;
            fputs(c < t->text_columns ? "<td class=\"t\"" : "<td", to);
            if (shade > 0) fprintf(to, " style=\"background:rgba(230,120,30,%.2f)\"", shade);
            put_element(to, ">", text ? text : "", "</td>");
        }
        fputs("</tr>\n", to);
    }
    fputs("</tbody></table></div>\n", to);
}

void cli_page_svg(FILE *to, const char *svg, size_t n, const char *alt) {
    size_t at = 0;
    while (at + 4 <= n && memcmp(svg + at, "<svg", 4) != 0) at++;
    if (at + 4 > n) return;
    put_element(to, "<div class=\"plot\" role=\"img\" aria-label=\"", alt, "\">\n");
    fwrite(svg + at, 1, n - at, to);
    fputs("</div>\n", to);
}

void cli_page_beside_begin(FILE *to) { fputs("<div class=\"beside\">\n", to); }
void cli_page_beside_end(FILE *to) { fputs("</div>\n", to); }

void cli_page_grid_begin(FILE *to, size_t columns, const char *const *heads) {
    fputs("<div class=\"wide\"><table class=\"grid\">\n<thead><tr><th></th>", to);
    for (size_t c = 0; c < columns; c++) put_element(to, "<th>", heads[c], "</th>");
    fputs("</tr></thead>\n<tbody>\n", to);
}

void cli_page_row(FILE *to, const char *label, bool first_of_group) {
    fputs(first_of_group ? "<tr class=\"g\">" : "<tr>", to); /* </tr> may be left out in HTML */
    put_element(to, "<th>", label, "</th>\n");
}

void cli_page_grid_end(FILE *to) { fputs("</tbody></table></div>\n", to); }

void cli_page_no_picture(FILE *to, const char *why) {
    if (why)
        put_element(to, "<td><div class=\"none\">", why, "</div></td>\n");
    else
        fputs("<td></td>\n", to);
}

void cli_page_row_note(FILE *to, size_t columns, const char *text) {
    fprintf(to, "<td class=\"over\" colspan=\"%zu\">", columns);
    put_element(to, "", text, "</td>\n");
}

void cli_page_base64(FILE *to, const void *from, size_t n) {
    const uint8_t *bytes = from;
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < n; i += 3) {
        uint32_t b1 = i + 1 < n ? bytes[i + 1] : 0, b2 = i + 2 < n ? bytes[i + 2] : 0;
        uint32_t v = (uint32_t)bytes[i] << 16 | b1 << 8 | b2;
        char quad[4] = {digit[v >> 18], digit[v >> 12 & 63], i + 1 < n ? digit[v >> 6 & 63] : '=',
                        i + 2 < n ? digit[v & 63] : '='};
        fwrite(quad, 1, 4, to);
    }
}

/* The src of an image; nothing is written on failure. */
static taper_status put_source(FILE *to, const taper_image *image, taper_error *error) {
    uint8_t *png = NULL;
    size_t n = 0;
    TAPER_TRY(formats_png_encode(image, &png, &n, error));
    fputs(" src=\"data:image/png;base64,", to);
    cli_page_base64(to, png, n);
    fputc('"', to);
    free(png);
    return TAPER_OK;
}

static void put_caption(FILE *to, const char *first, const char *second) {
    if (!first && !second) return;
    fputs("<figcaption>", to);
    if (first) put_element(to, "<b>", first, "</b>");
    if (first && second) fputs("<br>", to);
    if (second) put_escaped(to, second);
    fputs("</figcaption>", to);
}

void cli_page_strip_begin(FILE *to) { fputs("<div class=\"strip\">\n", to); }
void cli_page_strip_end(FILE *to) { fputs("</div>\n", to); }

taper_status cli_page_strip_picture(FILE *to, const taper_image *image, const char *hint,
                                    const char *caption, const char *second, bool marked,
                                    taper_error *error) {
    taper_status status = TAPER_OK;
    put_element(to, marked ? "<figure class=\"m\" title=\"" : "<figure title=\"", hint, "\">");
    if (image) {
        put_element(to, "<img alt=\"", hint, "\"");
        status = put_source(to, image, error);
        fputc('>', to);
    } else {
        fputs("<div class=\"none\"></div>", to);
    }
    put_caption(to, caption, second);
    fputs("</figure>\n", to);
    return status;
}

taper_status cli_page_picture(FILE *to, const taper_image *image, const char *alt, const char *cost,
                              const char *worth, taper_error *error) {
    uint8_t *png = NULL;
    size_t n = 0;
    taper_status status = formats_png_encode(image, &png, &n, error);
    if (status != TAPER_OK) {
        cli_page_no_picture(to, NULL);
        return status;
    }
    const uint32_t longer = image->width > image->height ? image->width : image->height;
    const uint64_t times = longer < SHOWN_WIDTH ? SHOWN_WIDTH / longer : 1;
    fprintf(to, "<td><figure><img width=\"%llu\" height=\"%llu\" alt=\"",
            (unsigned long long)(image->width * times),
            (unsigned long long)(image->height * times));
    put_escaped(to, alt);
    fputs("\" src=\"data:image/png;base64,", to);
    cli_page_base64(to, png, n);
    fputs("\">", to);
    free(png);
    put_caption(to, cost, worth);
    fputs("</figure></td>\n", to);
    return TAPER_OK;
}
