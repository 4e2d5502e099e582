/* range_coder.c -- the functions of the range coder that run once per 32 bits; see range_coder.h.
 */
#include "codec/entropy/range_coder.h"

void codec_rc_encoder_init(codec_rc_encoder *rc, formats_buffer *out) {
    rc->low = 0;
    rc->range = UINT64_MAX;
    rc->out = out;
    rc->start = out->size;
}

void codec_rc_encoder_carry(codec_rc_encoder *rc) {
    size_t i = rc->out->size;
    while (i > rc->start && ++rc->out->data[--i] == 0) {
    }
}

void codec_rc_encoder_shift(codec_rc_encoder *rc) {
    formats_write_u32be(rc->out, (uint32_t)(rc->low >> 32));
    rc->low <<= 32;
    rc->range <<= 32;
}

/* Any value of [low, low + range) identifies the string. Write the one with the most trailing zero
 * bytes, without these. */
void codec_rc_encoder_finish(codec_rc_encoder *rc) {
    uint64_t last = rc->range - 1, value = rc->low;
    for (int zeros = 8; zeros > 0; zeros--) {
        uint64_t below = zeros == 8 ? UINT64_MAX : ((uint64_t)1 << (8 * zeros)) - 1;
        uint64_t up = (0 - rc->low) & below; /* distance to the next multiple of 2^(8 zeros) */
        if (up > last) continue;
        value = rc->low + up;
        if (value < up) codec_rc_encoder_carry(rc);
        break;
    }
    for (; value; value <<= 8) formats_write_u8(rc->out, (uint8_t)(value >> 56));
}

/* Byte i of the string, or 0 if it is not known. */
static uint64_t byte_at(const codec_rc_decoder *rc, size_t i) {
    return i < rc->size ? rc->bytes[i] : 0;
}

/* The largest value that the unknown bytes of the window [at - 8, at) can add. */
static uint64_t unknown_of_window(const codec_rc_decoder *rc) {
    if (rc->whole || rc->at <= rc->size) return 0;
    size_t missing = rc->at - rc->size;
    return missing >= 8 ? UINT64_MAX : ((uint64_t)1 << (8 * missing)) - 1;
}

void codec_rc_decoder_init(codec_rc_decoder *rc, const uint8_t *bytes, size_t size, int whole) {
    *rc = (codec_rc_decoder){
        .range = UINT64_MAX, .bytes = bytes, .size = size, .at = 8, .whole = whole};
    for (size_t i = 0; i < 8; i++) rc->code = rc->code << 8 | byte_at(rc, i);
    rc->unknown = unknown_of_window(rc);
}

void codec_rc_decoder_extend(codec_rc_decoder *rc, const uint8_t *bytes, size_t size, int whole) {
    size_t known = rc->size;
    rc->bytes = bytes;
    rc->size = size;
    rc->whole = whole;
    size_t from = rc->at - 8 > known ? rc->at - 8 : known;
    for (size_t i = from; i < rc->at && i < size; i++)
        rc->code += byte_at(rc, i) << (8 * (rc->at - 1 - i));
    rc->unknown = unknown_of_window(rc);
}

void codec_rc_decoder_shift(codec_rc_decoder *rc) {
    uint64_t next = 0;
    for (size_t i = 0; i < 4; i++) next = next << 8 | byte_at(rc, rc->at + i);
    rc->at += 4;
    rc->code = rc->code << 32 | next;
    rc->range <<= 32;
    rc->unknown = unknown_of_window(rc);
}

/* codec_bit_update for a 0. The step is rounded up, as that function rounds its change down. With
 * the smallest rate it does not pass CODEC_P_MIN. */
static inline void update_for_zero(codec_bit *model) {
    enum { LAST_RATE = 163 };
    uint64_t p = model->p1; /* of 64 bits, as it is used with the interval */
    if (model->count == CODEC_BIT_LIMIT) {
        if (p > CODEC_P_MIN) model->p1 = (uint16_t)(p - ((p * LAST_RATE + 65535) >> 16));
        return;
    }
    p -= (p * codec_bit_rate[model->count++] + 65535) >> 16;
    model->p1 = (uint16_t)(p < CODEC_P_MIN ? CODEC_P_MIN : p);
}

/* The interval is in local variables, as stores to a model may change *rc for all that a compiler
 * knows. */
uint32_t codec_rc_decode_zeros(codec_rc_decoder *rc, codec_bit *model, const uint16_t *index,
                               uint32_t most, uint32_t i, uint32_t n) {
    uint64_t range = rc->range, code = rc->code;
    const uint16_t *at = index + i, *end = index + n;
    for (; at < end; at++) {
        if (*at >= most) {
            if (*at == CODEC_RC_NO_BIT) continue;
            break;
        }
        codec_bit *bit = &model[*at];
        uint64_t bound = (range >> 16) * bit->p1;
        if (code < bound) break;
        update_for_zero(bit);
        code -= bound;
        range -= bound;
        if (range >= (uint64_t)1 << 32) continue;
        rc->range = range, rc->code = code;
        codec_rc_decoder_shift(rc);
        range = rc->range, code = rc->code;
    }
    rc->range = range, rc->code = code;
    return (uint32_t)(at - index);
}

uint32_t codec_rc_encode_zeros(codec_rc_encoder *rc, codec_bit *model, const uint16_t *index,
                               uint32_t most, const int16_t *value, int32_t largest, uint32_t i,
                               uint32_t n) {
    uint64_t range = rc->range, low = rc->low;
    for (; i < n; i++) {
        uint32_t at = index[i];
        if (at == CODEC_RC_NO_BIT) continue;
        if (at >= most || value[i] < -largest || value[i] > largest) break;
        uint64_t bound = (range >> 16) * model[at].p1;
        update_for_zero(&model[at]);
        low += bound;
        range -= bound;
        if (low < bound) codec_rc_encoder_carry(rc);
        if (range >> 32) continue;
        rc->range = range, rc->low = low;
        codec_rc_encoder_shift(rc);
        range = rc->range, low = rc->low;
    }
    rc->range = range, rc->low = low;
    return i;
}

/* round(65536 / (count + 1.5)) = round(131072 / (2 count + 3)) */
const uint16_t codec_bit_rate[CODEC_BIT_LIMIT + 1] = {
    43691, 26214, 18725, 14564, 11916, 10082, 8738, 7710, 6899, 6242, 5699, 5243, 4855, 4520, 4228,
    3972,  3745,  3542,  3361,  3197,  3048,  2913, 2789, 2675, 2570, 2473, 2383, 2300, 2222, 2149,
    2081,  2016,  1956,  1900,  1846,  1796,  1748, 1702, 1659, 1618, 1579, 1542, 1507, 1473, 1440,
    1409,  1380,  1351,  1324,  1298,  1273,  1248, 1225, 1202, 1181, 1160, 1140, 1120, 1101, 1083,
    1066,  1049,  1032,  1016,  1001,  986,   971,  957,  943,  930,  917,  904,  892,  880,  868,
    857,   846,   835,   824,   814,   804,   794,  785,  776,  767,  758,  749,  741,  732,  724,
    716,   708,   701,   694,   686,   679,   672,  665,  659,  652,  646,  639,  633,  627,  621,
    615,   610,   604,   599,   593,   588,   583,  577,  572,  567,  563,  558,  553,  548,  544,
    539,   535,   531,   526,   522,   518,   514,  510,  506,  502,  498,  495,  491,  487,  484,
    480,   477,   473,   470,   466,   463,   460,  457,  454,  450,  447,  444,  441,  438,  435,
    433,   430,   427,   424,   421,   419,   416,  413,  411,  408,  406,  403,  401,  398,  396,
    394,   391,   389,   387,   384,   382,   380,  378,  376,  373,  371,  369,  367,  365,  363,
    361,   359,   357,   355,   353,   351,   350,  348,  346,  344,  342,  340,  339,  337,  335,
    334,   332,   330,   329,   327,   325,   324,  322,  320,  319,  317,  316,  314,  313,  311,
    310,   308,   307,   306,   304,   303,   301,  300,  299,  297,  296,  295,  293,  292,  291,
    289,   288,   287,   286,   284,   283,   282,  281,  279,  278,  277,  276,  275,  274,  272,
    271,   270,   269,   268,   267,   266,   265,  264,  263,  262,  261,  260,  259,  258,  257,
    256,   255,   254,   253,   252,   251,   250,  249,  248,  247,  246,  245,  244,  243,  242,
    241,   240,   240,   239,   238,   237,   236,  235,  234,  234,  233,  232,  231,  230,  230,
    229,   228,   227,   226,   226,   225,   224,  223,  223,  222,  221,  220,  220,  219,  218,
    217,   217,   216,   215,   215,   214,   213,  212,  212,  211,  210,  210,  209,  208,  208,
    207,   206,   206,   205,   204,   204,   203,  203,  202,  201,  201,  200,  200,  199,  198,
    198,   197,   197,   196,   195,   195,   194,  194,  193,  192,  192,  191,  191,  190,  190,
    189,   189,   188,   188,   187,   186,   186,  185,  185,  184,  184,  183,  183,  182,  182,
    181,   181,   180,   180,   179,   179,   178,  178,  177,  177,  176,  176,  175,  175,  175,
    174,   174,   173,   173,   172,   172,   171,  171,  170,  170,  170,  169,  169,  168,  168,
    167,   167,   167,   166,   166,   165,   165,  164,  164,  164,  163,
};
