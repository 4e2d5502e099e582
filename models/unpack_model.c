/* unpack_model.c -- part of the build: writes a built-in model as constants, as taper_model_load
 * makes it in memory, so that opening it takes no time.
 *
 *   unpack_model NAME FILE.tpm ARRAYS.S MODEL.c
 *
 * ARRAYS.S has the arrays, as read-only data; MODEL.c has the structs that point to them:
 * models_NAME_constant. parts.h lists what they contain. Besides the file's contents that is the
 * analysis of a tied model (pseudo_inverse.h), the same on every machine (fused_product.h).
 *
 * It runs on the machine that builds, whatever the machine that the library is for: numbers are
 * written as text. What it writes depends only on the file. */
#include "codec/backend/fused.h"
#include "codec/backend/plain.h"
#include "codec/transform/pseudo_inverse.h"
#include "models/fused_product.h"
#include "models/parts.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char *what, const char *why) {
    fprintf(stderr, "unpack_model: %s: %s\n", what, why);
    exit(1);
}

static FILE *open_file(const char *path, const char *mode) {
    FILE *f = fopen(path, mode);
    if (!f) fail(path, strerror(errno));
    return f;
}

static void close_file(FILE *f, const char *path) {
    if (ferror(f) || fclose(f) != 0) fail(path, "cannot read or write it");
}

/* Set the analysis of a tied model. */
static void make_analysis(taper_model *m, const char *path) {
    static const codec_backend_ops ops = {"fused", models_fused_product, codec_plain_bias};
    const codec_network *net = &m->network;
    codec_backend backend = {&ops, NULL, NULL, ""};
    codec_backend_fused(&backend, 512); /* if this machine has it: the same, but faster */
    m->analysis = malloc((size_t)net->units * net->inputs * sizeof *m->analysis);
    if (!m->analysis || codec_pseudo_inverse(&backend, net->synthesis, net->units, net->inputs,
                                             m->analysis) != TAPER_OK)
        fail(path, "its analysis cannot be computed");
}

static taper_model *load(const char *path) {
    enum { MOST = 1 << 26 };
    uint8_t *bytes = malloc(MOST);
    taper_model *model;
    taper_error error = {0};
    FILE *f = open_file(path, "rb");
    if (!bytes) fail(path, "no memory");
    size_t size = fread(bytes, 1, MOST, f);
    close_file(f, path);
    if (taper_model_load(&model, bytes, size, NULL, &error) != TAPER_OK) fail(path, error.text);
    free(bytes);
    if (model->network.encoder.depth || model->network.decoder.depth || model->network.feedback ||
        model->tables.density || model->tables.model_pass || model->unit_is_missing)
        fail(path, "it has parts that models/parts.h does not list");
    if (model->tied) make_analysis(model, path);
    return model;
}

/* --- one element, as a number without sign in assembler and as a constant in C --------- */

static uint64_t element_bits(models_type type, const void *data, size_t i) {
    uint32_t bits;
    switch (type) {
    case MODELS_U8:
    case MODELS_I8: return ((const uint8_t *)data)[i];
    case MODELS_U16:
    case MODELS_I16: return ((const uint16_t *)data)[i];
    case MODELS_U64: return ((const uint64_t *)data)[i];
    case MODELS_F32: memcpy(&bits, (const float *)data + i, sizeof bits); return bits;
    default: return ((const uint32_t *)data)[i];
    }
}

static void write_constant(FILE *f, models_type type, const void *data, size_t i) {
    switch (type) {
    case MODELS_I8: fprintf(f, "%d,", ((const int8_t *)data)[i]); break;
    case MODELS_I16: fprintf(f, "%d,", ((const int16_t *)data)[i]); break;
    case MODELS_I32: fprintf(f, "%ld,", (long)((const int32_t *)data)[i]); break;
    case MODELS_F32: fprintf(f, "%af,", (double)((const float *)data)[i]); break;
    default: fprintf(f, "%lluu,", (unsigned long long)element_bits(type, data, i)); break;
    }
}

/* --- arrays: assembler ----------------------------------------------------------------- */

typedef struct output {
    const char *name;
    FILE *arrays, *model;
} output;

/* The symbol of an array: its member with "_" in place of what names cannot have. */
typedef struct symbol {
    char text[96];
} symbol;

static symbol symbol_of(const output *o, const char *object, const char *member) {
    symbol s;
    snprintf(s.text, sizeof s.text, "models_%s_%s_%s", o->name, object, member);
    for (char *c = s.text; *c; c++)
        if (strchr(".[]", *c)) *c = '_';
    return s;
}

static void write_elements(FILE *f, const models_part *p) {
    enum { A_LINE = 16 };
    static const char *const directive[] = {".byte ",  ".byte ",  ".2byte ", ".2byte ",
                                            ".4byte ", ".4byte ", ".8byte ", ".4byte "};
    const codec_pass *pass = p->data;
    for (size_t i = 0; p->type == MODELS_PASS && i < p->count; i++)
        fprintf(f, ".2byte %u\n.byte %u,%u\n", pass[i].unit, pass[i].depth, pass[i].fraction);
    if (p->type == MODELS_PASS) return;
    for (size_t i = 0; i < p->count; i++)
        fprintf(f, "%s0x%llx%s", i % A_LINE ? "," : directive[p->type],
                (unsigned long long)element_bits(p->type, p->data, i),
                i % A_LINE == A_LINE - 1 || i + 1 == p->count ? "\n" : "");
}

static void write_array(const output *o, const symbol *s, const models_part *p) {
    fprintf(o->arrays, ".global %s\n.hidden %s\n.balign 64\n%s:\n", s->text, s->text, s->text);
    write_elements(o->arrays, p);
}

/* --- structs: C ------------------------------------------------------------------------ */

static const char *type_of(models_type type) {
    static const char *const name[] = {"uint8_t", "int8_t",   "uint16_t", "int16_t",   "uint32_t",
                                       "int32_t", "uint64_t", "float",    "codec_pass"};
    return name[type];
}

/* The first part of the list with the same data: two members may point to one array. */
static const models_part *first_of(const models_list *list, const models_part *p) {
    const models_part *q = list->part;
    while (q->data != p->data) q++;
    return q;
}

static void write_members(const output *o, const char *object, const models_list *list) {
    for (size_t i = 0; i < list->n; i++) {
        const models_part *p = &list->part[i];
        if (p->is_array && p->data) {
            symbol s = symbol_of(o, object, first_of(list, p)->member);
            fprintf(o->model, "    .%s = (%s *)%s,\n", p->member, type_of(p->type), s.text);
        } else if (!p->is_array) {
            fprintf(o->model, "    .%s = %s", p->member, p->count > 1 ? "{" : "");
            for (size_t k = 0; k < p->count; k++) write_constant(o->model, p->type, p->data, k);
            fputs(p->count > 1 ? "},\n" : "\n", o->model);
        }
    }
}

static void write_arrays(const output *o, const char *object, const models_list *list) {
    for (size_t i = 0; i < list->n; i++) {
        const models_part *p = &list->part[i];
        if (!p->is_array || !p->data || first_of(list, p) != p) continue;
        symbol s = symbol_of(o, object, p->member);
        write_array(o, &s, p);
        fprintf(o->model, "extern const %s %s[];\n", type_of(p->type), s.text);
    }
}

static void write_conditional(const output *o, const char *object, const codec_conditional *c) {
    models_list list;
    if (!c) return;
    models_list_conditional(&list, c);
    write_arrays(o, object, &list);
    fprintf(o->model, "static const codec_conditional %s = {\n", object);
    write_members(o, object, &list);
    fputs("};\n", o->model);
}

static void write_model(const output *o, const taper_model *m) {
    static const char *const heading = "Written by models/unpack_model.c when taper is built.";
    models_list list;
    fprintf(o->arrays, "/* %s */\n.section .rodata\n", heading);
    fprintf(o->model, "/* %s */\n#include \"codec/bitplane/conditional.h\"\n", heading);
    fputs("#include \"codec/model/builtin_models.h\"\n", o->model);
    write_conditional(o, "conditional", m->tables.conditional);
    write_conditional(o, "head", m->tables.head);
    models_list_model(&list, m);
    write_arrays(o, "model", &list);
    fprintf(o->model, "const taper_model models_%s_constant = {\n    .is_constant = 1,\n", o->name);
    if (m->tables.conditional)
        fputs("    .tables.conditional = (codec_conditional *)&conditional,\n", o->model);
    if (m->tables.head) fputs("    .tables.head = (codec_conditional *)&head,\n", o->model);
    write_members(o, "model", &list);
    fputs("};\n", o->model);
    fputs(".section .note.GNU-stack, \"\", %progbits\n", o->arrays);
}

int main(int argc, char **argv) {
    if (argc != 5) fail("usage", "unpack_model NAME FILE.tpm ARRAYS.S MODEL.c");
    taper_model *model = load(argv[2]);
    const output o = {argv[1], open_file(argv[3], "w"), open_file(argv[4], "w")};
    write_model(&o, model);
    close_file(o.arrays, argv[3]);
    close_file(o.model, argv[4]);
    taper_model_free(model);
    return 0;
}
