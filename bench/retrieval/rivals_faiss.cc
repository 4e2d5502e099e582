// rivals_faiss.cc -- the binary indexes of Faiss on the codes of bench_retrieval: recall, time of
// one query on one thread, queries a second on all, memory beside the codes, seconds to build.
// rivals_faiss.sh compiles and runs it.
//
//     rivals_faiss DIR [CODES [QUERIES [METHOD]]]
//
// Recall is of the 10 nearest by Hamming's distance: those as near as the tenth of an exact search
// count. Where DIR has truth of as many codes, recall by that is told, too.
#include <faiss/IndexBinaryFlat.h>
#include <faiss/IndexBinaryHNSW.h>
#include <faiss/IndexBinaryHash.h>
#include <faiss/IndexBinaryIVF.h>
#include <faiss/utils/utils.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <malloc.h>
#include <memory>
#include <omp.h>
#include <string>
#include <vector>

extern "C" {
#include "bench/bench.h"
}

using idx_t = decltype(faiss::IndexBinary::ntotal); // 64 bits
using bytes = std::vector<uint8_t>;
static const size_t K = 10, TRUTH = 100; // neighbours of each query in truth-*.u32

static bytes read_file(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    return bytes(std::istreambuf_iterator<char>(file), {});
}

struct task {
    size_t n = 0, bits = 0, queries = 0;
    bytes codes, query;
    std::vector<int32_t> exact; // [queries] distance of the tenth
    bytes real, pixels;         // truth; empty: none
};

// Faiss hashes the bytes of a code from the first on: the first bits of a word go there.
static bytes first_bits_first(const bytes &words, size_t rows, size_t words_a_row) {
    bytes out(rows * words_a_row * 8);
    for (size_t i = 0; i < out.size(); i++) out[i] = words[i / 8 * 8 + 7 - i % 8];
    return out;
}

static task read_task(const std::string &dir, size_t most, size_t queries) {
    task t;
    const bytes codes = read_file(dir + "/codes.bits"), query = read_file(dir + "/queries.bits");
    const size_t all = read_file(dir + "/labels.i32").size() / 4;
    if (codes.empty() || query.empty() || !all) {
        fprintf(stderr, "%s: no codes; make them with bench_retrieval codes\n", dir.c_str());
        exit(1);
    }
    const size_t words = codes.size() / 8 / all;
    t.n = std::min(most, all), t.bits = 64 * words;
    t.queries = std::min(queries, query.size() / 8 / words);
    t.codes = first_bits_first(codes, t.n, words);
    t.query = first_bits_first(query, t.queries, words);
    if (t.n == all) t.real = read_file(dir + "/truth-real.u32");
    if (t.n == all) t.pixels = read_file(dir + "/truth-pixels.u32");
    return t;
}

// --- what is told of one way to search ----------------------------------------------------

struct found {
    std::vector<int32_t> distance;
    std::vector<idx_t> number;
    explicit found(size_t queries) : distance(queries * K), number(queries * K, -1) {}
};

static double recall_by_distance(const task &t, const found &f) {
    size_t right = 0;
    for (size_t i = 0; i < t.queries * K; i++)
        right += f.number[i] >= 0 && f.distance[i] <= t.exact[i / K];
    return double(right) / double(t.queries * K);
}

static double recall_by_truth(const task &t, const bytes &truth, const found &f) {
    size_t right = 0;
    for (size_t i = 0; i < t.queries * K; i++)
        for (size_t j = 0; j < K; j++) {
            uint32_t number;
            memcpy(&number, &truth[4 * (i / K * TRUTH + j)], 4);
            right += f.number[i] == idx_t(number);
        }
    return double(right) / double(t.queries * K);
}

static std::string config_of(const task &t, const std::string &method, const std::string &more,
                             const found &f) {
    char text[512];
    int used =
        snprintf(text, sizeof text,
                 "{\"method\":\"%s\",\"codes\":\"real\",\"n\":%zu,\"bits\":%zu,%s"
                 "\"k\":%zu,\"queries\":%zu,\"faiss\":\"%d.%d.%d\",\"recall\":%.4f",
                 method.c_str(), t.n, t.bits, more.c_str(), K, t.queries, FAISS_VERSION_MAJOR,
                 FAISS_VERSION_MINOR, FAISS_VERSION_PATCH, recall_by_distance(t, f));
    if (!t.real.empty() && !t.pixels.empty())
        snprintf(text + used, sizeof text - size_t(used),
                 ",\"recall_real\":%.4f,\"recall_pixels\":%.4f", recall_by_truth(t, t.real, f),
                 recall_by_truth(t, t.pixels, f));
    return std::string(text) + "}";
}

static double median(std::vector<double> v) {
    std::sort(v.begin(), v.end());
    return v.size() % 2 ? v[v.size() / 2] : (v[v.size() / 2 - 1] + v[v.size() / 2]) / 2;
}

static double single_queries(const task &t, const faiss::IndexBinary &index, found *f) {
    std::vector<double> us;
    omp_set_num_threads(1);
    for (size_t i = 0; i < t.queries; i++) {
        const double start = bench_now();
        index.search(1, &t.query[i * t.bits / 8], K, &f->distance[i * K], &f->number[i * K]);
        us.push_back(1e6 * (bench_now() - start));
    }
    return median(us);
}

struct built {
    double seconds, megabytes; // beside the codes
};

static void measure(const task &t, const std::string &method, const std::string &more,
                    const faiss::IndexBinary &index, const built &b) {
    found f(t.queries);
    const double us = single_queries(t, index, &f);
    const std::string config = config_of(t, method, more, f);
    bench_print("retrieval/rivals", "query_median", us, "us", config.c_str());
    omp_set_num_threads(omp_get_num_procs());
    const double start = bench_now();
    index.search(idx_t(t.queries), t.query.data(), K, f.distance.data(), f.number.data());
    bench_print("retrieval/rivals", "queries_per_second", double(t.queries) / (bench_now() - start),
                "1/s", config.c_str());
    bench_print("retrieval/rivals", "beside_codes",
                100 * b.megabytes * 1e6 / (double(t.n) * double(t.bits) / 8), "% of codes",
                config.c_str());
    bench_print("retrieval/rivals", "build", b.seconds, "s", config.c_str());
    fflush(stdout);
}

static double heap_bytes() {
    const struct mallinfo2 info = mallinfo2();
    return double(info.uordblks) + double(info.hblkhd);
}

// Fill an index on all threads. What it holds of the codes themselves is not counted.
static built build(const task &t, const std::function<void()> &fill) {
    omp_set_num_threads(omp_get_num_procs());
    malloc_trim(0);
    const double before = heap_bytes(), start = bench_now();
    fill();
    const double seconds = bench_now() - start, codes = double(t.codes.size());
    return {seconds, std::max(0.0, (heap_bytes() - before - codes) / 1e6)};
}

static std::string setting(const char *name, long value) {
    return "\"" + std::string(name) + "\":" + std::to_string(value) + ",";
}

// --- the rivals ---------------------------------------------------------------------------

static void flat(task *t, bool is_wanted) {
    faiss::IndexBinaryFlat index(int(t->bits));
    const built b = build(*t, [&] { index.add(idx_t(t->n), t->codes.data()); });
    found f(t->queries);
    omp_set_num_threads(omp_get_num_procs());
    index.search(idx_t(t->queries), t->query.data(), K, f.distance.data(), f.number.data());
    for (size_t i = 0; i < t->queries; i++) t->exact.push_back(f.distance[i * K + K - 1]);
    if (is_wanted) measure(*t, "faiss-flat", "", index, b);
}

static void ivf(const task &t, size_t lists) {
    const size_t sample = std::min(t.n, 40 * lists);
    faiss::IndexBinaryFlat quantizer(int(t.bits));
    faiss::IndexBinaryIVF index(&quantizer, t.bits, lists);
    const built b = build(t, [&] {
        index.train(idx_t(sample), t.codes.data());
        index.add(idx_t(t.n), t.codes.data());
    });
    for (size_t probes = 2; probes <= lists / 2; probes *= 2) {
        index.nprobe = probes;
        measure(t, "faiss-ivf", setting("lists", long(lists)) + setting("probes", long(probes)),
                index, b);
    }
}

static void hnsw(const task &t, int links) {
    faiss::IndexBinaryHNSW index(int(t.bits), links);
    index.hnsw.efConstruction = 80;
    const built b = build(t, [&] { index.add(idx_t(t.n), t.codes.data()); });
    for (int ef = 16; ef <= 2048; ef *= 2) {
        index.hnsw.efSearch = ef;
        measure(t, "faiss-hnsw",
                setting("links", links) + setting("ef_build", 80) + setting("ef_search", ef), index,
                b);
    }
}

static void hash(const task &t) {
    for (int bits = 12; bits <= 20; bits += 4) {
        faiss::IndexBinaryHash index(int(t.bits), bits);
        const built b = build(t, [&] { index.add(idx_t(t.n), t.codes.data()); });
        for (index.nflip = 0; index.nflip <= 6; index.nflip++)
            measure(t, "faiss-hash", setting("hash_bits", bits) + setting("flips", index.nflip),
                    index, b);
    }
}

static void multi_hash(const task &t) {
    for (int hashes = 4; hashes <= 16; hashes *= 2) {
        const int bits = 16;
        faiss::IndexBinaryMultiHash index(int(t.bits), hashes, bits);
        const built b = build(t, [&] { index.add(idx_t(t.n), t.codes.data()); });
        for (index.nflip = 0; index.nflip <= 3; index.nflip++)
            measure(t, "faiss-multi-hash",
                    setting("hashes", hashes) + setting("hash_bits", bits) +
                        setting("flips", index.nflip),
                    index, b);
    }
}

int main(int argc, char **argv) {
    bench_begin(argc, argv);
    if (argc < 2) {
        fprintf(stderr, "usage: rivals_faiss DIR [CODES [QUERIES [flat|ivf|hnsw|hash|multi]]]\n");
        return 2;
    }
    const size_t n = argc > 2 ? strtoul(argv[2], nullptr, 10) : SIZE_MAX;
    const size_t queries = argc > 3 ? strtoul(argv[3], nullptr, 10) : 1000;
    const std::string method = argc > 4 ? argv[4] : "";
    task t = read_task(argv[1], n, queries);
    auto is_wanted = [&](const char *name) { return method.empty() || method == name; };
    flat(&t, is_wanted("flat"));
    if (is_wanted("hash")) hash(t);
    if (is_wanted("multi")) multi_hash(t);
    for (size_t lists = 256; is_wanted("ivf") && lists <= (t.n < 500000 ? 256 : 4096); lists *= 4)
        ivf(t, lists);
    if (is_wanted("hnsw")) hnsw(t, 16), hnsw(t, 32);
    return 0;
}
