# make            the tool, the libraries and the samples generator   (build/opt/taper)
# make deps       install the Debian packages it builds with; `demo` and `check` do so themselves
# make demo       the main job on a generated set; leaves build/demo/index.html
# make check-quick  the fast tests of every module, to run after each change
# make check      every test that is not long and needs no GPU; ends with `N passed, N failed`; skips say why
# make check-all  every test: long ones, all shapes, sanitizers, a sample of mutants of the kernels
# make check-rest what check-all runs and check does not
# make check-gpu  what only a GPU can show; REQUIRE=cuda: fails where there is none
# make V=1 ...    with the compiler's command lines; -jN: N jobs in place of one a processor
# make CC=... HOSTCC=cc ...  for another machine; HOSTCC, HOST_CFLAGS, HOST_LIBS (zstd, xxhash): of this one
# make SAN=1 ...  the same under ASan + UBSan, in its own build folder
# make MPI=0|1    leave training by several processes of MPI out or in (default: in when mpicc is found)
# make CUDA=0|1   force the GPU backend out or in (default: in when nvcc is found)
# make fuzz       build the libFuzzer targets (clang) and run each for FUZZ_SECONDS (default 30)
# make bench      measured figures as JSON lines
# make rd         rate and distortion of the models that ship, as JSON lines; PARTS="kodak cifar10 sets ..."
# make paper-nested-dropout   the figures of the nested-dropout paper; QUICK=1: in minutes, to build/paper-quick
# make paper-embedding   tables and figures of the papers on supervised codes; PARTS= CELLS=, QUICK=1: see its run.sh
# make paper-retrieval   search in a million codes: time and recall; PARTS=: see bench/retrieval/run.sh
# make web        the decoder for browsers (build/web/taper.wasm), with clang and wasi-libc; `all` builds it where they are
# make paper-broadcast   one container for receivers of many bandwidths, against ladders of files; QUICK=1: in seconds
# make lib        the libraries and their header; needs a C compiler, zstd and xxHash
# make install    binary, libraries, header, taper.pc, CMake package, models, manual pages, completions;
#                 PREFIX=/usr/local LIBDIR=PREFIX/lib INCLUDEDIR=PREFIX/include; DESTDIR=: written before them
# make install-lib  the same without binary and completions
# make deb        Debian packages taper, libtaper1, libtaper-dev and python3-taper in build/deb; needs dpkg-dev, python3
# make python     the wheel of the package for Python, with the library and the program, in build/python; needs python3
# make clean      remove build/
# make help       this text
NVCC    ?= nvcc
CUDA    ?= $(if $(shell command -v $(NVCC) 2>/dev/null),1,0)
SAN     ?= 0
PREFIX  ?= /usr/local
LIBDIR  ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
NM      ?= nm
MPICC   ?= mpicc
MPI     ?= $(if $(shell command -v $(MPICC) 2>/dev/null),1,0)
OBJCOPY ?= objcopy
VERSION := $(shell sed -n 's/^.define TAPER_VERSION  *"\(.*\)"/\1/p' formats/taper_types.h)
SOVERSION := $(firstword $(subst ., ,$(VERSION)))
FUZZ_SECONDS ?= 30
ifeq ($(CUDA),1)
CU      := $(wildcard train/cuda/*.cu train/cuda/kernels/*.cu)
endif
B       := build/$(if $(filter 1,$(SAN)),san,opt)$(if $(CU),-cuda,)

CFLAGS  ?= -O3 -g
CSTD    := -std=c11 -I. -D_POSIX_C_SOURCE=200809L -D_FILE_OFFSET_BITS=64 \
           -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wvla -fPIC -fvisibility=hidden -pthread
# bit-exact decoding: no fused multiply-add, no reassociation, whatever CFLAGS says. Nobody looks at errno or the
# floating-point flags, for which compilers would do one number at a time.
CEXACT  := -ffp-contract=off -fno-fast-math -fno-math-errno -fno-trapping-math
ifeq ($(SAN),1)
SANFLAGS := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
endif

# --- libraries, found by pkg-config ---------------------------------------------------------------------
have_pkg  = $(shell pkg-config --exists $(1) 2>/dev/null && echo 1)
# what the library needs, and what the readers of image files need besides
LIB_PKGS  := libzstd libxxhash
PKGS      := libpng libjpeg zlib $(LIB_PKGS)
DEP_CFLAGS := $(shell for p in $(PKGS); do pkg-config --cflags $$p 2>/dev/null; done)
LIB_LDLIBS := $(or $(shell pkg-config --libs $(LIB_PKGS) 2>/dev/null),-lzstd -lxxhash) -lm -pthread
LDLIBS    := $(shell pkg-config --libs $(PKGS) 2>/dev/null) -lm -pthread -ldl
LATE_LIBS = $(CUDA_LIBS) -ldl # LAPACK is loaded when training begins, those of images and rivals when they are met

# --- the directories: formats <- codec <- train <- cli --------------------------------------------------------
FORMATS := $(wildcard formats/*.c)
IMAGES  := $(wildcard formats/*/*.c)
CODEC   := $(wildcard codec/*.c codec/*/*.c)
# mpi_library.c is the only one of these that is compiled with MPI, into a file of its own
TRAIN   := $(filter-out train/parallel/mpi_library.c,$(wildcard train/*.c train/*/*.c))
# what speaks HTTP: as a client, as a server
HTTP    := $(wildcard remote/*.c serve/*.c serve/*/*.c)
CLI     := $(HTTP) $(wildcard cli/*.c cli/*/*.c)
SAMPLES := $(wildcard samples/*.c)
ifneq ($(CU),)
# The runtime is linked in, cuBLASLt loaded when it is needed: a machine without either runs the same program.
CUDA_HOME ?= $(patsubst %/bin/,%,$(dir $(shell command -v $(NVCC))))
CUDA_LIB  := $(firstword $(wildcard $(CUDA_HOME)/lib64 $(CUDA_HOME)/lib))
CUDA_ARCH ?= 75 80 90
NVCCFLAGS := -O3 -std=c++17 --fmad=false -I. -Xcompiler -fPIC $(foreach a,$(CUDA_ARCH),-gencode arch=compute_$a,code=sm_$a) \
             -gencode arch=compute_$(lastword $(CUDA_ARCH)),code=compute_$(lastword $(CUDA_ARCH))
DEFS      += -DHAVE_CUDA=1
CUDA_LIBS := -L$(CUDA_LIB) -lcudart_static -lrt -ldl -l:libstdc++.a
endif
obj = $(patsubst %.c,$(B)/%.o,$(filter %.c,$(1))) $(patsubst %.cu,$(B)/%.cu.o,$(filter %.cu,$(1)))
# models that ship as constants, too; and all
CONSTANTS := photo tiny
MODELS    := $(CONSTANTS) search
LIB_OBJ   := $(call obj,$(FORMATS) $(CODEC)) $(B)/models/models.o \
             $(CONSTANTS:%=$(B)/models/%_arrays.o) $(CONSTANTS:%=$(B)/models/%_constant.o)
IMAGE_OBJ := $(call obj,$(IMAGES))
TRAIN_OBJ := $(call obj,$(TRAIN) $(CU)) $(IMAGE_OBJ)
CLI_OBJ   := $(call obj,$(CLI)) $(B)/cli/search/map_page.o $(B)/cli/common/page_parts.o \
             $(B)/cli/viewer/viewer_parts.o
TESTS     := $(patsubst tests/%.c,$(B)/tests/%,$(wildcard tests/test_*.c))
BENCHES   := $(patsubst bench/%.c,$(B)/bench/%,$(wildcard bench/bench_*.c))
FUZZ_SRC  := $(wildcard tests/fuzz/fuzz_*.c)
REPLAYS   := $(patsubst tests/fuzz/%.c,$(B)/tests/fuzz/%,$(FUZZ_SRC))
SAN_REPLAYS := $(patsubst tests/fuzz/%.c,build/san/tests/fuzz/%,$(FUZZ_SRC))

# a line an object or program; V=1: the commands themselves
ifneq ($(filter 1,$(V))$(findstring s,$(firstword -$(MAKEFLAGS))),)
say :=
else
say = @echo "$(1) $@";
endif
ifeq ($(filter -j%,$(MAKEFLAGS)),)
MAKEFLAGS += -j$(shell nproc 2>/dev/null || echo 2)
endif

.PHONY: all deps demo demo-run check-quick check check-all check-rest check-programs check-quick-programs check-run FORCE check-gpu check-gpu-run fuzz bench rd paper-nested-dropout paper-embedding paper-retrieval paper-broadcast lib install install-lib deb python clean help
.SECONDARY:
all: $(B)/taper $(B)/make_samples lib $(if $(filter 1,$(MPI)),$(B)/taper-mpi.so)
lib: $(B)/libtaper.a $(B)/libtaper.so $(B)/include/taper.h

deps:
	@.ci/deps
demo: deps
	@$(MAKE) --no-print-directory demo-run
demo-run: all
	@sh samples/demo.sh $(B)/taper $(B)/make_samples build/demo
# The tiers of tests: tests/run.sh and tests/tiers.txt. Kernels are compiled for one architecture where none was asked
# for, and none was compiled before.
SOME_ARCH = $(if $(filter command environment,$(firstword $(origin CUDA_ARCH))),,$(ONE_ARCH))
ONE_ARCH  = CUDA_ARCH="$$(cat $(B)/cuda_arch 2>/dev/null || echo $(lastword $(CUDA_ARCH)))"
check-quick: deps
	@$(MAKE) --no-print-directory $(SOME_ARCH) check-quick-programs
	@TIER=quick sh tests/run.sh $(B)
check: deps
	@$(MAKE) --no-print-directory $(SOME_ARCH) check-run
check-run: check-programs
	@TIER=check sh tests/run.sh $(B)
check-all check-rest: deps
	@$(MAKE) --no-print-directory check-programs
	@$(MAKE) --no-print-directory SAN=1 CUDA=0 check-quick-programs $(SAN_REPLAYS)
	@TIER=$(@:check-%=%) SAN_BUILD=build/san sh tests/run.sh $(B)
check-programs: all $(TESTS) $(B)/tests/taper_model $(B)/tests/kernels_model $(B)/bench/bench_lengths $(B)/bench/bench_scale \
    $(B)/bench/paper_embedding $(B)/bench/bench_retrieval $(B)/bench/paper_broadcast $(REPLAYS) $(B)/example $(B)/ranges $(B)/alike \
    $(B)/tests/conformance/generate

# Kernels on the processor, always under ASan + UBSan: tests/cuda/ stands in for CUDA's headers and for
# train/cuda/marks.h, as its include path comes first.
MODEL_SAN := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
MODEL_OBJ := $(patsubst %.cu,$(B)/model/%.o,$(wildcard train/cuda/*.cu train/cuda/kernels/*.cu)) \
             $(patsubst %.cc,$(B)/model/%.o,$(wildcard tests/cuda/*.cc))
MODEL_CXX  = $(CXX) -x c++ -std=c++17 -Itests/cuda -I. -O1 -g -ffp-contract=off -Wall -Wextra -Wshadow $(MODEL_SAN) -MMD -MP -c
$(B)/model/%.o: %.cu Makefile
	@mkdir -p $(@D)
	$(call say,MODEL)$(MODEL_CXX) -o $@ $<
$(B)/model/%.o: %.cc Makefile
	@mkdir -p $(@D)
	$(call say,MODEL)$(MODEL_CXX) -o $@ $<
$(B)/tests/test_kernels%.o: SANFLAGS := $(MODEL_SAN)
KERNEL_TESTS := $(filter $(B)/tests/test_kernels_%,$(TESTS))
$(B)/tests/all_kernels: $(KERNEL_TESTS:=.o) $(B)/tests/all_kernels.o $(MODEL_OBJ) $(filter-out $(B)/cli/main.o,$(CLI_OBJ)) $(filter-out %.cu.o,$(TRAIN_OBJ)) $(filter-out %.cu.o,$(LIB_OBJ))
	$(call say,LD)$(CXX) $(MODEL_SAN) $(LDFLAGS) -o $@ $^ -lcmocka $(LATE_LIBS) $(LDLIBS)
$(KERNEL_TESTS): $(B)/tests/all_kernels
	@ln -sf $(<F) $@

# The program with kernels on the processor, for tests.
$(B)/model/cli/device.o: cli/device.c Makefile
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(CSTD) $(CFLAGS) $(CEXACT) -DHAVE_CUDA=1 $(MODEL_SAN) -MMD -MP -c -o $@ $<
MODEL_ALL := $(filter-out $(B)/cli/device.o $(B)/cli/main.o,$(CLI_OBJ)) $(B)/model/cli/device.o $(MODEL_OBJ) \
             $(filter-out %.cu.o,$(TRAIN_OBJ) $(LIB_OBJ))
$(B)/tests/taper_model: $(B)/cli/main.o $(MODEL_ALL)
	@mkdir -p $(@D)
	$(call say,LD)$(CXX) $(MODEL_SAN) $(LDFLAGS) -o $@ $^ $(LATE_LIBS) $(LDLIBS)
$(B)/tests/kernels_model: $(B)/bench/bench_kernels.o $(B)/bench/common.o $(MODEL_ALL)
	@mkdir -p $(@D)
	$(call say,LD)$(CXX) $(MODEL_SAN) $(LDFLAGS) -o $@ $^ $(LATE_LIBS) $(LDLIBS)

# The same tests on a GPU, but for failures, which only the model has at will.
GPU_TESTS := $(patsubst tests/%.c,$(B)/gpu/tests/%,$(filter-out %_failures.c,$(wildcard tests/test_kernels_*.c)))
$(B)/gpu/tests/%.o: tests/%.c Makefile
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(CSTD) -O1 -g $(CEXACT) -DEVERY_DEVICE_GPU=1 -MMD -MP -c -o $@ $<
$(GPU_TESTS): %: %.o $(filter-out $(B)/cli/main.o,$(CLI_OBJ)) $(TRAIN_OBJ) $(LIB_OBJ)
	$(call say,LD)$(CC) $(LDFLAGS) -o $@ $^ -lcmocka $(LATE_LIBS) $(LDLIBS)

check-gpu: deps
	@if command -v $(NVCC) >/dev/null; then $(MAKE) --no-print-directory CUDA=1 check-gpu-run; \
	else sh tests/gpu.sh --without "$(NVCC) is not installed"; fi
check-gpu-run: all $(GPU_TESTS)
	@sh tests/gpu.sh $(B)

# The library: what a program that embeds it links. Names of its own that are no public ones get a prefix in the static
# library, so that they meet no names of the program. internal.a has them as they are in the source.
$(B)/internal.a: $(LIB_OBJ)
	@rm -f $@
	$(call say,AR)$(AR) rcs $@ $^
$(B)/libtaper.a: $(B)/internal.a
	@$(NM) -g --defined-only $< 2>/dev/null | \
	    awk 'NF == 3 && $$3 !~ /^(taper_|_)/ { print $$3, "taper_internal_" $$3 }' >$(B)/internal.names
	$(call say,OBJCOPY)$(OBJCOPY) --redefine-syms=$(B)/internal.names $< $@
$(B)/libtaper.so: $(LIB_OBJ) codec/taper.map
	$(call say,LD)$(CC) -shared -Wl,-soname,libtaper.so.$(SOVERSION) -Wl,--version-script=codec/taper.map \
	    $(SANFLAGS) $(LDFLAGS) -o $@ $(LIB_OBJ) $(LIB_LDLIBS)
# One public header: the parts stand in for the lines that include them.
HEADERS := codec/taper.h $(shell sed -n 's/^#include "\(.*\)".*/\1/p' codec/taper.h)
$(B)/include/taper.h: $(HEADERS) Makefile
	@mkdir -p $(@D)
	@awk -F'"' '/merges them into/ { next } !/^#include "/ { print; next } { while ((getline line <$$2) > 0) { \
	    sub(/^\/\* [a-z_]*\.h -- /, "/* ", line); if (line !~ /^#include "/) print line } }' codec/taper.h >$@
$(B)/taper: $(CLI_OBJ) $(TRAIN_OBJ) $(LIB_OBJ)
	$(call say,LD)$(CC) $(SANFLAGS) $(LDFLAGS) -o $@ $^ $(LATE_LIBS) $(LDLIBS)
# Processes of MPI train one model; the program loads this when MPI has started it.
$(B)/taper-mpi.so: train/parallel/mpi_library.c train/parallel/mpi_library.h train/parallel/ranks.h $(B)/formats/status.o
	$(call say,MPICC)$(MPICC) $(CSTD) $(CFLAGS) $(SANFLAGS) -shared $(LDFLAGS) -o $@ $< $(B)/formats/status.o
$(B)/make_samples: $(call obj,$(SAMPLES)) $(IMAGE_OBJ) $(LIB_OBJ)
	$(call say,LD)$(CC) $(SANFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)
# Tests run for a moment, and are compiled for it. They are linked into one program, which runs the test that it is
# called by: each is a link to it. Those that replace functions of the C library, have arguments, or test programs of
# bench/ are programs of their own.
OWN_PROGRAM := $(addprefix $(B)/tests/test_,signals limits theory paper paper_embedding circles metric_learning)
TOGETHER    := $(filter-out $(OWN_PROGRAM) $(KERNEL_TESTS),$(TESTS))
$(B)/tests/%.o: CFLAGS := $(subst -O3,-O1,$(CFLAGS))
$(addsuffix .o,$(TOGETHER) $(KERNEL_TESTS)): TEST_DEFS = -Dmain=main_of_$(basename $(@F))
$(B)/tests/all.c: LISTED := $(TOGETHER)
$(B)/tests/all_kernels.c: LISTED := $(KERNEL_TESTS)
$(B)/tests/all.c $(B)/tests/all_kernels.c: FORCE
	@mkdir -p $(@D)
	@sh tests/all.sh $(notdir $(LISTED)) >$@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi
$(B)/tests/all.o $(B)/tests/all_kernels.o: %.o: %.c
	$(call say,CC)$(CC) -std=c11 -Wall -Wextra -c -o $@ $<
$(B)/tests/all: $(TOGETHER:=.o) $(B)/tests/all.o $(filter-out $(B)/cli/main.o,$(CLI_OBJ)) $(TRAIN_OBJ) $(LIB_OBJ)
	$(call say,LD)$(CC) $(SANFLAGS) $(LDFLAGS) -o $@ $^ -lcmocka $(LATE_LIBS) $(LDLIBS)
$(TOGETHER): $(B)/tests/all
	@ln -sf $(<F) $@
check-quick-programs: all $(TOGETHER)
# what trains is compared with LAPACK itself
$(B)/tests/test_theory: LATE_LIBS += -llapacke -lopenblas
$(B)/tests/test_paper: $(call obj,bench/paper/least_squares.c bench/paper/itq.c bench/paper/rungs.c bench/paper/populations.c)
$(B)/tests/test_paper_embedding: $(filter-out %/paper_embedding.o,$(call obj,$(wildcard bench/paper-embedding/*.c bench/figures/*.c))) \
    $(B)/bench/common.o $(filter-out $(B)/samples/make_samples.o,$(call obj,$(SAMPLES)))
$(B)/tests/test_circles: $(call obj,bench/paper-embedding/circles.c)
$(B)/tests/test_metric_learning $(B)/bench/bench_metric: $(call obj,$(wildcard bench/paper-embedding/metric_*.c))
$(OWN_PROGRAM): %: %.o $(filter-out $(B)/cli/main.o,$(CLI_OBJ)) $(TRAIN_OBJ) $(LIB_OBJ)
	$(call say,LD)$(CC) $(SANFLAGS) $(LDFLAGS) -o $@ $^ -lcmocka $(LATE_LIBS) $(LDLIBS)
$(B)/bench/%: $(B)/bench/%.o $(B)/bench/common.o $(filter-out $(B)/cli/main.o,$(CLI_OBJ)) $(TRAIN_OBJ) $(LIB_OBJ)
	$(call say,LD)$(CC) $(SANFLAGS) $(LDFLAGS) -o $@ $^ $(LATE_LIBS) $(LDLIBS)
# programs that no user runs: debug information that takes less room
$(B)/tests/% $(B)/bench/%: LDFLAGS += -Wl,--compress-debug-sections=zlib
# the bare products of a step, for bench/gpu/run.sh
$(B)/bench/gpu/matmul: $(B)/bench/gpu/matmul.cu.o $(B)/bench/common.o $(TRAIN_OBJ) $(LIB_OBJ)
	$(call say,LD)$(CC) $(LDFLAGS) -o $@ $^ -L$(CUDA_LIB) -lcublasLt -Wl,-rpath,$(CUDA_LIB) $(LATE_LIBS) $(LDLIBS)
# the figures of papers
PAPER_OBJ := $(call obj,$(wildcard bench/figures/*.c)) $(B)/bench/common.o \
    $(filter-out $(B)/samples/make_samples.o,$(call obj,$(SAMPLES))) \
    $(filter-out $(B)/cli/main.o,$(CLI_OBJ)) $(TRAIN_OBJ) $(LIB_OBJ)
$(B)/bench/nested_dropout: $(call obj,$(wildcard bench/paper/*.c)) $(PAPER_OBJ)
$(B)/bench/paper_embedding: $(call obj,$(wildcard bench/paper-embedding/*.c)) $(PAPER_OBJ)
$(B)/bench/bench_retrieval: $(call obj,$(wildcard bench/retrieval/*.c) bench/paper/itq.c) $(PAPER_OBJ)
$(B)/bench/paper_broadcast: $(call obj,$(wildcard bench/paper-broadcast/*.c)) $(PAPER_OBJ)
$(B)/bench/nested_dropout $(B)/bench/paper_embedding $(B)/bench/bench_retrieval $(B)/bench/paper_broadcast:
	$(call say,LD)$(CC) $(SANFLAGS) $(LDFLAGS) -o $@ $^ $(LATE_LIBS) $(LDLIBS)
# fuzz targets with a driver that replays files instead of libFuzzer
$(B)/tests/fuzz/%: $(B)/tests/fuzz/%.o $(B)/tests/fuzz/replay.o $(IMAGE_OBJ) $(LIB_OBJ)
	$(call say,LD)$(CC) $(SANFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)
# checkpoints are read by training
$(B)/tests/fuzz/fuzz_response: $(call obj,remote/response.c)
$(B)/tests/fuzz/fuzz_checkpoint: $(call obj,train/optimise/checkpoint.c train/optimise/run.c train/device/device.c)
# requests are read by the server
$(B)/tests/fuzz/fuzz_request: $(call obj,$(wildcard serve/request/*.c))
# and frames by the build for browsers
$(B)/tests/fuzz/fuzz_zstd: $(call obj,$(wildcard web/zstd/*.c))
# what wrote tests/conformance/files, and is run again to see that it still would
$(B)/tests/conformance/generate: $(patsubst %.c,$(B)/%.o,$(wildcard tests/conformance/*.c)) $(IMAGE_OBJ) $(LIB_OBJ)
	$(call say,LD)$(CC) $(SANFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)
$(B)/example $(B)/ranges $(B)/alike: $(B)/%: $(B)/samples/example/%.o $(B)/libtaper.a
	$(call say,LD)$(CC) $(SANFLAGS) $(LDFLAGS) -o $@ $^ $(LIB_LDLIBS)

$(B)/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(CSTD) $(CFLAGS) $(CEXACT) $(SANFLAGS) $(DEFS) $(TEST_DEFS) $(LATE_DEFS) $(DEP_CFLAGS) -MMD -MP -c -o $@ $<
# Modules that load a library when it is needed are compiled for those that are here, under the names that the linker
# would note. LATE: the libraries of an object; LATE_PKG: their names for pkg-config, where others; LATE_HEADER: the
# header of one that pkg-config does not know.
LATE :=
$(B)/cli/compare/jpeg2000.o: LATE := libopenjp2
$(B)/cli/compare/webp.o: LATE := libwebp
$(B)/cli/compare/avif.o: LATE := libavif
$(B)/cli/compare/jxl.o: LATE := libjxl
$(B)/formats/readers/webp.o: LATE := libwebp libwebpdemux
$(B)/formats/readers/gif.o: LATE := libgif
$(B)/formats/readers/gif.o: LATE_HEADER := gif_lib.h
$(B)/formats/readers/tiff.o: LATE := libtiff
$(B)/formats/readers/tiff.o: LATE_PKG := libtiff-4
$(B)/formats/readers/avif.o: LATE := libavif
$(B)/formats/readers/heic.o: LATE := libheif
$(B)/formats/readers/jxl.o: LATE := libjxl
$(B)/formats/readers/archive.o: LATE := libarchive
$(B)/formats/writers/webp_writer.o: LATE := libwebp libwebpmux
$(B)/formats/writers/tiff_writer.o: LATE := libtiff
$(B)/formats/writers/tiff_writer.o: LATE_PKG := libtiff-4
$(B)/remote/transfers.o: LATE := libcurl
$(B)/formats/late/srgb.o: LATE := liblcms2
$(patsubst %,$(B)/serve/%.o,serve mhd daemon replies live): LATE := libmicrohttpd
$(B)/formats/late/srgb.o: LATE_PKG := lcms2
LATE_PKG = $(LATE)
LATE_IS_HERE = $(if $(LATE_HEADER),$(shell $(CC) -E -include $(LATE_HEADER) -x c /dev/null >/dev/null 2>&1 && echo 1),\
    $(call have_pkg,$(LATE_PKG)))
LATE_DEFS = $(if $(LATE),$(if $(LATE_IS_HERE),$(if $(LATE_HEADER),,$(shell pkg-config --cflags $(LATE_PKG))) \
    -DLATE_LIBRARY='"$(call soname,$(word 1,$(LATE)))"' \
    $(if $(word 2,$(LATE)),-DLATE_LIBRARY_2='"$(call soname,$(word 2,$(LATE)))"')))
soname = $(or $(shell objdump -p $$($(CC) -print-file-name=$(1).so) 2>/dev/null | sed -n 's/^ *SONAME *//p'),$(1).so)
$(B)/cli/search/map_page.o: cli/search/map_page.S cli/search/map.html
	@mkdir -p $(@D)
	$(call say,CC)$(CC) -c -o $@ $<
$(B)/cli/common/page_parts.o: cli/common/page_parts.S cli/common/page.css cli/common/page.js
	@mkdir -p $(@D)
	$(call say,CC)$(CC) -c -o $@ $<
$(B)/models/models.o: models/models.S $(MODELS:%=models/%.tpm)
	@mkdir -p $(@D)
	$(call say,CC)$(CC) -c -o $@ $<
# The same models as constants. A program writes them that runs on the machine that builds: cross builds set HOSTCC
# where cc is none of that machine's. It is the decoder's sources and what inverts a matrix.
HOSTCC      ?= cc
NATIVE      := $(filter $(CC),$(HOSTCC))
HOST_CFLAGS ?= -O1 $(if $(NATIVE),$(DEP_CFLAGS))
HOST_LIBS   ?= $(or $(if $(NATIVE),$(shell pkg-config --libs libzstd libxxhash 2>/dev/null)),-lzstd -lxxhash) -lm -pthread
HOST_SRC    := models/unpack_model.c codec/transform/pseudo_inverse.c \
               $(filter-out codec/decoder/% models/%,$(shell cat tests/decoder_sources.txt))
$(B)/host/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(call say,HOSTCC)$(HOSTCC) $(CSTD) $(HOST_CFLAGS) $(CEXACT) -MMD -MP -c -o $@ $<
$(B)/host/unpack_model: $(HOST_SRC:%.c=$(B)/host/%.o)
	$(call say,HOSTCC)$(HOSTCC) -o $@ $^ $(HOST_LIBS)
$(B)/models/%_arrays.S $(B)/models/%_constant.c: models/%.tpm $(B)/host/unpack_model
	@mkdir -p $(@D)
	$(call say,UNPACK)$(B)/host/unpack_model $* $< $(B)/models/$*_arrays.S $(B)/models/$*_constant.c
$(B)/models/%_arrays.o: $(B)/models/%_arrays.S
	$(call say,CC)$(CC) -c -o $@ $<
$(B)/models/%_constant.o: $(B)/models/%_constant.c Makefile
	$(call say,CC)$(CC) $(CSTD) $(CFLAGS) -Wno-missing-braces $(SANFLAGS) -MMD -MP -c -o $@ $<
# Kernels are compiled again where the list of architectures has changed.
$(B)/cuda_arch: FORCE
	@mkdir -p $(@D)
	@echo "$(CUDA_ARCH)" | cmp -s - $@ || echo "$(CUDA_ARCH)" >$@
FORCE:
$(B)/%.cu.o: %.cu Makefile $(B)/cuda_arch
	@mkdir -p $(@D)
	$(call say,NVCC)$(NVCC) $(NVCCFLAGS) -Xptxas -v -MMD -MP -MF $(@:.o=.d) -c -o $@ $< 2>$(@:.o=.ptxas) || \
	    { cat $(@:.o=.ptxas) >&2; exit 1; }

fuzz: deps
	@sh tests/fuzz/run.sh $(FUZZ_SECONDS)
bench: all $(BENCHES)
	@sh bench/run.sh $(B)
rd: all $(B)/bench/bench_rates $(B)/bench/bench_crops
	@python3 bench/rd/rd.py $(B) $(PARTS)
paper-nested-dropout: all $(B)/bench/nested_dropout $(filter %/test_theory,$(TESTS))
	@QUICK=$(QUICK) PARTS="$(PARTS)" sh bench/paper/run.sh $(B)
paper-embedding: all $(B)/bench/paper_embedding
	@QUICK=$(QUICK) PARTS="$(PARTS)" CELLS="$(CELLS)" SET="$(SET)" sh bench/paper-embedding/run.sh $(B)
paper-retrieval: all $(B)/bench/bench_retrieval
	@PARTS="$(PARTS)" sh bench/retrieval/run.sh $(B)
paper-broadcast: all $(B)/bench/paper_broadcast
	@QUICK=$(QUICK) PARTS="$(PARTS)" sh bench/paper-broadcast/run.sh $(B)
# DESTDIR is only written to. What is installed names the other directories from PREFIX or LIBDIR, so that the whole
# can be moved.
D = $(DESTDIR)$(PREFIX)
L = $(DESTDIR)$(LIBDIR)
FROM_PREFIX = $(patsubst $(PREFIX)/%,$${prefix}/%,$(1))
INCLUDE_FROM_LIB = $(or $(shell realpath -m --relative-to=$(LIBDIR) $(INCLUDEDIR) 2>/dev/null),$(INCLUDEDIR))
FILL = sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(call FROM_PREFIX,$(LIBDIR))|' -e 's|@VERSION@|$(VERSION)|' \
    -e 's|@INCLUDEDIR@|$(call FROM_PREFIX,$(INCLUDEDIR))|' -e 's|@SOVERSION@|$(SOVERSION)|' \
    -e 's|@INCLUDE_FROM_LIB@|$(INCLUDE_FROM_LIB)|' -e 's/"taper [0-9.]*"/"taper $(VERSION)"/'
install-lib: lib
	install -d $(L)/pkgconfig $(L)/cmake/taper $(DESTDIR)$(INCLUDEDIR) $(D)/share/taper $(D)/share/man/man3 \
	    $(D)/share/man/man5
	install -m 644 $(B)/include/taper.h $(DESTDIR)$(INCLUDEDIR)/taper.h
	install -m 644 $(B)/libtaper.a $(L)/libtaper.a
	install -m 644 $(B)/libtaper.so $(L)/libtaper.so.$(VERSION)
	ln -sf libtaper.so.$(VERSION) $(L)/libtaper.so.$(SOVERSION)
	ln -sf libtaper.so.$(SOVERSION) $(L)/libtaper.so
	$(FILL) packaging/taper.pc.in >$(L)/pkgconfig/taper.pc
	for f in config config-version; do $(FILL) packaging/taper-$$f.cmake.in \
	    >$(L)/cmake/taper/taper-$$f.cmake || exit 1; done
	for s in 3 5; do $(FILL) docs/man/taper.$$s >$(D)/share/man/man$$s/taper.$$s || exit 1; done
	install -m 644 $(MODELS:%=models/%.tpm) $(D)/share/taper
	@[ -n "$(DESTDIR)" ] || echo "where programs do not find libtaper.so.$(SOVERSION), run: ldconfig $(L)"
install: all install-lib
	install -d $(D)/bin $(D)/share/man/man1 $(D)/share/bash-completion/completions $(D)/share/zsh/site-functions
	install $(B)/taper $(D)/bin/taper
	$(B)/taper __man taper >$(D)/share/man/man1/taper.1
	for v in $$($(B)/taper --help | sed -n 's/^  \([a-z-]*\) .*/\1/p'); do \
	    $(B)/taper __man $$v >$(D)/share/man/man1/taper-$$v.1 || exit 1; done
	$(B)/taper __completion bash >$(D)/share/bash-completion/completions/taper
	$(B)/taper __completion zsh >$(D)/share/zsh/site-functions/_taper
	$(if $(filter 1,$(MPI)),install -D -m 644 $(B)/taper-mpi.so $(D)/lib/taper/taper-mpi.so)
	install -d $(D)/share/mime/packages $(D)/share/thumbnailers
	install -m 644 packaging/taper.xml $(D)/share/mime/packages
	install -m 644 packaging/taper.thumbnailer $(D)/share/thumbnailers
	install -m 644 packaging/taper.magic $(D)/share/taper
	install -d $(D)/lib/systemd/system
	$(FILL) packaging/taper-serve.service.in >$(D)/lib/systemd/system/taper-serve.service
deb: all
	@MAKE_ARGS="-o all -o lib B=$(B) MPI=0" sh packaging/deb.sh build/deb $(VERSION)
python: all
	@TAPER_BUILD=$(B) python3 bindings/python/build_wheel_of_taper.py build/python
clean:
	rm -rf build
help:
	@sed -n 's/^# \(make.*\|  .*\)/\1/p' Makefile | sed -n '1,/help/p'
-include $(shell find $(B) -name '*.d' 2>/dev/null)
include web/web.mk
include web/page.mk
include web/package.mk
