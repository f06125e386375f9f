/* Whether the machine may have a GPU, found without its driver. Loaders of Vulkan and OpenCL load every driver that is
   installed, and on a machine without a GPU these are software drivers only: 0.1 s and 80 MB for devices that are never
   chosen. */
#include "backend/common/common.h"

#ifdef __linux__
#include <dirent.h>
#include <stdio.h>
#include <string.h>

/* What kernel drivers leave: names in a folder that begin so. */
static const struct trace {
    const char *folder, *prefix;
} traces[] = {
    {"/dev/dri", "renderD"},    /* every GPU of the kernel's graphics drivers */
    {"/dev", "nvidia"},         /* NVIDIA's own; made when they are first used, hence the next */
    {"/proc/driver", "nvidia"}, /* the same, as soon as the driver is there */
    {"/dev", "nvhost"},         /* Tegra */
    {"/dev", "nvgpu"},          /* Tegra */
    {"/dev", "kfd"},            /* AMD's compute driver */
    {"/dev", "dxg"},            /* the host's GPU under WSL */
    {"/dev", "mali"},           /* Arm */
    {"/dev", "kgsl"},           /* Qualcomm */
    {"/dev", "pvr"},            /* Imagination */
    {"/dev", "galcore"},        /* Vivante */
};

static bool folder_has(const char *path, const char *prefix) {
    DIR *folder = opendir(path);
    bool found = false;
    if (!folder) return false;
    for (const struct dirent *entry; !found && (entry = readdir(folder));)
        found = strncmp(entry->d_name, prefix, strlen(prefix)) == 0;
    closedir(folder);
    return found;
}

bool qn__may_have_gpu(const char *root) {
    for (size_t i = 0; i < QN__COUNT(traces); i++) {
        char path[512];
        snprintf(path, sizeof path, "%s%s", root, traces[i].folder);
        if (folder_has(path, traces[i].prefix)) return true;
    }
    return false;
}
#else
bool qn__may_have_gpu(const char *root) {
    (void)root; /* other systems leave no such traces */
    return true;
}
#endif

bool qn__has_hardware(void) { return qn__may_have_gpu(""); }
