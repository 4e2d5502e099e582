/* icc.h -- is a colour profile that of sRGB?
 *
 * Judged by what the profile does, not by its name: by its three colours, and by its curve at one
 * half. Safe on hostile input. */
#ifndef FORMATS_ICC_H
#define FORMATS_ICC_H
#include <stddef.h>

/* 1 when n bytes of an ICC profile mean sRGB, or a gamma near it (of grey: that gamma), as nearly
 * all software takes pixels without a profile to be; else 0, also when it is damaged. */
int formats_icc_is_srgb(const void *bytes, size_t n);

#endif
