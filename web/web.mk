# web.mk -- the decoder for browsers: build/web/taper.wasm (128-bit SIMD) and build/web/taper-plain.wasm (without). Part
# of the Makefile. Needs clang, lld and Debian's wasi-libc and libclang-rt-*-dev-wasm32. No WASI: the modules import
# nothing. WEB_CC=clang-16 ...: another clang; WEB_SYSROOT: where its C library is.
WEB_CC      ?= $(if $(findstring ccache,$(CC)),ccache )clang
WEB_SYSROOT ?= /usr
WEB         := build/web
WEB_TARGET  := --target=wasm32-wasi --sysroot=$(WEB_SYSROOT)
WEB_LIB     := $(WEB_SYSROOT)/lib/wasm32-wasi
WEB_RUNTIME := $(shell $(WEB_CC) --target=wasm32-wasi -print-libgcc-file-name 2>/dev/null)
# what lacks, in words; empty: all is there
WEB_LACKS   := $(strip $(if $(WEB_RUNTIME),,clang) $(if $(shell command -v wasm-ld 2>/dev/null),,lld) \
               $(if $(wildcard $(WEB_LIB)/libc.a),,wasi-libc) \
               $(if $(and $(WEB_RUNTIME),$(wildcard $(WEB_RUNTIME))),,libclang-rt-*-dev-wasm32))

# The decoder, an own zstd in place of libzstd and text in place of stdio, xxHash by its header, and the functions that
# JavaScript calls.
WEB_OWN  := $(wildcard web/zstd/*.c web/libc/*.c)
WEB_GLUE := $(or $(wildcard web/wasm/*.c),tests/web/calls.c)
WEB_BASE := $(shell cat tests/decoder_sources.txt) $(WEB_OWN)
WEB_CSTD := $(filter-out -pthread -fPIC,$(CSTD)) -Iweb/zstd -DXXH_INLINE_ALL \
            -ffunction-sections -fdata-sections
WEB_SIMD := -msimd128
WEB_LD   := --no-entry --gc-sections --strip-all --stack-first -z stack-size=524288 --max-memory=1073741824 -O2

# The embedder: codes of pictures, for search. Without SIMD, as a code takes milliseconds.
WEB_EMBEDDER := $(WEB_BASE) $(wildcard web/embedder/*.c) \
                $(addprefix codec/,model/embed.c model/analysis.c transform/pseudo_inverse.c transform/scaling.c) formats/image.c

.PHONY: web
WEB_MODULES := $(addprefix $(WEB)/,taper.wasm taper-plain.wasm taper-embedder.wasm)
# the same with functions that tests call, and tests of kernels
WEB_TESTED  := $(addprefix $(WEB)/,calls.wasm calls-plain.wasm kernels.wasm)
WEB_KERNEL_TESTS := tests/web/kernels.c tests/test_int8_dot.c tests/test_significance.c
all: web
ifeq ($(WEB_LACKS),)
web: $(WEB_MODULES)
check-programs: $(WEB_TESTED) $(B)/tests/web/prefixes
else
web:
	@echo "web: not built, for want of $(WEB_LACKS): apt-get install clang lld wasi-libc libclang-rt-14-dev-wasm32"
endif

# Where the time goes is compiled for speed, the rest for size: it is loaded before the first picture. Kernels have loops
# over registers, which must be unrolled.
WEB_KERNELS := $(addprefix codec/,$(addprefix backend/,int8_dot int_convolution row_products sparse_sum) bitplane/significance)
WEB_HOT  := $(addprefix codec/,$(addprefix bitplane/,conditional_inputs conditional_state contexts causal neighbours \
            group chunk_coder) entropy/range_coder $(addprefix render/,terms head_rows window_renderer) \
            $(addprefix transform/,lap picture restoration_filter small_basis))
WEB_OPT   = $(if $(filter $(WEB_KERNELS),$(<:.c=)),-O2,$(if $(filter $(WEB_HOT),$(<:.c=)),-O2 -fno-unroll-loops,-Oz))
$(WEB)/simd/%.o: %.c Makefile web/web.mk
	@mkdir -p $(@D)
	$(call say,WASM)$(WEB_CC) $(WEB_TARGET) $(WEB_CSTD) $(WEB_SIMD) $(WEB_OPT) $(CEXACT) -MMD -MP -c -o $@ $<
$(WEB)/plain/%.o: %.c Makefile web/web.mk
	@mkdir -p $(@D)
	$(call say,WASM)$(WEB_CC) $(WEB_TARGET) $(WEB_CSTD) $(WEB_OPT) $(CEXACT) -MMD -MP -c -o $@ $<
# every browser with SIMD has the instructions that copy and fill memory
$(WEB)/simd/web/libc/bytes_names.o: WEB_OPT = -O2 -mbulk-memory -fno-builtin
web_obj = $(patsubst %.c,$(WEB)/$(1)/%.o,$(2))
WEB_LINK = wasm-ld $(WEB_LD) -o $@ $^ -L$(WEB_LIB) -lc -lm $(WEB_RUNTIME)
$(WEB)/taper.wasm: $(call web_obj,simd,$(WEB_BASE) $(WEB_GLUE))
$(WEB)/taper-plain.wasm: $(call web_obj,plain,$(WEB_BASE) $(WEB_GLUE))
$(WEB)/taper-embedder.wasm: $(call web_obj,plain,$(WEB_EMBEDDER))
$(WEB)/calls.wasm: $(call web_obj,simd,$(WEB_BASE) tests/web/calls.c)
$(WEB)/calls-plain.wasm: $(call web_obj,plain,$(WEB_BASE) tests/web/calls.c)
$(WEB)/kernels.wasm: $(call web_obj,simd,$(WEB_BASE) $(WEB_KERNEL_TESTS) codec/model/model_write.c)
$(call web_obj,simd,$(WEB_KERNEL_TESTS)): WEB_CSTD += -Itests/web/cmocka -Itests -Dmain=main_of_$(basename $(@F))
# wasm-opt of binaryen, where it is installed, makes the modules 3 % smaller and 4 % faster
WEB_OPTIMISER := $(shell command -v wasm-opt 2>/dev/null)
WEB_FEATURES  := $(addprefix --enable-,simd bulk-memory sign-ext nontrapping-float-to-int mutable-globals)
$(WEB_MODULES) $(WEB_TESTED):
	$(call say,LD)$(WEB_LINK)$(if $(WEB_OPTIMISER), && $(WEB_OPTIMISER) $(WEB_FEATURES) -O3 $@ -o $@)
$(B)/tests/web/prefixes: $(B)/tests/web/prefixes.o $(IMAGE_OBJ) $(LIB_OBJ)
	$(call say,LD)$(CC) $(SANFLAGS) $(LDFLAGS) -o $@ $^ $(LDLIBS)
# tests/test_web.c compares the own parts with the libraries that they stand in for
$(B)/tests/all: $(call obj,$(filter-out %_names.c,$(WEB_OWN)))
-include $(shell find $(WEB) -name '*.d' 2>/dev/null)
