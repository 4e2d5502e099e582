/* nearest_list.h -- the k nearest so far of one query: a binary heap with the farthest at the top,
 * stored in the arrays of the result. Nearer means a smaller distance, then a smaller index. */
#ifndef CODEC_NEAREST_LIST_H
#define CODEC_NEAREST_LIST_H
#include <stddef.h>
#include <stdint.h>

typedef struct codec_nearest_list {
    double *distance; /* [capacity] the caller's */
    uint32_t *index;  /* [capacity] the caller's */
    size_t capacity;  /* k, 1.. */
    size_t held;      /* number of elements; starts with 0 */
} codec_nearest_list;

/* Insert an element that is not in the list, unless the list is full of nearer ones. O(log k). */
void codec_nearest_push(codec_nearest_list *list, double distance, uint32_t index);

/* Elements above this distance are not inserted: the largest distance of a full list, else
 * infinity. */
double codec_nearest_limit(const codec_nearest_list *list);

/* Sort the elements, nearest first. Nothing can be inserted afterwards. */
void codec_nearest_sort(codec_nearest_list *list);

#endif
