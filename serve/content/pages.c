/* pages.c -- see pages.h. */
#include "serve/content/pages.h"
#include "serve/content/text.h"
#include <stdio.h>
#include <string.h>

enum { TILE = 512, THUMBNAIL = 160, MOST_SCALE = 16 };

static void put(formats_buffer *to, const char *text) {
    formats_write_bytes(to, text, strlen(text));
}

static void head(formats_buffer *to, const char *title) {
    put(to, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
            "<meta name=\"viewport\" content=\"width=device-width\"><title>");
    serve_print_html(to, title);
    put(to,
        "</title><style>:root{color-scheme:light dark}"
        "body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem}"
        "ul{list-style:none;padding:0}small{opacity:.7}"
        ".images{display:grid;gap:.7rem;grid-template-columns:repeat(auto-fill,minmax(10rem,1fr))}"
        ".images a{overflow-wrap:anywhere}"
        ".images img{display:block;width:100%;height:8rem;object-fit:contain}"
        "</style></head><body>\n");
}

static void show_size(char to[24], uint64_t bytes) {
    static const char *const units[] = {"B", "KB", "MB", "GB", "TB"};
    double size = (double)bytes;
    int unit = 0;
    while (size >= 999.5 && unit < 4) size /= 1000, unit++;
    snprintf(to, 24, unit && size < 9.95 ? "%.1f %s" : "%.0f %s", size, units[unit]);
}

/* --- folders --- */

void serve_page_folder(formats_buffer *to, const char *path, const serve_entry *entry, size_t n) {
    head(to, *path ? path : "Images");
    put(to, "<h1>");
    serve_print_html(to, *path ? path : "Images");
    put(to, "</h1>\n<ul>\n");
    if (!n) put(to, "<li>There is no container here.\n");
    for (size_t i = 0; i < n; i++) {
        const serve_entry *e = &entry[i];
        char size[24] = "";
        if (!e->is_folder) show_size(size, e->size);
        const size_t length = strlen(e->name);
        const int is_set = length > 6 && !strcmp(e->name + length - 6, ".taper");
        put(to, "<li><a href=\"");
        serve_print_url(to, e->name, 1);
        put(to, e->is_folder || is_set ? "/\">" : "\">");
        serve_print_html(to, e->name);
        put(to, "</a>");
        serve_print(to, " <small>%s</small>\n", e->is_folder ? "folder" : size);
    }
    put(to, "</ul>\n</body></html>\n");
}

void serve_json_folder(formats_buffer *to, const char *path, const serve_entry *entry, size_t n) {
    put(to, "{\"schema\":1,\"path\":");
    serve_print_json(to, path);
    put(to, ",\"entries\":[");
    for (size_t i = 0; i < n; i++) {
        put(to, i ? ",\n{\"name\":" : "\n{\"name\":");
        serve_print_json(to, entry[i].name);
        serve_print(to, ",\"folder\":%s", entry[i].is_folder ? "true" : "false");
        if (!entry[i].is_folder)
            serve_print(to, ",\"bytes\":%llu", (unsigned long long)entry[i].size);
        put(to, "}");
    }
    put(to, "]}\n");
}

/* --- containers --- */

static const char *last_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void link_to_part(formats_buffer *to, uint64_t from, const char *text) {
    serve_print(to, "<a href=\"?from=%llu\">%s</a> ", (unsigned long long)from, text);
}

/* The picture of image i, by its number, which is always unique. */
static void one_image(formats_buffer *to, const serve_set *set, uint64_t i) {
    taper_image_info info = {.size = sizeof info};
    const unsigned long long number = i + 1;
    if (taper_container_get_image(serve_set_container(set), i, &info, NULL) != TAPER_OK) return;
    serve_print(to,
                "<a href=\"%llu.jpg\"><img loading=\"lazy\" alt=\"\" src=\"%llu.jpg?width=%u\">",
                number, number, info.width < 2 * THUMBNAIL ? info.width : 2 * THUMBNAIL);
    if (info.name)
        serve_print_html(to, info.name);
    else
        serve_print(to, "%llu", number);
    serve_print(to, " <small>%u x %u</small></a>\n", info.width, info.height);
}

void serve_page_set(formats_buffer *to, const char *path, const serve_set *set, serve_part part) {
    const taper_container_info *info = serve_set_info(set);
    char size[24];
    show_size(size, serve_set_file(set)->size);
    head(to, last_name(path));
    put(to, "<h1>");
    serve_print_html(to, last_name(path));
    put(to, "</h1>\n<p>");
    serve_print(to, "%llu images, <a href=\"../", (unsigned long long)info->images);
    serve_print_url(to, last_name(path), 1);
    serve_print(to, "\">%s</a>, <a href=\"index.json\">list</a></p>\n<p>", size);
    if (part.first)
        link_to_part(to, part.first > part.count ? part.first - part.count + 1 : 1, "before");
    if (part.first + part.count < info->images)
        link_to_part(to, part.first + part.count + 1, "next");
    put(to, "</p>\n<div class=\"images\">\n");
    for (uint64_t i = 0; i < part.count; i++) one_image(to, set, part.first + i);
    put(to, "</div>\n</body></html>\n");
}

static void image_json(formats_buffer *to, const char *path, const serve_set *set, uint64_t i) {
    taper_image_info info = {.size = sizeof info};
    char number[24];
    if (taper_container_get_image(serve_set_container(set), i, &info, NULL) != TAPER_OK) return;
    snprintf(number, sizeof number, "%llu", (unsigned long long)i + 1);
    serve_print(to, "{\"number\":%s,\"name\":", number);
    serve_print_json(to, info.name);
    serve_print(to, ",\"width\":%u,\"height\":%u,\"class\":", info.width, info.height);
    serve_print_json(to, info.label < 0 ? NULL
                                        : taper_container_class_name(serve_set_container(set),
                                                                     (uint32_t)info.label));
    put(to, ",\"picture\":\"/");
    serve_print_url(to, path, 0);
    serve_print(to, "/%s.jpg\",\"iiif\":\"/iiif/", number);
    serve_print_url(to, path, 1);
    serve_print(to, "%%2F%s\"}", number);
}

void serve_json_set(formats_buffer *to, const char *path, const serve_set *set, serve_part part) {
    const taper_container_info *info = serve_set_info(set);
    put(to, "{\"schema\":1,\"path\":");
    serve_print_json(to, path);
    serve_print(to, ",\"images\":%llu,\"bytes\":%llu,\"file_bytes\":%llu,\"from\":%llu,\"list\":[",
                (unsigned long long)info->images, (unsigned long long)serve_set_file(set)->size,
                (unsigned long long)info->file_bytes, (unsigned long long)part.first + 1);
    for (uint64_t i = 0; i < part.count; i++) {
        put(to, i ? ",\n" : "\n");
        image_json(to, path, set, part.first + i);
    }
    put(to, "]}\n");
}

/* --- IIIF --- */

void serve_json_iiif(formats_buffer *to, const char *base, const char *identifier, uint32_t width,
                     uint32_t height, uint64_t most_area) {
    put(to, "{\"@context\":\"http://iiif.io/api/image/3/context.json\",\"id\":\"");
    put(to, base);
    put(to, "/iiif/");
    serve_print_url(to, identifier, 1);
    put(to, "\",\n\"type\":\"ImageService3\",\"protocol\":\"http://iiif.io/api/image\","
            "\"profile\":\"level1\",\n");
    serve_print(to, "\"width\":%u,\"height\":%u,\"maxArea\":%llu,\n\"sizes\":[", width, height,
                (unsigned long long)most_area);
    int n = 0;
    for (uint32_t scale = MOST_SCALE; scale; scale /= 2) {
        const uint32_t w = (width - 1) / scale + 1, h = (height - 1) / scale + 1;
        if (scale > 1 && w == 1 && h == 1) continue;
        if ((uint64_t)w * h > most_area) continue;
        serve_print(to, "%s{\"width\":%u,\"height\":%u}", n++ ? "," : "", w, h);
    }
    serve_print(to, "],\n\"tiles\":[{\"width\":%d,\"height\":%d,\"scaleFactors\":[1", TILE, TILE);
    for (uint32_t scale = 2; scale <= MOST_SCALE && (width > TILE || height > TILE); scale *= 2) {
        serve_print(to, ",%u", scale);
        if ((width - 1) / scale + 1 <= TILE && (height - 1) / scale + 1 <= TILE) break;
    }
    put(to, "]}],\n\"extraFormats\":[\"png\"],\"extraQualities\":[\"color\"],"
            "\"extraFeatures\":[\"canonicalLinkHeader\",\"profileLinkHeader\",\"regionByPct\","
            "\"sizeByConfinedWh\",\"sizeByPct\"]}\n");
}
