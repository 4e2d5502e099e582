/* levels.c -- see levels.h. */
#include "codec/decoder/levels.h"
#include "codec/decoder/group_reader.h"
#include "codec/decoder/open_container.h"
#include <stdio.h>
#include <stdlib.h>

enum { LONGEST = 80 /* maximal length of the beginning of a line */ };

static void write_level(int32_t level, int plane_known, formats_buffer *line) {
    char text[16];
    int n = snprintf(text, sizeof text, " %d%s", (int)level, plane_known ? "+" : "");
    formats_write_bytes(line, text, (size_t)n);
}

/* Write a group, or a strip of it. */
static taper_status write_group(const codec_group *g, uint32_t number, const taper_sink *to) {
    formats_buffer line = formats_buffer_make(FORMATS_MOST_BYTES);
    char head[LONGEST];
    int n = snprintf(head, sizeof head, "group %u passes %u position %u\n", number, g->pass,
                     g->position);
    taper_status status = to->write(to->user, head, (size_t)n);
    for (uint32_t u = 0; u < g->tables->units && status == TAPER_OK; u++) {
        const int16_t *level = g->level + (size_t)u * g->stride;
        const uint8_t *plane_known = g->plane_known + (size_t)u * g->stride;
        formats_buffer_clear(&line);
        n = snprintf(head, sizeof head, "unit %u depth %u:", u, g->depth[u]);
        formats_write_bytes(&line, head, (size_t)n);
        for (uint32_t p = 0; p < g->n; p++) write_level(level[p], plane_known[p], &line);
        status = formats_write_bytes(&line, "\n", 1);
        if (status == TAPER_OK) status = to->write(to->user, line.data, line.size);
    }
    formats_buffer_free(&line);
    return status;
}

taper_status codec_levels_write(const taper_container *container, uint64_t cut,
                                const taper_sink *to, taper_error *error) {
    const formats_front *front = &container->front;
    taper_model *own = NULL;
    taper_status damage = TAPER_OK, status = TAPER_OK;
    formats_account account = formats_account_within(&container->limits);
    codec_group_readers readers = {.account = &account};
    taper_source source = container->source;
    if (cut < source.size) source.size = cut;
    const taper_source rendered = codec_front_drawn(front, &source);
    if (cut < front->front_size)
        return formats_fail(error, TAPER_ERR_TRUNCATED, "incomplete header, need %llu more byte%s",
                            (unsigned long long)(front->front_size - cut),
                            formats_plural(front->front_size - cut, "s"));
    account.used = front->account.used;
    if (container->own_model)
        status = codec_front_cut_model(front, cut, &container->limits, &own, error);
    const taper_model *model = own ? own : container->model;
    for (uint32_t g = 0; g < front->groups && status == TAPER_OK; g++) {
        codec_group_reader *r;
        status = codec_group_readers_open(&readers, model, front, g, &rendered, &r, error);
        if (status == TAPER_OK && r->bad && damage == TAPER_OK)
            damage = formats_fail(error, TAPER_ERR_CORRUPT,
                                  "layer %u of group %u is damaged (checksum); fetch the file "
                                  "again",
                                  r->layer, g);
        for (uint32_t b = 0; status == TAPER_OK && r->has_windows && b < r->strips.n; b++) {
            status = write_group(&r->strips.coder[b].group, g, to);
            if (status != TAPER_OK) formats_fail(error, status, "cannot write levels");
        }
    }
    codec_group_readers_close(&readers);
    taper_model_free(own);
    return status == TAPER_OK ? damage : status;
}
