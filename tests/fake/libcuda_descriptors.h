/* Part of libcuda.c: memory with descriptors, a file in memory each, that is mapped. External memory is one with
   "external" in its name, as a test makes it. */

enum { GRANULARITY = 2 << 20 };

typedef struct qn__cu_external_object {
    int fd;
    size_t size;
} shared;

static shared *new_shared(int fd, size_t size) {
    shared *s = calloc(1, sizeof *s);
    *s = (shared){fd, size};
    count_live(FAKE_ALLOCATIONS, 1);
    return s;
}

static int free_shared(shared *s) {
    close(s->fd);
    free(s);
    count_live(FAKE_ALLOCATIONS, -1);
    return 0;
}

/* A place in memory that counts as an allocation of the device. */
static void add_place(void *data, size_t size) {
    block *b = calloc(1, sizeof *b);
    *b = (block){.size = size, .foreign = true, .device = stack[depth - 1]->device, .data = data};
    pthread_mutex_lock(&fake.lock);
    b->next = fake.blocks;
    fake.blocks = b;
    pthread_mutex_unlock(&fake.lock);
}

/* Its size; 0: there is none that begins here. */
static size_t take_place(const void *data) {
    pthread_mutex_lock(&fake.lock);
    block **at = &fake.blocks;
    while (*at && ((*at)->data != data || !(*at)->foreign || (*at)->pinned)) at = &(*at)->next;
    block *b = *at;
    const size_t size = b ? b->size : 0;
    if (b) *at = b->next;
    pthread_mutex_unlock(&fake.lock);
    free(b);
    return size;
}

API int cuMemGetAllocationGranularity(size_t *granularity, const qn__cu_allocation_props *props, int option) {
    CALL(granularity);
    if (props->type != 1 || props->location.type != 1 || option) return QN__CU_ERROR_INVALID_VALUE;
    *granularity = GRANULARITY;
    return 0;
}
API int cuMemCreate(qn__cu_allocation *allocation, size_t size, const qn__cu_allocation_props *props,
                    unsigned long long flags) {
    CALL_IN_CONTEXT(allocation_create);
    if (size % GRANULARITY || props->handle_types != 1 || flags) return QN__CU_ERROR_INVALID_VALUE;
    const int fd = memfd_create("cuda", MFD_CLOEXEC);
    if (ftruncate(fd, (off_t)size)) return QN__CU_ERROR_OUT_OF_MEMORY;
    *allocation = (uintptr_t)new_shared(fd, size);
    return 0;
}
API int cuMemRelease(qn__cu_allocation allocation) {
    CALL(allocation_release);
    return free_shared((shared *)(uintptr_t)allocation);
}
API int cuMemExportToShareableHandle(void *handle, qn__cu_allocation allocation, int type,
                                     unsigned long long flags) {
    CALL(allocation_export);
    const int fd = dup(((shared *)(uintptr_t)allocation)->fd);
    memcpy(handle, &fd, sizeof fd);
    return type != 1 || flags || fd < 0 ? QN__CU_ERROR_INVALID_VALUE : 0;
}
static bool is_named(int fd, const char *name) {
    char link[64], path[128] = "";
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    return readlink(link, path, sizeof path - 1) > 0 && strstr(path, name);
}
API int cuMemImportFromShareableHandle(qn__cu_allocation *allocation, void *handle, int type) {
    CALL(allocation_import);
    const int fd = (int)(intptr_t)handle;
    struct stat info;
    if (type != 1 || !is_named(fd, "memfd:cuda") || fstat(fd, &info)) return QN__CU_ERROR_INVALID_VALUE;
    *allocation = (uintptr_t)new_shared(dup(fd), (size_t)info.st_size);
    return 0;
}
API int cuMemAddressReserve(qn__cu_address *address, size_t size, size_t alignment, qn__cu_address wanted,
                            unsigned long long flags) {
    CALL_IN_CONTEXT(range_reserve);
    if (size % GRANULARITY || alignment || wanted || flags) return QN__CU_ERROR_INVALID_VALUE;
    void *place = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *address = (uintptr_t)place;
    return place == MAP_FAILED ? QN__CU_ERROR_OUT_OF_MEMORY : 0;
}
API int cuMemAddressFree(qn__cu_address address, size_t size) {
    CALL(range_free);
    return munmap((void *)(uintptr_t)address, size) ? QN__CU_ERROR_INVALID_VALUE : 0;
}
API int cuMemMap(qn__cu_address address, size_t size, size_t offset, qn__cu_allocation allocation,
                 unsigned long long flags) {
    CALL_IN_CONTEXT(range_map);
    const shared *s = (shared *)(uintptr_t)allocation;
    if (offset || flags || size != s->size) return QN__CU_ERROR_INVALID_VALUE;
    void *place = mmap((void *)(uintptr_t)address, size, PROT_NONE, MAP_SHARED | MAP_FIXED, s->fd, 0);
    return place == MAP_FAILED ? QN__CU_ERROR_INVALID_VALUE : 0;
}
API int cuMemSetAccess(qn__cu_address address, size_t size, const qn__cu_access *access, size_t count) {
    CALL_IN_CONTEXT(range_set_access);
    if (count != 1 || access->flags != 3 || access->location.id != stack[depth - 1]->device)
        return QN__CU_ERROR_INVALID_VALUE;
    add_place((void *)(uintptr_t)address, size);
    return mprotect((void *)(uintptr_t)address, size, PROT_READ | PROT_WRITE) ? QN__CU_ERROR_INVALID_VALUE
                                                                              : 0;
}
API int cuMemUnmap(qn__cu_address address, size_t size) {
    CALL(range_unmap);
    void *place = (void *)(uintptr_t)address;
    take_place(place);
    place = mmap(place, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    return place == MAP_FAILED ? QN__CU_ERROR_INVALID_VALUE : 0;
}
API int cuImportExternalMemory(qn__cu_external *external, const qn__cu_external_desc *desc) {
    CALL_IN_CONTEXT(external_import);
    struct stat info;
    if (desc->type != 1 || !is_named(desc->handle.fd, "external") || fstat(desc->handle.fd, &info) ||
        (size_t)info.st_size < desc->size)
        return QN__CU_ERROR_UNKNOWN; /* as the real one of 580.159 */
    *external = new_shared(desc->handle.fd, desc->size);
    return 0;
}
API int cuExternalMemoryGetMappedBuffer(qn__cu_address *address, qn__cu_external external,
                                        const qn__cu_external_range *range) {
    CALL_IN_CONTEXT(external_map);
    if (range->offset || range->flags || range->size > external->size) return QN__CU_ERROR_INVALID_VALUE;
    void *place = mmap(NULL, range->size, PROT_READ | PROT_WRITE, MAP_SHARED, external->fd, 0);
    if (place == MAP_FAILED) return QN__CU_ERROR_OUT_OF_MEMORY;
    add_place(place, range->size);
    *address = (uintptr_t)place;
    return 0;
}
API int cuDestroyExternalMemory(qn__cu_external external) {
    CALL(external_destroy);
    return free_shared(external);
}
