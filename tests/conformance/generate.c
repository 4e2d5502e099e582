/* generate.c -- writes the conformance corpus: models, containers, and the manifest that says what
 * comes of each, whole and cut. The same bytes on every machine.
 *
 *   build/opt/tests/conformance/generate FOLDER
 *
 * What the corpus holds is in recipes.h; README.md has the manifest's form. */
#include "decode_prefix.h"
#include "formats/directory.h"
#include "page_files.h"
#include "recipes.h"

enum { MOST_CUTS = 40 };

typedef struct corpus {
    const char *folder;
    formats_buffer manifest, samples;
    formats_buffer file[COUNT(models)];
    taper_model *model[COUNT(models)];
} corpus;

static void save(const corpus *c, const char *name, const char *suffix, const formats_buffer *b) {
    char path[600];
    snprintf(path, sizeof path, "%s/%s%s", c->folder, name, suffix);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(b->data, 1, b->size, file) != b->size || fclose(file)) {
        perror(path);
        exit(1);
    }
}

static void say(corpus *c, const char *text) {
    formats_write_bytes(&c->manifest, text, strlen(text));
}

static size_t index_of(const char *name) {
    for (size_t i = 0; i < COUNT(models); i++)
        if (!strcmp(models[i].name, name)) return i;
    abort();
}

/* --- lines of the manifest --------------------------------------------------------------- */

static void say_result(corpus *c, const prefix_result *r, int loose) {
    char text[40];
    size_t start = c->samples.size;
    if (r->pictures) {
        snprintf(text, sizeof text, " %08x", r->levels);
        say(c, text);
    }
    if (loose) formats_write_bytes(&c->samples, r->samples.data, r->samples.size);
    if (loose && r->pictures) {
        snprintf(text, sizeof text, " ~%zu", start);
        say(c, text);
    }
    for (uint32_t i = 0; !loose && i < r->pictures; i++) {
        snprintf(text, sizeof text, " %08x", r->pixels[i]);
        say(c, text);
    }
    say(c, "\n");
}

/* expected: NULL, or what must come of it. */
static void say_line(corpus *c, const char *name, const char *model, const formats_buffer *file,
                     size_t bytes, const taper_model *given, int loose, const char *expected) {
    char text[200];
    prefix_result r = decode_prefix(file->data, bytes, given);
    if (!strcmp(r.outcome, "fault") || (expected && strcmp(r.outcome, expected))) {
        fprintf(stderr, "%s, %zu bytes: %s\n", name, bytes, r.outcome);
        exit(1);
    }
    snprintf(text, sizeof text, "%s.taper %s%s %zu %s", name, given ? model : "-",
             given ? ".tpm" : "", bytes, r.outcome);
    say(c, text);
    say_result(c, &r, loose);
    formats_buffer_free(&r.samples);
}

/* --- cuts -------------------------------------------------------------------------------- */

typedef struct cuts {
    size_t at[MOST_CUTS], n;
} cuts;

static void add_cut(cuts *to, size_t at) {
    for (size_t i = 0; i < to->n; i++)
        if (to->at[i] == at) return;
    if (to->n < MOST_CUTS) to->at[to->n++] = at;
}

/* Does a group of the prefix know a significance whose sign has starved? */
static int a_sign_starves(const formats_front *f, const formats_buffer *file, size_t bytes,
                          const taper_model *model) {
    formats_memory memory = {file->data, bytes};
    taper_source source = formats_memory_source(&memory);
    int found = 0;
    formats_account account = {.limit = UINT64_MAX};
    codec_group_readers readers = {.account = &account};
    for (uint32_t g = 0; g < f->groups && !found; g++) {
        codec_group_reader *r;
        if (codec_group_readers_open(&readers, model, f, g, &source, &r, NULL) != TAPER_OK) abort();
        found = r->strips.coder->awaits_sign;
    }
    codec_group_readers_close(&readers);
    return found;
}

static void cut_at_sign(cuts *to, const formats_front *f, const formats_buffer *file,
                        const taper_model *model, uint64_t *seed) {
    size_t front = (size_t)f->front_size, data = file->size - front;
    size_t from = front + (data ? conformance_below(seed, (uint32_t)data) : 0);
    for (size_t at = from; at < file->size; at++)
        if (a_sign_starves(f, file, at, model)) {
            add_cut(to, at);
            return;
        }
}

/* kinds: how many of the last ones, in turn: no chunk, where a chunk begins, a byte of it, within,
 * all but a byte. */
static cuts choose_cuts(const char *name, const formats_buffer *file, const taper_model *model,
                        int kinds) {
    formats_front f;
    uint64_t seed = formats_crc32c(0, name, strlen(name)) + 2ull;
    uint32_t turn = conformance_below(&seed, 100);
    cuts to = {{file->size}, 1};
    if (formats_front_read(file->data, file->size, NULL, &f, NULL) != TAPER_OK) abort();
    uint32_t chunks = f.layers * f.groups;
    size_t front = (size_t)f.front_size;
    cut_at_sign(&to, &f, file, model, &seed);
    for (int i = 0; i < kinds; i++, turn++) {
        uint32_t chunk = conformance_below(&seed, chunks);
        size_t begin = front + (size_t)f.chunk_at[chunk],
               end = front + (size_t)f.chunk_at[chunk + 1];
        size_t within = end > begin ? conformance_below(&seed, (uint32_t)(end - begin)) : 0;
        const size_t kind[] = {front, begin, begin + (end > begin), begin + within,
                               end > begin ? end - 1 : end};
        add_cut(&to, kind[turn % COUNT(kind)]);
    }
    formats_front_free(&f);
    return to;
}

/* --- containers -------------------------------------------------------------------------- */

/* Its lines; sizes of the front matter are cut where `header` is set. */
static void add_container(corpus *c, const container_recipe *r, int kinds, int header) {
    size_t m = index_of(r->model);
    formats_buffer file = formats_buffer_make(1 << 22);
    container_file_make(r, c->model[m], &c->file[m], &file);
    save(c, r->name, ".taper", &file);
    cuts all = choose_cuts(r->name, &file, c->model[m], kinds);
    formats_front f;
    if (formats_front_read(file.data, file.size, NULL, &f, NULL) != TAPER_OK) abort();
    size_t front = (size_t)f.front_size;
    const size_t of_header[] = {0, 1, 7, 8, 55, 56, 79, 80, front - 1};
    for (size_t i = 0; header && i < COUNT(of_header); i++) add_cut(&all, of_header[i]);
    formats_front_free(&f);
    for (size_t i = 0; i < all.n; i++)
        say_line(c, r->name, r->model, &file, all.at[i], r->embeds ? NULL : c->model[m],
                 models[m].loose, NULL);
    formats_buffer_free(&file);
}

static void add_containers(corpus *c) {
    for (size_t i = 0; i < COUNT(containers); i++)
        add_container(c, &containers[i], containers[i].emptied ? 0 : 3, i < 3);
    for (uint32_t m = 0; m < CROSSED; m++)
        for (uint32_t k = 0; k < COUNT(flavours); k++) {
            container_recipe r = flavours[k];
            char name[100];
            snprintf(name, sizeof name, "%s-%s", models[m].name, r.name);
            r.name = name, r.model = models[m].name;
            if (r.raised && models[m].binary) continue; /* not in these */
            for (uint32_t i = 0; i < r.images; i++)
                r.image[i].channels = (uint8_t)models[m].channels;
            if (r.one_by_one) r.groups = r.images;
            if (r.one_by_one == 1) r.layers = 1;
            add_container(c, &r, 1, 0);
        }
}

/* --- illegal containers ------------------------------------------------------------------ */

static void sum_header(uint8_t *h) {
    formats_set_u32le(h + 20, 0);
    formats_set_u32le(h + 20, formats_crc32c(0, h, 56 + 24 * (size_t)formats_get_u32le(h + 48)));
}

/* One byte of a field changed; what is summed is summed again. */
static void change_field(formats_buffer *file, const bad_field *field) {
    uint8_t *h = file->data;
    uint32_t sections = formats_get_u32le(h + 48);
    size_t front = 56 + 24 * (size_t)sections, names = front + (size_t)formats_get_u64le(h + 64);
    size_t start = field->where == HEAD ? 0 : field->where == CONTENT ? front : names;
    h[start + field->at] = field->value;
    if (!strcmp(field->name, "header-checksum")) return;
    for (size_t i = 0, at = front; i < sections; i++) {
        uint64_t stored = formats_get_u64le(h + 56 + 24 * i + 8);
        formats_set_u32le(h + 56 + 24 * i + 4, formats_crc32c(0, h + at, (size_t)stored));
        at += (size_t)stored;
    }
    sum_header(h);
}

static void add_bad_fields(corpus *c, const container_recipe *of, const bad_field *field,
                           size_t n) {
    size_t m = index_of(of->model);
    for (size_t i = 0; i < n; i++) {
        formats_buffer file = formats_buffer_make(1 << 22);
        char name[100];
        snprintf(name, sizeof name, "bad-%s", field[i].name);
        container_file_make(of, c->model[m], &c->file[m], &file);
        change_field(&file, &field[i]);
        save(c, name, ".taper", &file);
        say_line(c, name, of->model, &file, file.size, c->model[m], 0, field[i].outcome);
        formats_buffer_free(&file);
    }
}

/* Containers whose model has no decoder; it is given, or inside. */
static void add_bad_without_decoder(corpus *c) {
    size_t m = index_of(of_fields.model), e = index_of("embedding");
    for (int inside = 0; inside < 2; inside++) {
        formats_buffer file = formats_buffer_make(1 << 22);
        container_recipe r = of_fields;
        const char *name = inside ? "bad-carries-embedding" : "bad-made-by-embedding";
        r.name = name, r.embeds = inside;
        container_file_make(&r, c->model[m], &c->file[e], &file);
        formats_set_u64le(file.data + 24, c->model[e]->info.id);
        sum_header(file.data);
        save(c, name, ".taper", &file);
        say_line(c, name, "embedding", &file, file.size, inside ? NULL : c->model[e], 0, "corrupt");
        formats_buffer_free(&file);
    }
}

/* Of the last section: it claims to unpack to a byte. */
static void zero_sized(file_parts *parts) {
    formats_set_u64le(parts->table.data + parts->table.size - 8, 1);
}

/* Section `part` of a file of one image, part 2 of 2 of a set of 2, or with what is illegal. */
static void add_part(file_parts *parts, char fault) {
    uint8_t part[29] = {2, 1, 2, 0, 1, 2, 3};
    if (fault == 'N') part[0] = 0;
    if (fault == 'I') part[1] = 2;
    if (fault == 'M') part[2] = 0;
    if (fault == 'O') part[3] = 1;
    file_parts_add(parts, "part", part, fault == 'S' ? 27 : fault == 'B' ? 29 : 28, 0);
}

/* Sections out of order, twice, and a checksum that fails. */
static void add_bad_sections(corpus *c) {
    static const struct {
        const char *name, *types, *outcome; /* d directory, n name, l label too large, m bytes more,
                                             v varint too long, p parent folder, s checksum,
                                             e metadata, E with a frame,
                                             t part, N no parts, I part 2 of 2 from 0, M no images
                                             of the set, O as many left out as there are none,
                                             S a byte short, B a byte more,
                                             1 .. 5 raised planes */
    } bad[] = {{"directory-second", "nd", "corrupt"}, {"directory-missing", "n", "corrupt"},
               {"long-varint", "v", "corrupt"},       {"name-parent", "dp", "corrupt"},
               {"directory-twice", "dd", "corrupt"},  {"name-twice", "dnn", "corrupt"},
               {"label-range", "dl", "corrupt"},      {"bytes-follow", "m", "corrupt"},
               {"section-checksum", "ds", "corrupt"}, {"raised-none", "1", "corrupt"},
               {"raised-unit", "2", "corrupt"},       {"raised-far", "3", "corrupt"},
               {"raised-much", "4", "corrupt"},       {"raised-missing", "5", "corrupt"},
               {"metadata-first", "ed", "corrupt"},   {"metadata-twice", "dee", "corrupt"},
               {"metadata-packed", "dE", "corrupt"},  {"part-first", "td", "corrupt"},
               {"part-twice", "dtt", "corrupt"},      {"part-parts", "dN", "corrupt"},
               {"part-number", "dI", "corrupt"},      {"part-set", "dM", "corrupt"},
               {"part-left-out", "dO", "corrupt"},    {"part-short", "dS", "corrupt"},
               {"part-bytes-follow", "dB", "corrupt"}};
    size_t m = index_of("pixel");
    static const uint8_t directory[] = {1, 1, 1, 1, 1, 1, 1, 1, 5, 1, 0, 0, 0, 0, 0, 0},
                         raised[][3] = {{1, 0, 0}, {1, 1, 1}, {1, 0, 11}, {1, 0, 16}, {1, 0}},
                         longer[] = {0x81, 0, 1, 1, 1, 1, 1, 1, 1, 5, 1, 0, 0, 0, 0, 0};
    for (size_t i = 0; i < COUNT(bad); i++) {
        formats_buffer file = formats_buffer_make(1 << 20);
        file_parts parts = file_parts_begin();
        formats_front front = {.model_id = c->model[m]->info.id,
                               .images = 1,
                               .groups = 1,
                               .layers = 1,
                               .rate_classes = 1};
        uint32_t raised_at[2] = {0, 1};
        for (const char *type = bad[i].types; *type; type++) {
            const uint8_t label[] = {1, 'x', 0, 2};
            if (*type == 'd') file_parts_add(&parts, "DIRE", directory, sizeof directory - 1, 0);
            if (*type == 'm') file_parts_add(&parts, "DIRE", directory, sizeof directory, 0);
            if (*type == 'n' || *type == 's')
                file_parts_add(&parts, "name", (const uint8_t *)"a", 2, 0);
            if (*type == 'v') file_parts_add(&parts, "DIRE", longer, sizeof longer, 0);
            if (*type == 'e') file_parts_add(&parts, "meta", (const uint8_t *)"\3\3\0\0\0", 5, 0);
            if (*type == 'E') file_parts_add(&parts, "meta", longer, 0, 0), zero_sized(&parts);
            if (strchr("tNIMOSB", *type)) add_part(&parts, *type);
            if (*type == 'p') file_parts_add(&parts, "name", (const uint8_t *)"../a", 5, 0);
            if (*type == 'l') file_parts_add(&parts, "labl", label, sizeof label, 0);
            if (*type >= '1' && *type <= '5') {
                uint8_t with_raised[18];
                memcpy(with_raised, directory, 15);
                memcpy(with_raised + 15, raised[*type - '1'], 3);
                file_parts_add(&parts, "DIRE", with_raised, *type == '5' ? 17 : 18, 0);
                front.raised_at = raised_at;
            }
            if (*type == 's') parts.body.data[parts.body.size - 2] = 'b';
        }
        char name[100];
        snprintf(name, sizeof name, "bad-%s", bad[i].name);
        file_parts_end(&parts, &front, 0, &file);
        save(c, name, ".taper", &file);
        say_line(c, name, "pixel", &file, file.size, c->model[m], 0, bad[i].outcome);
        formats_buffer_free(&file);
    }
}

/* Of pages: the file `paged-mixed` with something illegal. */
static void add_bad_pages(corpus *c) {
    const size_t m = index_of("grey");
    for (size_t i = 0; page_faults[i]; i++) {
        static const container_recipe r = {"bad-paged", "grey",    4, 4, 1, .image = {{4, 4, 1, 8}},
                                           .names = 1,  .pages = 2};
        formats_buffer file = formats_buffer_make(1 << 22);
        char name[100];
        snprintf(name, sizeof name, "bad-paged-%s", page_faults[i]);
        container_file_make(&r, c->model[m], &c->file[m], &file);
        page_file_spoil(&file, page_faults[i]);
        save(c, name, ".taper", &file);
        say_line(c, name, r.model, &file, file.size, c->model[m], 0, "corrupt");
        formats_buffer_free(&file);
    }
}

/* --- models ------------------------------------------------------------------------------ */

static void say_model(corpus *c, const char *name, const formats_buffer *file,
                      const char *expected) {
    char text[200];
    const char *outcome = model_outcome(file->data, file->size);
    if (strcmp(outcome, expected)) {
        fprintf(stderr, "%s.tpm: %s\n", name, outcome);
        exit(1);
    }
    snprintf(text, sizeof text, "%s.tpm - %zu %s\n", name, file->size, outcome);
    say(c, text);
}

static void add_models(corpus *c) {
    for (size_t i = 0; i < COUNT(models); i++) {
        c->file[i] = formats_buffer_make(1 << 20);
        model_file_make(&models[i], &c->file[i]);
        save(c, models[i].name, ".tpm", &c->file[i]);
        say_model(c, models[i].name, &c->file[i], "ok");
        if (taper_model_load(&c->model[i], c->file[i].data, c->file[i].size, NULL, NULL)) abort();
    }
    for (size_t i = 0; i < COUNT(bad_models); i++) {
        formats_buffer file = formats_buffer_make(1 << 20);
        model_recipe m = models[index_of(bad_models[i].like)];
        char name[100];
        snprintf(name, sizeof name, "bad-model-%s", bad_models[i].name);
        m.name = name, m.fault = bad_models[i].fault, m.plain = 1;
        if (m.fault == ODD_WINDOW) m.units = 5; /* so that this alone is wrong */
        model_file_make(&m, &file);
        save(c, name, ".tpm", &file);
        say_model(c, name, &file, bad_models[i].outcome);
        formats_buffer_free(&file);
    }
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    corpus c = {.folder = argv[1],
                .manifest = formats_buffer_make(1 << 22),
                .samples = formats_buffer_make(1 << 22)};
    say(&c, "# file, model (- inside), bytes of it, outcome, levels, pixels; see README.md\n");
    add_models(&c);
    add_containers(&c);
    add_bad_fields(&c, &of_fields, bad_fields, COUNT(bad_fields));
    add_bad_fields(&c, &of_pixel_fields, bad_pixel_fields, COUNT(bad_pixel_fields));
    add_bad_fields(&c, &of_stage_fields, bad_stage_fields, COUNT(bad_stage_fields));
    add_bad_without_decoder(&c);
    add_bad_sections(&c);
    add_bad_pages(&c);
    save(&c, "manifest", "", &c.manifest);
    save(&c, "samples", "", &c.samples);
    for (size_t i = 0; i < COUNT(models); i++) {
        taper_model_free(c.model[i]);
        formats_buffer_free(&c.file[i]);
    }
    formats_buffer_free(&c.manifest), formats_buffer_free(&c.samples);
    return 0;
}
