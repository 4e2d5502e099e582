/* page.c -- the pieces of an offline HTML page. */
#include "cli/common/page.h"
#include "formats/images/png.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

extern const char cli_page_css[], cli_page_js[]; /* page_parts.S */

static void put_character(FILE *to, char c) {
    switch (c) {
    case '&': fputs("&amp;", to); break;
    case '<': fputs("&lt;", to); break;
    case '>': fputs("&gt;", to); break;
    case '"': fputs("&quot;", to); break;
    default: fputc((unsigned char)c < 32 && c != '\n' ? ' ' : c, to);
    }
}

static void put_escaped(FILE *to, const char *text) {
    for (; *text; text++) put_character(to, *text);
}

/* A name may be broken where its parts end: "a/", "b_", "c-", but not within "-1". */
static void put_name(FILE *to, const char *name) {
    for (; *name; name++) {
        const bool is_end = *name == '/' || *name == '_' || *name == '-';
        const bool is_number = *name == '-' && !isalpha((unsigned char)name[1]);
        put_character(to, *name);
        if (is_end && !is_number && name[1]) fputs("<wbr>", to);
    }
}

static void put_element(FILE *to, const char *open, const char *text, const char *close) {
    fputs(open, to);
    put_escaped(to, text);
    fputs(close, to);
}

static void put_named(FILE *to, const char *open, const char *name, const char *close) {
    fputs(open, to);
    put_name(to, name);
    fputs(close, to);
}

void cli_page_style(FILE *to) {
    fputs("<style>\n", to);
    fputs(cli_page_css, to);
    fputs("</style>\n", to);
}

void cli_page_script(FILE *to) {
    fputs("<script>\n", to);
    fputs(cli_page_js, to);
    fputs("</script>\n", to);
}

void cli_page_begin(FILE *to, const char *title, const char *lead) {
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n",
          to);
    put_element(to, "<title>", title, "</title>\n");
    cli_page_style(to);
    put_element(to, "</head>\n<body>\n<h1>", title, "</h1>\n");
    if (lead) put_element(to, "<p class=\"lead\">", lead, "</p>\n");
}

void cli_page_end(FILE *to, const char *footer) {
    if (footer) put_element(to, "<footer>", footer, "</footer>\n");
    fputs("</body>\n</html>\n", to);
}

void cli_page_heading(FILE *to, const char *text) { put_element(to, "<h2>", text, "</h2>\n"); }
void cli_page_subheading(FILE *to, const char *text) { put_named(to, "<h3>", text, "</h3>\n"); }
void cli_page_label(FILE *to, const char *text) { put_element(to, "<h4>", text, "</h4>\n"); }
void cli_page_text(FILE *to, const char *text) { put_element(to, "<p>", text, "</p>\n"); }
void cli_page_note(FILE *to, const char *text) {
    put_element(to, "<p class=\"note\">", text, "</p>\n");
}
void cli_page_code(FILE *to, const char *text) { put_element(to, "<pre>", text, "</pre>\n"); }

void cli_page_put_table(FILE *to, const cli_page_table *t) {
    fprintf(to, "<div class=\"wide\"><table%s>\n<thead><tr>", t->shade ? " class=\"heat\"" : "");
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
    if (first) put_named(to, "<b>", first, "</b>");
    if (first && second) fputs("<br>", to);
    if (second) put_name(to, second);
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

/* --- pictures as many in a row as there is room for ------------------------------------------- */

void cli_page_photo_begin(FILE *to, const char *name, const char *note, uint32_t width,
                          uint32_t height) {
    fprintf(to, "<section class=\"photo\" style=\"--ratio:%.5f\">\n",
            height ? (double)width / height : 1.0);
    cli_page_subheading(to, name);
    if (note) cli_page_note(to, note);
    fputs("<details open><summary>All cuts side by side</summary>\n", to);
}

void cli_page_photo_end(FILE *to) { fputs("</details></section>\n", to); }

void cli_page_pictures_begin(FILE *to, bool are_small) {
    fprintf(to, "<div class=\"cuts%s\">\n", are_small ? " small" : "");
}

void cli_page_tiles_begin(FILE *to, uint32_t side) {
    fprintf(to,
            "<div class=\"cuts\" style=\"grid-template-columns:repeat(auto-fill,minmax(min(%upx,"
            "100%%),1fr))\">\n",
            side);
}

void cli_page_pictures_end(FILE *to) { fputs("</div>\n", to); }

/* A window on the picture, which it fills: as wide as the window's share of the picture. */
static void put_view(FILE *to, const cli_page_picture *p) {
    const cli_page_view v = p->view;
    fprintf(to, "<div class=\"pic\" style=\"aspect-ratio:%u/%u\">", v.width, v.height);
    put_element(to, "<img loading=\"lazy\" alt=\"", p->alt, "\"");
    if (v.of_width > v.width || v.of_height > v.height)
        fprintf(to, " style=\"width:%.4f%%;left:%.4f%%;top:%.4f%%\"", 100.0 * v.of_width / v.width,
                -100.0 * v.left / v.width, -100.0 * v.top / v.height);
}

static taper_status put_image(FILE *to, const cli_page_picture *p, taper_error *error) {
    taper_status status = TAPER_OK;
    if (p->view.width)
        put_view(to, p);
    else
        put_element(to, "<img alt=\"", p->alt, "\"");
    if (p->file) {
        fprintf(to, " src=\"data:%s;base64,", p->type);
        cli_page_base64(to, p->file, p->file_size);
        fputc('"', to);
    } else {
        status = put_source(to, p->image, error);
    }
    fputs(p->view.width ? "></div>" : ">", to);
    return status;
}

taper_status cli_page_put_picture(FILE *to, const cli_page_picture *p, taper_error *error) {
    taper_status status = TAPER_OK;
    fputs("<figure", to);
    if (p->by) put_element(to, " data-by=\"", p->by, "\"");
    if (p->by && p->cut) fprintf(to, " data-cut=\"%zu\"", p->cut);
    fputc('>', to);
    if (p->file || p->image)
        status = put_image(to, p, error);
    else
        put_named(to, "<div class=\"none\">", p->why ? p->why : "", "</div>");
    put_caption(to, p->first, p->second);
    fputs("</figure>\n", to);
    return status;
}
