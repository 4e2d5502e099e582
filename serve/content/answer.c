/* answer.c -- see answer.h. */
#include "serve/content/answer.h"
#include "serve/content/pages.h"
#include "serve/content/text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { QUALITY = 90 };
static const char html[] = "text/html; charset=utf-8", json[] = "application/json";
static const char json_ld[] =
    "application/ld+json;profile=\"http://iiif.io/api/image/3/context.json\"";
static const char profile_link[] = "<http://iiif.io/api/image/3/level1.json>;rel=\"profile\"";

/* --- answers of text --- */

static void take_buffer(serve_answer *answer, formats_buffer *text, const char *type) {
    size_t n = 0;
    uint8_t *bytes = text->status == TAPER_OK ? formats_buffer_take(text, &n) : NULL;
    formats_buffer_free(text);
    answer->type = type;
    answer->body = bytes ? serve_blob_new(bytes, n) : NULL;
}

void serve_answer_text(serve_answer *answer, unsigned status, const char *text) {
    formats_buffer line = formats_buffer_make(4096);
    *answer = (serve_answer){.status = status};
    serve_print(&line, "%s\n", text);
    take_buffer(answer, &line, "text/plain; charset=utf-8");
}

static void not_found(serve_answer *answer) {
    serve_answer_text(answer, 404, "there is no such image");
}

/* What a failure of the library is to a reader. */
static void failed(serve_answer *answer, taper_status status, const taper_error *error,
                   bool is_cut) {
    unsigned code = 500;
    if (status == TAPER_ERR_NOMEM || status == TAPER_ERR_LIMIT) code = 503;
    if (status == TAPER_ERR_TRUNCATED) code = is_cut ? 400 : 503;
    serve_answer_text(answer, code, error->text[0] ? error->text : taper_status_name(status));
}

/* --- lists --- */

static formats_buffer text_buffer(void) { return formats_buffer_make((size_t)64 << 20); }

static void folder(const serve_content *content, const serve_task *task, serve_answer *answer) {
    serve_entry *entry;
    size_t n;
    if (!serve_roots_list(content->roots, task->path, &entry, &n)) {
        serve_answer_text(answer, 404, "there is no such folder");
        return;
    }
    const bool is_json = task->kind == SERVE_TASK_FOLDER_JSON;
    formats_buffer text = text_buffer();
    (is_json ? serve_json_folder : serve_page_folder)(&text, task->path, entry, n);
    free(entry);
    take_buffer(answer, &text, is_json ? json : html);
}

static void list(const serve_task *task, const serve_set *set, serve_answer *answer) {
    const bool is_json = task->kind == SERVE_TASK_SET_JSON;
    const uint64_t images = serve_set_info(set)->images;
    const uint64_t first = task->query.from ? task->query.from - 1 : 0;
    const uint64_t most = is_json ? SERVE_MOST_LISTED : SERVE_PAGE_IMAGES;
    uint64_t count = task->query.count ? task->query.count : most;
    if (first >= images) {
        not_found(answer);
        return;
    }
    if (count > most) count = most;
    if (count > images - first) count = images - first;
    const serve_part part = {.first = first, .count = count};
    formats_buffer text = text_buffer();
    (is_json ? serve_json_set : serve_page_set)(&text, task->path, set, part);
    take_buffer(answer, &text, is_json ? json : html);
}

/* --- pictures --- */

/* The whole image at the size of width, height and scale: never above its own size. With both sides
 * the picture fits into them, with none and no scale it is the whole. */
static void picture_fit(const serve_query *query, uint32_t width, uint32_t height,
                        serve_iiif_picture *at) {
    uint64_t w = width, h = height;
    *at = (serve_iiif_picture){.width = width, .height = height};
    if (query->scale) {
        w = (width - 1) / query->scale + 1, h = (height - 1) / query->scale + 1;
    } else if (query->width || query->height) {
        const uint64_t most_w = query->width && query->width < width ? query->width : width;
        const uint64_t most_h = query->height && query->height < height ? query->height : height;
        const bool by_width = most_w * height <= most_h * width;
        w = by_width ? most_w : (most_h * width + height / 2) / height;
        h = by_width ? (most_w * height + width / 2) / width : most_h;
    }
    at->to_width = w ? (uint32_t)w : 1;
    at->to_height = h ? (uint32_t)h : 1;
}

/* The key of a picture, the same for all addresses that lead to it. */
static void key_of(const serve_set *set, const serve_picture *p, char *key, size_t room) {
    const serve_iiif_picture *at = &p->at;
    snprintf(key, room, "%s %llu %u,%u,%u,%u %u,%u %llu %d %d", serve_set_file(set)->tag,
             (unsigned long long)p->image, at->x, at->y, at->width, at->height, at->to_width,
             at->to_height, (unsigned long long)p->cut, p->is_png ? 0 : p->quality, p->is_quick);
}

static void picture(const serve_content *content, serve_renderer *renderer, serve_set *set,
                    const serve_picture *p, serve_answer *answer) {
    char key[320];
    uint8_t *bytes;
    size_t size;
    taper_error error = {0};
    key_of(set, p, key, sizeof key);
    answer->type = p->is_png ? "image/png" : "image/jpeg";
    answer->is_final = true;
    answer->body = serve_blob_cache_get(content->pictures, key);
    if (answer->body) return;
    const taper_status status = serve_render(renderer, set, p, &bytes, &size, &error);
    if (!bytes) {
        failed(answer, status, &error, p->cut != 0);
        return;
    }
    answer->body = serve_blob_new(bytes, size);
    answer->is_final = status == TAPER_OK; /* damaged data may be mended */
    if (answer->body && answer->is_final)
        serve_blob_cache_put(content->pictures, key, answer->body);
}

static bool image_of(const serve_set *set, uint64_t i, taper_image_info *info) {
    info->size = sizeof *info;
    return i != UINT64_MAX &&
           taper_container_get_image(serve_set_container(set), i, info, NULL) == TAPER_OK;
}

static int quality_of(const serve_query *query) {
    return query->quality ? (int)query->quality : QUALITY;
}

/* A prefix as long as the file is the file. */
static uint64_t cut_of(const serve_set *set, const serve_query *query) {
    return query->bytes < serve_set_file(set)->size ? query->bytes : 0;
}

static void plain_picture(const serve_content *content, serve_renderer *renderer,
                          const serve_task *task, serve_set *set, serve_answer *answer) {
    taper_image_info info;
    const size_t n = strlen(task->image);
    if (!image_of(set, serve_image_find_picture(serve_set_names(set), task->image), &info)) {
        not_found(answer);
        return;
    }
    serve_picture p = {.image = info.same_as,
                       .cut = cut_of(set, &task->query),
                       .is_png = n > 4 && !strcmp(task->image + n - 4, ".png"),
                       .quality = quality_of(&task->query),
                       .is_quick = !task->query.scale};
    picture_fit(&task->query, info.width, info.height, &p.at);
    if ((uint64_t)p.at.to_width * p.at.to_height > content->most_area)
        serve_answer_text(answer, 400, "the picture is too large: add ?width=4000");
    else
        picture(content, renderer, set, &p, answer);
}

static void iiif_link(const serve_task *task, const char *canonical, serve_answer *answer) {
    formats_buffer text = formats_buffer_make(sizeof answer->link - 1);
    serve_print(&text, "%s", profile_link);
    if (canonical) {
        serve_print(&text, ",<%s/iiif/", task->base);
        serve_print_url(&text, task->iiif.identifier, 1);
        serve_print(&text, "/%s>;rel=\"canonical\"", canonical);
    }
    if (text.status == TAPER_OK) memcpy(answer->link, text.data, text.size);
    formats_buffer_free(&text);
}

static void iiif(const serve_content *content, serve_renderer *renderer, const serve_task *task,
                 serve_set *set, serve_answer *answer) {
    taper_image_info info;
    const char *why;
    char canonical[SERVE_CANONICAL_BYTES];
    if (!image_of(set, serve_image_find(serve_set_names(set), task->image), &info)) {
        not_found(answer);
        return;
    }
    if (task->iiif.kind == SERVE_IIIF_INFO) {
        formats_buffer text = text_buffer();
        serve_json_iiif(&text, task->base, task->iiif.identifier, info.width, info.height,
                        content->most_area);
        take_buffer(answer, &text, task->wants_json ? json : json_ld);
        iiif_link(task, NULL, answer);
        return;
    }
    serve_picture p = {.image = info.same_as,
                       .cut = cut_of(set, &task->query),
                       .is_png = task->iiif.is_png,
                       .quality = quality_of(&task->query),
                       .is_quick = true};
    const int status =
        serve_iiif_fit(&task->iiif, info.width, info.height, content->most_area, &p.at, &why);
    if (status) {
        serve_answer_text(answer, (unsigned)status, why);
        return;
    }
    picture(content, renderer, set, &p, answer);
    serve_iiif_canonical(&p.at, info.width, info.height, p.is_png, canonical);
    if (answer->status == 200) iiif_link(task, canonical, answer);
}

/* --- all tasks --- */

void serve_answer_make(const serve_content *content, serve_renderer *renderer,
                       const serve_task *task, serve_answer *answer) {
    serve_set *set;
    taper_error error = {0};
    *answer = (serve_answer){.status = 200};
    if (task->kind == SERVE_TASK_FOLDER || task->kind == SERVE_TASK_FOLDER_JSON) {
        folder(content, task, answer);
        return;
    }
    const taper_status status = serve_sets_get(content->sets, task->file, &set, &error);
    if (status != TAPER_OK) {
        failed(answer, status, &error, false);
        return;
    }
    /* also if the set was kept with another file of the same tag, which was closed since */
    atomic_store(&task->file->total, serve_set_info(set)->file_bytes);
    switch (task->kind) {
    case SERVE_TASK_SET:
    case SERVE_TASK_SET_JSON: list(task, set, answer); break;
    case SERVE_TASK_PICTURE: plain_picture(content, renderer, task, set, answer); break;
    case SERVE_TASK_IIIF: iiif(content, renderer, task, set, answer); break;
    default: break; /* the length is known now */
    }
    serve_set_release(set);
}
