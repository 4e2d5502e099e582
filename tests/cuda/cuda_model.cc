/* cuda_model.cc -- blocks of fibres; see cuda_runtime.h. */
#include "cuda_runtime.h"
#include <map>
#include <memory>
#include <set>
#include <stdio.h>
#include <stdlib.h>
#include <string>
#include <ucontext.h>
#include <vector>
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

cuda_model_index threadIdx, blockIdx, blockDim, gridDim;

enum { STACK = 256 * 1024, WARP = 32 };
enum waiting { NOT_BEGUN, READY, AT_BARRIER, FOR_WARP, DONE };

/* The execution context of a thread or of the scheduler. */
struct fibre {
    ucontext_t context;
    std::unique_ptr<char[]> own; /* its stack; the scheduler uses the program's */
    const void *bottom;
    size_t size;
    void *fake_stack; /* of the address sanitizer */
};

struct thread {
    waiting state;
    fibre *on;
    const cuda_model_site *site; /* of the barrier at which it waits */
    uint64_t value;              /* its value in an exchange */
};

/* The running block. Threads of a warp are started one after the other by any free fibre, so that a
 * kernel without barriers runs like a loop. */
struct block {
    const std::function<void()> *body;
    std::vector<thread> threads;
    std::vector<unsigned> order; /* of threads, warp by warp */
    size_t begun, to_begin;      /* threads started, and to be started */
    unsigned running;            /* thread */
    std::map<const cuda_model_site *, std::unique_ptr<char[]>> shared;
};

static block now;
static fibre scheduler;
static std::vector<std::unique_ptr<fibre>> fibres;
static std::vector<fibre *> idle;
static const char *kernel_name = "";
static int most_orders; /* 0: not known yet */

[[noreturn]] static void stop(const char *what, const cuda_model_site *site) {
    fflush(stdout);
    fprintf(stderr, "cuda model: kernel %s, block %u: %s", kernel_name, blockIdx.x, what);
    if (site) fprintf(stderr, " (%s:%d)", site->file, site->line);
    fprintf(stderr, "\n");
    abort();
}

void cuda_model_require(bool is_so, const char *what) {
    if (is_so) return;
    fprintf(stderr, "cuda model: %s\n", what);
    abort();
}

/* --- fibres ---------------------------------------------------------------------------- */

/* Called after a switch, in the fibre that was switched to. */
static void arrive(fibre *here) {
#if defined(__SANITIZE_ADDRESS__)
    const void *bottom;
    size_t size;
    __sanitizer_finish_switch_fiber(here->fake_stack, &bottom, &size);
    if (!scheduler.bottom) scheduler.bottom = bottom, scheduler.size = size; /* first of a launch */
#else
    (void)here;
#endif
}

static void change(fibre *from, fibre *to) {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(&from->fake_stack, to->bottom, to->size);
#endif
    swapcontext(&from->context, &to->context);
    arrive(from);
}

static void go_on(unsigned t) {
    now.running = t;
    threadIdx.x = t;
}

/* A free fibre starts threads until all of the warp have started. If a thread waits, the fibre
 * continues here later and is then free again. */
static void begin_threads(fibre *own) {
    while (now.begun < now.to_begin) {
        unsigned t = now.order[now.begun++];
        now.threads[t].on = own;
        go_on(t);
        (*now.body)();
        now.threads[t].state = DONE;
    }
}

static void live(unsigned low, unsigned high) {
    fibre *own = reinterpret_cast<fibre *>((uintptr_t)low | (uintptr_t)high << 32);
    arrive(own);
    for (;;) {
        begin_threads(own);
        idle.push_back(own);
        change(own, &scheduler);
    }
}

static fibre *free_fibre() {
    if (idle.empty()) {
        std::unique_ptr<fibre> f(new fibre());
        f->own.reset(new char[STACK]);
        f->bottom = f->own.get(), f->size = STACK;
        getcontext(&f->context);
        f->context.uc_stack.ss_sp = f->own.get();
        f->context.uc_stack.ss_size = STACK;
        uintptr_t address = reinterpret_cast<uintptr_t>(f.get());
        makecontext(&f->context, reinterpret_cast<void (*)()>(live), 2, (unsigned)address,
                    (unsigned)(address >> 32));
        idle.push_back(f.get());
        fibres.push_back(std::move(f));
    }
    fibre *f = idle.back();
    idle.pop_back();
    return f;
}

/* The running thread waits until the scheduler resumes it. */
static void wait(waiting for_what, const cuda_model_site *site) {
    unsigned t = now.running;
    thread *self = &now.threads[t];
    self->state = for_what, self->site = site;
    change(self->on, &scheduler);
    go_on(t);
}

/* --- scheduling ------------------------------------------------------------------------ */

/* The number of threads of a warp in this state. */
static size_t count(size_t first, size_t n, waiting state) {
    size_t found = 0;
    for (size_t t = first; t < first + n; t++) found += now.threads[t].state == state;
    return found;
}

static void let_go(size_t first, size_t n) {
    for (size_t t = first; t < first + n; t++) now.threads[t].state = READY;
}

/* Resumes a warp if all its lanes wait for each other. */
static bool let_warp_go(size_t first) {
    if (count(first, WARP, FOR_WARP) != WARP) return false;
    let_go(first, WARP);
    return true;
}

/* Runs a warp until its lanes are at a barrier or done. first: its place in the order. */
static void run_warp(size_t first) {
    const size_t warp = now.order[first] / WARP * WARP;
    now.to_begin = first + WARP;
    do {
        while (now.begun < now.to_begin) change(&scheduler, free_fibre());
        for (size_t i = first; i < first + WARP; i++) {
            const thread &t = now.threads[now.order[i]];
            if (t.state == READY) change(&scheduler, t.on);
        }
    } while (let_warp_go(warp));
}

/* All threads are at the same barrier, or done: resumes them. Returns false if they are done. */
static bool let_block_go() {
    const size_t n = now.threads.size();
    for (const thread &t : now.threads)
        if (t.state == FOR_WARP) stop("lanes of a warp wait for others that do not come", nullptr);
    const size_t there = count(0, n, AT_BARRIER);
    if (!there) return false;
    for (const thread &t : now.threads)
        if (t.state != AT_BARRIER || t.site != now.threads[0].site)
            stop("a barrier that not all threads reach", t.site ? t.site : now.threads[0].site);
    let_go(0, n);
    return true;
}

static void run_block(const std::vector<unsigned> &order, const std::function<void()> &body) {
    now.body = &body;
    now.order = order;
    now.begun = now.to_begin = 0;
    now.threads.assign(order.size(), thread{NOT_BEGUN, nullptr, nullptr, 0});
    now.shared.clear();
    do {
        for (size_t first = 0; first < order.size(); first += WARP) run_warp(first);
    } while (let_block_go());
    now.shared.clear();
}

/* 0 .. n - 1 in ascending, descending or pseudo-random order. */
static std::vector<unsigned> permutation(size_t n, int which) {
    std::vector<unsigned> p(n);
    uint64_t state = 0x9E3779B97F4A7C15u;
    for (size_t i = 0; i < n; i++) p[i] = (unsigned)(which == 1 ? n - 1 - i : i);
    for (size_t i = n; which == 2 && i > 1; i--) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        std::swap(p[i - 1], p[(state >> 33) % i]);
    }
    return p;
}

static void run_grid(size_t blocks, size_t threads, int which, const std::function<void()> &body) {
    std::vector<unsigned> thread_order;
    for (unsigned warp : permutation(threads / WARP, which))
        for (unsigned lane : permutation(WARP, which)) thread_order.push_back(warp * WARP + lane);
    for (unsigned b : permutation(blocks, which)) {
        blockIdx.x = b;
        run_block(thread_order, body);
    }
}

void cuda_model_orders(int orders) { most_orders = orders; }

static int orders() {
    const char *given = getenv("TAPER_MODEL_ORDERS");
    if (!most_orders) most_orders = given && *given >= '1' && *given <= '3' ? *given - '0' : 3;
    return most_orders;
}

void cuda_model_launch(const char *kernel, size_t blocks, size_t threads,
                       const std::function<void()> &body) {
    const cuda_model_guard guard;
    static const char *const name[] = {"", "in reverse", "shuffled"};
    kernel_name = kernel, blockIdx.x = 0;
    scheduler.bottom = nullptr; /* the calling thread may have changed */
    if (!threads || threads % WARP || threads > 1024 || !blocks || blocks > 0x7fffffff)
        stop("a launch of that shape", nullptr);
    if (cuda_model_launch_fails() || cuda_model_counts(NULL, 0, 0)) return;
    gridDim.x = (unsigned)blocks, blockDim.x = (unsigned)threads;
    if (orders() == 1) return run_grid(blocks, threads, 0, body);
    cuda_model_memory *before = cuda_model_save();
    run_grid(blocks, threads, 0, body);
    cuda_model_memory *after = cuda_model_save();
    for (int which = 1; which < most_orders; which++) {
        cuda_model_restore(before);
        run_grid(blocks, threads, which, body);
        if (!cuda_model_is_same(after)) {
            fprintf(stderr, "cuda model: threads %s: ", name[which]);
            stop("other bits", nullptr);
        }
    }
    cuda_model_forget(before), cuda_model_forget(after);
}

/* --- functions for kernels ------------------------------------------------------------- */

void *cuda_model_shared(cuda_model_site *site, size_t bytes) {
    std::unique_ptr<char[]> &piece = now.shared[site];
    if (!piece) {
        piece.reset(new char[bytes]);
        memset(piece.get(), 0xff, bytes);
    }
    return piece.get();
}

void cuda_model_barrier(cuda_model_site *site) {
    if (!cuda_model_is_mutant(site)) wait(AT_BARRIER, site);
}

unsigned cuda_model_lane() { return now.running % WARP; }

uint64_t cuda_model_exchange(uint64_t value, unsigned from_lane) {
    now.threads[now.running].value = value;
    wait(FOR_WARP, nullptr);
    uint64_t got = now.threads[now.running / WARP * WARP + from_lane].value;
    wait(FOR_WARP, nullptr);
    return got;
}

void __syncwarp(unsigned) { wait(FOR_WARP, nullptr); }

unsigned __ballot_sync(unsigned, int predicate) {
    unsigned bits = 0;
    now.threads[now.running].value = predicate != 0;
    wait(FOR_WARP, nullptr);
    for (unsigned lane = 0; lane < WARP; lane++)
        bits |= (unsigned)now.threads[now.running / WARP * WARP + lane].value << lane;
    wait(FOR_WARP, nullptr);
    return bits;
}

/* --- mutants --------------------------------------------------------------------------- */

/* Writes each site of a file once. */
static void write_site(const std::string &name) {
    static std::set<std::string> written;
    const char *path = getenv("TAPER_MODEL_SITES");
    if (!path || !*path || !written.insert(name).second) return;
    FILE *to = fopen(path, "a");
    if (!to) stop("the file of TAPER_MODEL_SITES cannot be written", nullptr);
    fprintf(to, "%s\n", name.c_str());
    fclose(to);
}

int cuda_model_is_mutant(cuda_model_site *site) {
    if (!site->is_mutant) {
        const char *mutant = getenv("TAPER_MODEL_MUTANT");
        std::string name = std::string(site->kind) + " " + site->file + ":" +
                           std::to_string(site->line) + "." + std::to_string(site->number);
        write_site(name);
        site->is_mutant = mutant && name == mutant ? 2 : 1;
    }
    return site->is_mutant == 2;
}

/* --- counting -------------------------------------------------------------------------- */

int cuda_model_is_counting(void) { return getenv("TAPER_MODEL_COUNT") != NULL; }

int cuda_model_counts(const char *operation, uint64_t bytes, uint64_t multiply_adds) {
    const cuda_model_guard guard;
    static FILE *to;
    const char *path = getenv("TAPER_MODEL_COUNT");
    if (!path || !*path) return 0;
    if (!to) to = fopen(path, "w");
    if (!to) stop("the file of TAPER_MODEL_COUNT cannot be written", nullptr);
    if (operation)
        fprintf(to, "%s %llu %llu\n", operation, (unsigned long long)bytes,
                (unsigned long long)multiply_adds);
    fflush(to);
    return 1;
}
