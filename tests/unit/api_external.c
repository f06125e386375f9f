/* Memory that is shared with other APIs and contexts: exported, imported, and taken from the driver's own calls. */
#define _GNU_SOURCE /* memfd_create */
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "api_support.h"
#include "backend/cuda/driver.h"
#include "backend/opencl/api.h"

/* The fake CUDA driver knows it by its name. */
static const char source[] = "kernel void fill(global uint *p, uint value, uint n) {\n"
                             "    if (get_global_id(0) < n) p[get_global_id(0)] = value;\n"
                             "}\n";

enum { WORDS = 5000, BYTES = 4 * WORDS };

static qn_status fill(const fixture *f, qn_buffer *buffer, uint32_t value, uint32_t count) {
    return qn_launch(NULL, f->kernel, QN_RANGE(count), QN_ARGS(buffer, value, count));
}

static void assert_words(const fixture *f, qn_buffer *buffer, uint32_t value) {
    const size_t count = (size_t)qn_buffer_size(buffer) / 4;
    uint32_t *words = malloc(count * 4);
    assert_ok(f->context, qn_buffer_read(buffer, 0, words, count * 4));
    for (size_t i = 0; i < count; i++)
        if (words[i] != value)
            fail_msg("word %zu of %zu is %u, not %u", i, count, (unsigned)words[i], (unsigned)value);
    free(words);
}

static qn_device_info info_of(const fixture *f) {
    qn_device_info info;
    assert_ok(f->context, qn_device_get_info(f->device, &info));
    return info;
}

static int open_descriptors(void) {
    int count = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (folder && readdir(folder)) count++;
    if (folder) closedir(folder);
    return count;
}

static qn_buffer *make_exportable(const fixture *f, uint64_t size, qn_handle_kind kind) {
    qn_buffer *buffer;
    const qn_buffer_desc desc = {.size = size, .exportable = (uint32_t)kind};
    assert_ok(f->context, qn_buffer_create(f->device, &desc, &buffer));
    return buffer;
}

static qn_buffer *import(const fixture *f, qn_handle_kind kind, const qn_export *exported) {
    qn_buffer *buffer;
    const qn_import_desc desc = {.kind = kind,
                                 .handle = exported->handle,
                                 .size = exported->size,
                                 .offset = exported->offset,
                                 .memory_size = exported->memory_size};
    assert_ok(f->context, qn_buffer_import(f->device, &desc, &buffer));
    return buffer;
}

static void wait_for(const fixture *f) { assert_ok(f->context, qn_device_wait(f->device, QN_FOREVER)); }

/* Both sides see what the other's kernels and transfers write, the descriptor is not needed any more, and what is left of
   the memory outlives its maker. */
static void share(const fixture *maker, const fixture *user, qn_handle_kind kind) {
    qn_export whole, part;
    qn_buffer *made = make_exportable(maker, BYTES, kind), *view;
    assert_ok(maker->context, qn_buffer_view(made, 4096, 4096, &view));
    assert_ok(maker->context, qn_buffer_export(made, kind, &whole));
    assert_ok(maker->context, qn_buffer_export(view, kind, &part));
    assert_int_equal(whole.size, BYTES);
    assert_int_equal(part.size, 4096);
    assert_int_equal(part.offset, whole.offset + 4096);
    assert_true(whole.memory_size >= BYTES);
    assert_words(maker, made, 0);
    assert_ok(maker->context, fill(maker, made, 11, WORDS));
    wait_for(maker);
    qn_buffer *seen = import(user, kind, &whole), *piece = import(user, kind, &part);
    close((int)whole.handle);
    close((int)part.handle);
    assert_words(user, seen, 11);
    assert_ok(user->context, fill(user, piece, 22, 1024));
    wait_for(user);
    assert_words(maker, view, 22);
    const uint32_t value = 33;
    assert_ok(user->context, qn_stream_fill(NULL, seen, 0, BYTES, &value, 4));
    wait_for(user);
    assert_words(maker, made, 33);
    uint32_t *mapped;
    assert_ok(user->context, qn_buffer_map(seen, QN_MAP_READ_WRITE, (void **)&mapped));
    for (int i = 0; i < WORDS; i++) mapped[i] += 11;
    assert_ok(user->context, qn_buffer_unmap(seen));
    assert_ok(user->context, fill(user, piece, 44, 1024)); /* brings the host's contents over */
    wait_for(user);
    assert_words(user, seen, 44);
    assert_words(maker, view, 44);
    qn_buffer_destroy(view);
    qn_buffer_destroy(made);
    assert_words(user, seen, 44);
    qn_buffer_destroy(seen);
    assert_words(user, piece, 44);
    qn_buffer_destroy(piece);
}

static void descriptors_go_between_contexts(void **state) {
    (void)state;
    static const qn_handle_kind kinds[] = {QN_HANDLE_OPAQUE_FD, QN_HANDLE_DMA_BUF};
    for (int k = 0; k < 2; k++) {
        fixture maker = make_fixture(test_device(), source, "fill"),
                user = make_fixture(test_device(), source, "fill");
        const qn_device_info info = info_of(&maker);
        const bool both = info.import_handles & info.export_handles & (uint32_t)kinds[k];
        if (both) {
            share(&maker, &user, kinds[k]); /* some descriptors stay with the driver */
            const int before = open_descriptors();
            for (int i = 0; i < 5; i++) share(&maker, &user, kinds[k]);
            assert_int_equal(open_descriptors(), before);
        } else
            print_message("skipped: %s has no descriptors of kind %d\n", info.name, (int)kinds[k]);
        qn_context_destroy(maker.context);
        qn_context_destroy(user.context);
    }
}

/* Two kinds of devices that are the same hardware. */
static void descriptors_go_between_kinds(void **state) {
    (void)state;
    static const char *const pairs[][2] = {{"vulkan:0", "cuda:0"}, {"cuda:0", "vulkan:0"}};
    static const uint8_t unknown[16];
    for (int i = 0; i < 2; i++) {
        qn_context *context = make_context(NULL);
        qn_device_info a, b;
        qn_device *one, *other;
        const bool same = !qn_device_get(context, pairs[i][0], &one) && !qn_device_get_info(one, &a) &&
                          !qn_device_get(context, pairs[i][1], &other) && !qn_device_get_info(other, &b) &&
                          !memcmp(a.uuid, b.uuid, 16) && memcmp(a.uuid, unknown, 16) != 0;
        qn_context_destroy(context);
        if (!same || !(a.export_handles & b.import_handles & QN_HANDLE_OPAQUE_FD)) {
            print_message("skipped: %s and %s share no memory here\n", pairs[i][0], pairs[i][1]);
            continue;
        }
        fixture maker = make_fixture(pairs[i][0], source, "fill"),
                user = make_fixture(pairs[i][1], source, "fill");
        share(&maker, &user, QN_HANDLE_OPAQUE_FD);
        qn_context_destroy(maker.context);
        qn_context_destroy(user.context);
    }
}

static void what_is_no_memory_is_refused(void **state) {
    (void)state;
    fixture f = make_fixture(test_device(), source, "fill");
    const qn_device_info info = info_of(&f);
    qn_buffer *buffer = make_buffer(f.device, 64, NULL), *out;
    qn_export exported;
    qn_import_desc desc = {.kind = QN_HANDLE_OPAQUE_FD, .handle = 0, .size = 64};
    assert_fails(f.context, qn_buffer_import(f.device, NULL, &out), QN_ERROR_NULL, "desc");
    assert_fails(f.context, qn_buffer_import(f.device, &desc, NULL), QN_ERROR_NULL, "buffer");
    assert_fails(f.context, qn_buffer_import(f.device, &(qn_import_desc){.kind = 3, .size = 64}, &out),
                 QN_ERROR_ARGUMENT, "kind 3 is not one qn_handle_kind");
    assert_fails(f.context, qn_buffer_export(buffer, QN_HANDLE_OPAQUE_FD, NULL), QN_ERROR_NULL, "out");
    assert_fails(f.context, qn_buffer_export(buffer, QN_HANDLE_OPENCL_MEM, &exported), QN_ERROR_ARGUMENT,
                 "qn_buffer_native gives the handle");
    assert_fails(f.context, qn_buffer_export(buffer, QN_HANDLE_OPAQUE_FD, &exported), QN_ERROR_STATE,
                 "was not made exportable as QN_HANDLE_OPAQUE_FD");
    if (!(info.export_handles & QN_HANDLE_DMA_BUF))
        assert_fails(
            f.context,
            qn_buffer_create(f.device, &(qn_buffer_desc){.size = 64, .exportable = QN_HANDLE_DMA_BUF}, &out),
            QN_ERROR_UNSUPPORTED, "exports no QN_HANDLE_DMA_BUF");
    if (!(info.import_handles & QN_HANDLE_OPAQUE_FD)) {
        assert_fails(f.context, qn_buffer_import(f.device, &desc, &out), QN_ERROR_UNSUPPORTED,
                     "imports no QN_HANDLE_OPAQUE_FD");
        qn_context_destroy(f.context);
        return;
    }
    const int before = open_descriptors(), null = open("/dev/null", O_RDWR);
    const int wrong[] = {null, 999};
    for (int i = 0; i < 2; i++) {
        desc.handle = (uint64_t)wrong[i];
        qn_status status = qn_buffer_import(f.device, &desc, &out);
        if (status != QN_ERROR_ARGUMENT && status != QN_ERROR_RANGE)
            fail_msg("descriptor %d gave %s: %s", wrong[i], qn_status_name(status),
                     qn_error_message(f.context));
        assert_null(out);
    }
    assert_int_equal(fcntl(null, F_GETFD), 0); /* still the caller's */
    close(null);
    assert_int_equal(open_descriptors(), before);
    desc.handle = UINT64_MAX;
    assert_fails(f.context, qn_buffer_import(f.device, &desc, &out), QN_ERROR_ARGUMENT,
                 "is no file descriptor");
    desc.handle = 0, desc.size = 0;
    assert_fails(f.context, qn_buffer_import(f.device, &desc, &out), QN_ERROR_RANGE, "the size is 0");
    desc.size = 64, desc.offset = 8;
    assert_fails(f.context, qn_buffer_import(f.device, &desc, &out), QN_ERROR_ARGUMENT,
                 "not a multiple of 16");
    desc.offset = 4096, desc.memory_size = 4096;
    assert_fails(f.context, qn_buffer_import(f.device, &desc, &out), QN_ERROR_RANGE,
                 "64 bytes at 4096 of memory of 4096");
    qn_buffer *made = make_exportable(&f, 4096, QN_HANDLE_OPAQUE_FD);
    assert_ok(f.context, qn_buffer_export(made, QN_HANDLE_OPAQUE_FD, &exported));
    desc =
        (qn_import_desc){.kind = QN_HANDLE_OPAQUE_FD, .handle = exported.handle, .size = (uint64_t)1 << 30};
    if (testing("vulkan") && info.capabilities & QN_CAN_EMULATE)
        assert_fails(f.context, qn_buffer_import(f.device, &desc, &out), QN_ERROR_RANGE, "bytes");
    close((int)exported.handle);
    qn_context_destroy(f.context);
}

/* ---- the driver's own memory ---- */

static void find(const char *library, const char *name, void *function) {
    void *opened = dlopen(library, RTLD_NOW), *symbol = opened ? dlsym(opened, name) : NULL;
    if (!symbol) fail_msg("no %s in %s", name, library);
    memcpy(function, &symbol, sizeof symbol);
}

static void a_cl_mem_becomes_a_buffer(void **state) {
    (void)state;
    if (!testing("opencl")) return;
    fixture f = make_fixture(test_device(), source, "fill");
    uint64_t context;
    int32_t error = 0;
    cl_object (*create)(cl_object, uint64_t, size_t, void *, int32_t *);
    int32_t (*release)(cl_object);
    uint32_t *data = malloc(BYTES);
    for (int i = 0; i < WORDS; i++) data[i] = 7;
    find("libOpenCL.so.1", "clCreateBuffer", &create);
    find("libOpenCL.so.1", "clReleaseMemObject", &release);
    assert_ok(f.context, qn_device_native(f.device, QN_NATIVE_OPENCL_CONTEXT, &context));
    cl_object object = create((cl_object)(uintptr_t)context, CL_MEM_READ_WRITE | 1 << 5 /* COPY_HOST_PTR */,
                              BYTES, data, &error);
    assert_int_equal(error, 0);
    qn_import_desc desc = {
        .kind = QN_HANDLE_OPENCL_MEM, .handle = (uint64_t)(uintptr_t)object, .size = BYTES};
    qn_buffer *buffer, *out, *view, *copy = make_buffer(f.device, BYTES, NULL);
    assert_ok(f.context, qn_buffer_import(f.device, &desc, &buffer));
    release(object); /* it is kept */
    assert_words(&f, buffer, 7);
    assert_ok(f.context, qn_buffer_view(buffer, 4096, 4096, &view));
    assert_ok(f.context, fill(&f, view, 9, 1024));
    assert_ok(f.context, qn_stream_copy(NULL, buffer, 4096, copy, 0, 4096));
    assert_ok(f.context, qn_buffer_read(copy, 0, data, 8192));
    assert_int_equal(data[0], 9);
    assert_int_equal(data[1024], 0);
    uint32_t *mapped;
    assert_ok(f.context, qn_buffer_map(buffer, QN_MAP_READ_WRITE, (void **)&mapped));
    assert_int_equal(mapped[0], 7);
    assert_int_equal(mapped[1024], 9);
    for (int i = 0; i < WORDS; i++) mapped[i] = 5;
    assert_ok(f.context, qn_buffer_unmap(buffer));
    assert_ok(f.context, fill(&f, view, 5, 1));
    assert_words(&f, buffer, 5);
    desc.size = BYTES + 1;
    desc.handle =
        (uint64_t)(uintptr_t)create((cl_object)(uintptr_t)context, CL_MEM_READ_WRITE, BYTES, NULL, &error);
    assert_fails(f.context, qn_buffer_import(f.device, &desc, &out), QN_ERROR_RANGE,
                 "20001 bytes of a cl_mem of 20000");
    desc.size = 16, desc.offset = 16;
    assert_fails(f.context, qn_buffer_import(f.device, &desc, &out), QN_ERROR_ARGUMENT, "take a view");
    fixture other = make_fixture(test_device(), source, "fill");
    desc.offset = 0;
    assert_fails(other.context, qn_buffer_import(other.device, &desc, &out), QN_ERROR_ARGUMENT,
                 "of another cl_context");
    release((cl_object)(uintptr_t)desc.handle);
    qn_context_destroy(other.context);
    qn_context_destroy(f.context);
    free(data);
}

/* Memory of the driver's own calls, and a place within it. */
static void a_cuda_pointer_becomes_a_buffer(void **state) {
    (void)state;
    if (!testing("cuda")) return;
    fixture f = make_fixture(test_device(), source, "fill");
    qn__cu_result (*push)(qn__cu_context), (*pop)(qn__cu_context *), (*allocate)(qn__cu_address *, size_t),
        (*release)(qn__cu_address);
    uint64_t context;
    qn__cu_address memory = 0;
    find("libcuda.so.1", "cuCtxPushCurrent_v2", &push);
    find("libcuda.so.1", "cuCtxPopCurrent_v2", &pop);
    find("libcuda.so.1", "cuMemAlloc_v2", &allocate);
    find("libcuda.so.1", "cuMemFree_v2", &release);
    assert_ok(f.context, qn_device_native(f.device, QN_NATIVE_CUDA_CONTEXT, &context));
    qn__cu_context current = (qn__cu_context)(uintptr_t)context;
    assert_int_equal(push(current), 0);
    assert_int_equal(allocate(&memory, BYTES), 0);
    qn_import_desc desc = {.kind = QN_HANDLE_CUDA_POINTER, .handle = memory, .size = BYTES};
    qn_buffer *buffer, *part, *out, *own = make_buffer(f.device, BYTES, NULL);
    assert_ok(f.context, qn_buffer_import(f.device, &desc, &buffer));
    desc = (qn_import_desc){.kind = QN_HANDLE_CUDA_POINTER, .handle = memory, .size = 4096, .offset = 4096};
    assert_ok(f.context, qn_buffer_import(f.device, &desc, &part));
    assert_ok(f.context, fill(&f, buffer, 3, WORDS));
    assert_words(&f, buffer, 3);
    assert_ok(f.context, fill(&f, part, 4, 1024));
    assert_ok(f.context, qn_stream_copy(NULL, buffer, 4096, own, 0, 4096));
    uint32_t words[1025];
    assert_ok(f.context, qn_buffer_read(own, 0, words, sizeof words));
    assert_int_equal(words[0], 4);
    assert_int_equal(words[1023], 4);
    assert_int_equal(words[1024], 0);
    uint64_t pointer;
    assert_ok(f.context, qn_buffer_native(part, QN_NATIVE_CUDA_POINTER, &pointer));
    assert_int_equal(pointer, memory + 4096);
    desc.size = BYTES;
    assert_fails(f.context, qn_buffer_import(f.device, &desc, &out), QN_ERROR_RANGE, "of an allocation of");
    desc = (qn_import_desc){
        .kind = QN_HANDLE_CUDA_POINTER, .handle = (uint64_t)(uintptr_t)words & ~15ull, .size = 16};
    assert_fails(f.context, qn_buffer_import(f.device, &desc, &out), QN_ERROR_ARGUMENT,
                 "no memory of this device");
    /* one of quern's own buffers, as another would see it */
    assert_ok(f.context, qn_buffer_native(own, QN_NATIVE_CUDA_POINTER, &pointer));
    desc = (qn_import_desc){.kind = QN_HANDLE_CUDA_POINTER, .handle = pointer, .size = 4096};
    assert_ok(f.context, qn_buffer_import(f.device, &desc, &out));
    assert_words(&f, out, 4);
    qn_buffer_destroy(out);
    qn_buffer_destroy(part);
    qn_buffer_destroy(buffer);
    assert_int_equal(release(memory), 0); /* it was not freed with the buffers */
    assert_int_equal(pop(&current), 0);
    qn_context_destroy(f.context);
}

/* Of the fake driver alone: memory as Vulkan would export it. */
static void external_memory_is_mapped(void **state) {
    (void)state;
    if (!testing("cuda")) return;
    fixture f = make_fixture(test_device(), source, "fill");
    const bool is_fake = strncmp(info_of(&f).description, "Fake", 4) == 0;
    const int before = open_descriptors();
    const int fd = is_fake ? memfd_create("external", 0) : -1;
    if (fd >= 0) {
        assert_int_equal(ftruncate(fd, 65536), 0);
        uint32_t *words = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        qn_import_desc desc = {.kind = QN_HANDLE_OPAQUE_FD,
                               .handle = (uint64_t)fd,
                               .size = BYTES,
                               .offset = 4096,
                               .memory_size = 65536};
        qn_buffer *buffer, *out;
        assert_ok(f.context, qn_buffer_import(f.device, &desc, &buffer));
        desc.memory_size = 65537;
        assert_fails(f.context, qn_buffer_import(f.device, &desc, &out), QN_ERROR_ARGUMENT,
                     "none of memory that the driver takes");
        close(fd);
        assert_ok(f.context, fill(&f, buffer, 8, WORDS));
        wait_for(&f);
        assert_int_equal(words[1023], 0);
        assert_int_equal(words[1024], 8);
        assert_int_equal(words[1023 + WORDS], 8);
        assert_int_equal(words[1024 + WORDS], 0);
        qn_buffer_destroy(buffer);
        munmap(words, 65536);
    }
    assert_int_equal(open_descriptors(), before);
    qn_context_destroy(f.context);
}

int main(void) {
    if (device_is_missing()) return TEST_SKIPPED;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(descriptors_go_between_contexts), cmocka_unit_test(descriptors_go_between_kinds),
        cmocka_unit_test(what_is_no_memory_is_refused),    cmocka_unit_test(a_cl_mem_becomes_a_buffer),
        cmocka_unit_test(a_cuda_pointer_becomes_a_buffer), cmocka_unit_test(external_memory_is_mapped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
