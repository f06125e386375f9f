/* Part of libcuda.c: from PTX to modules, and what they tell of their kernels. A cubin is an ELF file that has the text
   behind its header. */
#include <elf.h>

/* Of a kernel: as ptxas allows them, and as it translates them rightly for all architectures (gpu_abi.h). */
enum { USUAL_PARAMS = 4352, MOST_PARAMS = 0x8000 - 0x380 };

/* Whether the text has a kernel with more parameters than its version, the device and the driver allow. */
static bool params_overflow(const char *text) {
    const char *version = strstr(text, ".version ");
    const bool large = version && strtod(version + 9, NULL) >= 8.1 && fake.settings[FAKE_VERSION] >= 12010 &&
                       fake.settings[FAKE_CAPABILITY] >= 70;
    for (const char *at = text; (at = strstr(at, " params[")); at++)
        if (strtoul(at + 8, NULL, 10) > (large ? MOST_PARAMS : USUAL_PARAMS)) return true;
    return false;
}

API int cuLinkCreate_v2(unsigned num_options, int *options, void **values, qn__cu_link *link) {
    CALL_IN_CONTEXT(link_create);
    *link = calloc(1, sizeof **link);
    for (unsigned i = 0; i < num_options; i++) {
        if (options[i] == QN__CU_JIT_ERROR_LOG_BUFFER) (*link)->log = values[i];
        if (options[i] == QN__CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES) (*link)->log_size = (uintptr_t)values[i];
    }
    count_live(FAKE_LINKS, 1);
    return 0;
}
API int cuLinkAddData_v2(qn__cu_link link, int type, void *data, size_t size, const char *name,
                         unsigned num_options, int *options, void **values) {
    (void)name, (void)num_options, (void)options, (void)values;
    CALL_IN_CONTEXT(link_add);
    if (type != QN__CU_JIT_INPUT_PTX || !size || ((char *)data)[size - 1]) return QN__CU_ERROR_INVALID_VALUE;
    if (strstr(data, "syntax error") || strstr(data, ".entry refused(")) {
        if (link->log)
            snprintf(link->log, link->log_size, "ptxas application ptx input, line 3; error   : wrong\n");
        return 218;
    }
    if (params_overflow(data)) {
        if (link->log) snprintf(link->log, link->log_size, "error   : too much parameter space\n");
        return 218;
    }
    link->text = malloc(size);
    memcpy(link->text, data, size);
    link->size = size;
    return 0;
}
/* `.entry name(.param .align 16 .b8 x[48])` */
static void read_entries(struct qn__cu_module_object *module, const char *text) {
    while ((text = strstr(text, ".entry ")) && module->count < MAX_ENTRIES) {
        text += strlen(".entry ");
        entry *e = &module->functions[module->count++].entry;
        size_t length = strcspn(text, "( \t\n");
        snprintf(e->name, sizeof e->name, "%.*s", (int)length, text);
        const char *end = strchr(text, ')'), *size = strchr(text, '[');
        if (size && end && size < end) e->params_size = strtoul(size + 1, NULL, 10);
    }
}

/* The header, the text, and what the header leads to: for each kernel a section of 128 bytes more than the one before, as
   if its code were there, and their names. */
static unsigned char *make_cubin(const char *text, size_t text_size, size_t *size) {
    enum { CODE = 128 };
    struct qn__cu_module_object *module = calloc(1, sizeof *module);
    Elf64_Shdr sections[MAX_ENTRIES + 2] = {{0}};
    char names[MAX_ENTRIES * 140] = "";
    size_t used = 1, at = (sizeof(Elf64_Ehdr) + text_size + 7) / 8 * 8;
    read_entries(module, text);
    const unsigned count = module->count + 2, last = count - 1;
    for (unsigned i = 0; i < module->count; i++) {
        sections[i + 1] = (Elf64_Shdr){.sh_name = (Elf64_Word)used,
                                       .sh_type = SHT_PROGBITS,
                                       .sh_offset = at,
                                       .sh_size = CODE * (i + 1u)};
        used += 1 + (size_t)snprintf(names + used, sizeof names - used, ".text.%s",
                                     module->functions[i].entry.name);
        at += sections[i + 1].sh_size;
    }
    sections[last] = (Elf64_Shdr){.sh_type = SHT_STRTAB, .sh_offset = at, .sh_size = sizeof names};
    at += sizeof names;
    const Elf64_Ehdr header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB},
                               .e_shoff = at,
                               .e_shentsize = sizeof *sections,
                               .e_shnum = (Elf64_Half)count,
                               .e_shstrndx = (Elf64_Half)last};
    *size = at + count * sizeof *sections;
    unsigned char *cubin = calloc(1, *size);
    memcpy(cubin, &header, sizeof header);
    memcpy(cubin + sizeof header, text, text_size);
    memcpy(cubin + sections[last].sh_offset, names, sizeof names);
    memcpy(cubin + at, sections, count * sizeof *sections);
    free(module);
    return cubin;
}
API int cuLinkComplete(qn__cu_link link, void **cubin, size_t *size) {
    CALL_IN_CONTEXT(link_complete);
    link->cubin = make_cubin(link->text, link->size, size);
    *cubin = link->cubin;
    return 0;
}
API int cuLinkDestroy(qn__cu_link link) {
    CALL(link_destroy);
    free(link->text);
    free(link->cubin);
    free(link);
    count_live(FAKE_LINKS, -1);
    return 0;
}

API int cuModuleLoadData(qn__cu_module *module, const void *image) {
    CALL_IN_CONTEXT(module_load);
    const bool is_cubin = memcmp(image, "\177ELF", 4) == 0, is_text = memcmp(image, ".version", 8) == 0;
    if (!is_cubin && !is_text) return 200;
    if (is_text && (strstr(image, ".entry refused(") || params_overflow(image))) return 218;
    *module = calloc(1, sizeof **module);
    read_entries(*module, (const char *)image + (is_cubin ? sizeof(Elf64_Ehdr) : 0));
    count_live(FAKE_MODULES, 1);
    return 0;
}
API int cuModuleUnload(qn__cu_module module) {
    CALL(module_unload);
    free(module);
    count_live(FAKE_MODULES, -1);
    return 0;
}
API int cuModuleGetFunction(qn__cu_function *function, qn__cu_module module, const char *name) {
    CALL_IN_CONTEXT(module_function);
    for (unsigned i = 0; i < module->count; i++) {
        if (strcmp(module->functions[i].entry.name, name) != 0) continue;
        *function = &module->functions[i];
        return 0;
    }
    return NOT_FOUND;
}
API int cuFuncGetAttribute(int *value, int attribute, qn__cu_function function) {
    (void)function;
    CALL_IN_CONTEXT(function_get);
    *value = attribute == QN__CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? (int)fake.settings[FAKE_MAX_THREADS]
             : attribute == QN__CU_FUNC_ATTRIBUTE_NUM_REGS            ? 40
             : attribute == QN__CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES    ? 48
                                                                      : 0;
    return 0;
}
/* 2,048 threads, in as many groups as fit. */
API int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, qn__cu_function function, int threads,
                                                    size_t dynamic) {
    (void)function, (void)dynamic;
    CALL_IN_CONTEXT(occupancy);
    if (threads <= 0) return QN__CU_ERROR_INVALID_VALUE;
    *blocks = threads > fake.settings[FAKE_MAX_THREADS] ? 0 : 2048 / threads;
    return 0;
}
API int cuFuncSetAttribute(qn__cu_function function, int attribute, int value) {
    CALL_IN_CONTEXT(function_set);
    if (attribute == QN__CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE &&
        fake.settings[FAKE_CAPABILITY] >= 90) {
        function->cluster_policy = value;
        return 0;
    }
    if (attribute != QN__CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || value > 232448)
        return QN__CU_ERROR_INVALID_VALUE;
    function->dynamic = value;
    return 0;
}
