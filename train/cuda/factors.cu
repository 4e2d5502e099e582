/* factors.cu -- arrays that products read; see factors.h. */
#include "train/cuda/factors.h"
#include "train/cuda/operations.h"

static const unsigned THREADS = 256;

/* --- kept arrays ----------------------------------------------------------------------- */

static bool add(cuda_keeper *keeper, const cuda_kept &kept) {
    std::lock_guard<std::mutex> guard(keeper->lock);
    try {
        keeper->arrays.push_back(kept);
    } catch (const std::bad_alloc &) {
        return false;
    }
    return true;
}

taper_status cuda_keep(train_device *device, train_keeping how, float *array, size_t n) {
    cuda_keeper *keeper = cuda_keeper_of(device);
    cuda_kept kept = {how, array, n, (uint16_t *)array, 0, n};
    void *copy;
    if (cuda_precision(device) != TRAIN_BFLOAT16 || !n) return TAPER_OK;
    if (how == TRAIN_WEIGHTS) {
        TAPER_TRY(device->memory->alloc(device, n * sizeof *kept.rounded, &copy));
        kept.rounded = (uint16_t *)copy;
    }
    if (add(keeper, kept)) return TAPER_OK;
    if (how == TRAIN_WEIGHTS) device->memory->release(device, copy, n * sizeof *kept.rounded);
    return TAPER_ERR_NOMEM;
}

static bool overlap(const void *a, size_t a_bytes, const void *b, size_t b_bytes) {
    return (const char *)a < (const char *)b + b_bytes &&
           (const char *)b < (const char *)a + a_bytes;
}

/* Whether the array overlaps these bytes. */
static bool overlaps(const cuda_kept &kept, const void *at, size_t bytes) {
    return overlap(kept.array, kept.n * sizeof *kept.array, at, bytes);
}

/* Removes one such array from the list. */
static bool take_out(cuda_keeper *keeper, const void *memory, size_t bytes, cuda_kept *out) {
    std::lock_guard<std::mutex> guard(keeper->lock);
    for (size_t i = 0; i < keeper->arrays.size(); i++)
        if (overlaps(keeper->arrays[i], memory, bytes)) {
            *out = keeper->arrays[i];
            keeper->arrays.erase(keeper->arrays.begin() + (ptrdiff_t)i);
            return true;
        }
    return false;
}

void cuda_forget_kept(train_device *device, const void *memory, size_t bytes) {
    cuda_kept kept;
    while (take_out(cuda_keeper_of(device), memory, bytes, &kept))
        if (kept.how == TRAIN_WEIGHTS)
            device->memory->release(device, kept.rounded, kept.n * sizeof *kept.rounded);
}

/* Extends the range that is out of date by what an operation writes. */
static void mark_outdated(cuda_kept *kept, const cuda_array *array) {
    const size_t bytes = array->count * array->size, size = sizeof *kept->array;
    const char *from = (const char *)array->at, *first = (const char *)kept->array;
    const size_t old = from > first ? (size_t)(from - first) / size : 0,
                 end = ((size_t)(from + bytes - first) + size - 1) / size;
    const bool is_true = kept->old == kept->end;
    kept->old = is_true || old < kept->old ? old : kept->old;
    kept->end = is_true || end > kept->end ? end : kept->end;
    if (kept->end > kept->n) kept->end = kept->n;
}

bool cuda_check_array(train_device *device, const cuda_array *array, size_t *bytes) {
    cuda_keeper *keeper = cuda_keeper_of(device);
    std::lock_guard<std::mutex> guard(keeper->lock);
    *bytes = array->used * array->size;
    for (cuda_kept &kept : keeper->arrays) {
        if (!overlaps(kept, array->at, array->count * array->size)) continue;
        if (kept.how == TRAIN_FACTORS) {
            *bytes = array->used * array->size / sizeof(float) * sizeof *kept.rounded;
            if (array->as != CUDA_EITHER) return false;
        } else if (array->is_written && array->as == CUDA_BOTH) {
            *bytes += array->used * array->size / sizeof(float) * sizeof *kept.rounded;
        } else if (array->is_written) {
            mark_outdated(&kept, array);
        }
    }
    return true;
}

/* The kept array that contains at[n], or NULL; *rounded: its bfloat16 numbers. */
static cuda_kept *find(cuda_keeper *keeper, const float *at, uint16_t **rounded) {
    for (cuda_kept &kept : keeper->arrays)
        if (overlaps(kept, at, sizeof *at)) {
            *rounded = kept.rounded + (at - kept.array);
            return &kept;
        }
    return NULL;
}

cuda_numbers cuda_numbers_at(const train_stream *s, const float *at) {
    cuda_keeper *keeper = cuda_keeper_of(s->device);
    std::lock_guard<std::mutex> guard(keeper->lock);
    uint16_t *rounded = NULL;
    const cuda_kept *kept = find(keeper, at, &rounded);
    return cuda_numbers{(float *)at, kept && kept->how == TRAIN_FACTORS ? rounded : NULL};
}

uint16_t *cuda_copy_at(const train_stream *s, const float *w) {
    cuda_keeper *keeper = cuda_keeper_of(s->device);
    std::lock_guard<std::mutex> guard(keeper->lock);
    uint16_t *rounded = NULL;
    const cuda_kept *kept = find(keeper, w, &rounded);
    return kept && kept->how == TRAIN_WEIGHTS ? rounded : NULL;
}

/* --- factors --------------------------------------------------------------------------- */

static __global__ void round_kernel(size_t n, const float *x, uint16_t *to) {
    for (EACH(i, n)) to[i] = train_to_bfloat16(x[i]);
}

static taper_status round_numbers(train_stream *s, size_t n, const float *x, uint16_t *to) {
    CUDA_BEGIN(s, "round", CUDA_ARRAY(x, n), CUDA_ARRAY(to, n));
    LAUNCH(round_kernel, cuda_blocks(n, THREADS), THREADS, cuda_on(s), n, x, to);
    return cuda_end(s, "round");
}

/* Rounds into the stream's buffer, by a separate kernel. */
static taper_status round_apart(train_stream *s, int which, const float *at, size_t n,
                                const uint16_t **factor) {
    cuda_rounding *buffer = &cuda_stream_of(s)->rounding[which];
    const train_memory *memory = s->device->memory;
    if (buffer->n < n) {
        void *given;
        memory->release(s->device, buffer->numbers, buffer->n * sizeof *buffer->numbers);
        *buffer = cuda_rounding{};
        TAPER_TRY(memory->alloc(s->device, n * sizeof *buffer->numbers, &given));
        buffer->numbers = (uint16_t *)given, buffer->n = n;
    }
    *factor = buffer->numbers;
    return round_numbers(s, n, at, buffer->numbers);
}

void cuda_factors_free(train_stream *s) {
    for (cuda_rounding &buffer : cuda_stream_of(s)->rounding) {
        s->device->memory->release(s->device, buffer.numbers, buffer.n * sizeof *buffer.numbers);
        buffer = cuda_rounding{};
    }
}

/* A copy of the entry that contains at[n], whose range old .. end - 1 the caller must update before
 * the next operation of the stream; an empty entry if the product does not read that range. */
static cuda_kept take_kept(train_stream *s, const float *at, size_t n, uint16_t **rounded) {
    cuda_keeper *keeper = cuda_keeper_of(s->device);
    std::lock_guard<std::mutex> guard(keeper->lock);
    cuda_kept *kept = find(keeper, at, rounded), was = {};
    if (!kept) return was;
    was = *kept;
    const size_t first = (size_t)(at - kept->array);
    if (kept->old < first + n && first < kept->end)
        kept->old = kept->end = 0;
    else
        was.old = was.end = 0;
    return was;
}

taper_status cuda_factor(train_stream *s, int which, const float *at, size_t n,
                         const uint16_t **factor) {
    uint16_t *rounded = NULL;
    const cuda_kept kept = take_kept(s, at, n, &rounded);
    if (!rounded) return round_apart(s, which, at, n, factor);
    *factor = rounded;
    if (kept.how == TRAIN_FACTORS) return TAPER_OK;
    if (kept.old < kept.end)
        TAPER_TRY(
            round_numbers(s, kept.end - kept.old, kept.array + kept.old, kept.rounded + kept.old));
    CUDA_ROUNDED(cuda_on(s), n, at, rounded);
    return TAPER_OK;
}
