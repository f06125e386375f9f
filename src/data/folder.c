/* Sets of the images in a folder, by class. Names are looked for once, and sorted, so that numbers do not depend on the file system. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "data/pixels.h"

enum { DEEPEST = 32, PATH_ROOM = 4096 };

/* Texts one after the other, and where each begins. */
typedef struct names {
    char **at;
    uint64_t count, room;
} names;

typedef struct folder {
    qn_context *context;
    char *path;
    names classes, files; /* files: paths */
    int32_t *labels;      /* of files */
    uint32_t width, height, channels;
} folder;

/* ---- lists of names ---- */

static qn_status add_name(qn_context *context, names *list, const char *text) {
    if (list->count == list->room) {
        const uint64_t room = list->room ? 2 * list->room : 64;
        char **grown = qn__data_allocate(context, room * sizeof *grown);
        if (!grown) return QN_ERROR_OUT_OF_MEMORY;
        if (list->count) memcpy(grown, list->at, (size_t)list->count * sizeof *grown);
        qn__data_release(context, list->at);
        list->at = grown;
        list->room = room;
    }
    const size_t size = strlen(text) + 1;
    char *copy = qn__data_allocate(context, size);
    if (!copy) return QN_ERROR_OUT_OF_MEMORY;
    memcpy(copy, text, size);
    list->at[list->count++] = copy;
    return QN_OK;
}

static void release_names(qn_context *context, names *list) {
    for (uint64_t i = 0; i < list->count; i++) qn__data_release(context, list->at[i]);
    qn__data_release(context, list->at);
    *list = (names){NULL, 0, 0};
}

static int compare(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static void sort(names *list) {
    if (list->count) qsort(list->at, (size_t)list->count, sizeof *list->at, compare);
}

/* ---- folders ---- */

static bool is_folder(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static qn_status fail_path(const folder *f, const char *path, const char *problem) {
    return qn__data_fail(f->context, QN_ERROR_IO, "qn_dataset_from_folder: %.200s: %s", path, problem);
}

static qn_status join(const folder *f, const char *path, const char *name, char *full) {
    return (size_t)snprintf(full, PATH_ROOM, "%s/%s", path, name) < PATH_ROOM
               ? QN_OK
               : fail_path(f, path, "a path in it is too long");
}

/* The folder's folders and images, by name, sorted. */
static qn_status list_folder(const folder *f, const char *path, names *folders, names *images) {
    char full[PATH_ROOM];
    DIR *dir = opendir(path);
    if (!dir) return fail_path(f, path, strerror(errno));
    qn_status status = QN_OK;
    for (const struct dirent *entry; !status && (entry = readdir(dir)) != NULL;) {
        if (entry->d_name[0] == '.') continue;
        status = join(f, path, entry->d_name, full);
        if (!status && is_folder(full))
            status = add_name(f->context, folders, entry->d_name);
        else if (!status && qn__is_image_name(entry->d_name))
            status = add_name(f->context, images, entry->d_name);
    }
    closedir(dir);
    sort(folders);
    sort(images);
    return status;
}

/* All images below a folder, as files of the set. Links could lead round in circles: DEEPEST ends that. */
static qn_status add_images(folder *f, const char *path, uint32_t depth) {
    char full[PATH_ROOM];
    names folders = {0}, images = {0};
    qn_status status = depth < DEEPEST ? list_folder(f, path, &folders, &images)
                                       : fail_path(f, path, "folders are nested too deeply");
    for (uint64_t i = 0; i < images.count && !status; i++) {
        status = join(f, path, images.at[i], full);
        if (!status) status = add_name(f->context, &f->files, full);
    }
    for (uint64_t i = 0; i < folders.count && !status; i++) {
        status = join(f, path, folders.at[i], full);
        if (!status) status = add_images(f, full, depth + 1);
    }
    release_names(f->context, &folders);
    release_names(f->context, &images);
    return status;
}

/* The files of a class have its number; `first` is where they begin. */
static qn_status add_labels(folder *f, uint64_t first, int32_t label) {
    int32_t *labels = qn__data_allocate(f->context, (f->files.count + 1) * sizeof *labels);
    if (!labels) return QN_ERROR_OUT_OF_MEMORY;
    if (first) memcpy(labels, f->labels, (size_t)first * sizeof *labels);
    for (uint64_t i = first; i < f->files.count; i++) labels[i] = label;
    qn__data_release(f->context, f->labels);
    f->labels = labels;
    return QN_OK;
}

static qn_status find_files(folder *f) {
    char full[PATH_ROOM];
    names images = {0};
    qn_status status = list_folder(f, f->path, &f->classes, &images);
    release_names(f->context, &images);
    if (!status && !f->classes.count) {
        status = add_images(f, f->path, 0);
        if (!status) status = add_labels(f, 0, 0);
    }
    for (uint64_t i = 0; i < f->classes.count && !status; i++) {
        const uint64_t first = f->files.count;
        status = join(f, f->path, f->classes.at[i], full);
        if (!status) status = add_images(f, full, 1);
        if (!status) status = add_labels(f, first, (int32_t)i);
    }
    return !status && !f->files.count ? fail_path(f, f->path, "no PNG or JPEG image is in it") : status;
}

/* ---- examples ---- */

static qn_status get_image(void *user, uint64_t index, void *const *to) {
    const folder *f = user;
    pixels image;
    qn_status status = qn__pixels_read(f->context, f->files.at[index], f->channels, &image);
    if (status) return status;
    status = qn__pixels_fit(f->context, &image, f->width, f->height, to[0]);
    qn__pixels_release(&image);
    memcpy(to[1], &f->labels[index], sizeof *f->labels);
    return status;
}

static void release_folder(void *user) {
    folder *f = user;
    release_names(f->context, &f->classes);
    release_names(f->context, &f->files);
    qn__data_release(f->context, f->labels);
    qn__data_release(f->context, f->path);
    qn__data_release(f->context, f);
}

static qn_status find_size(folder *f) {
    if (f->width && f->height) return QN_OK;
    pixels image;
    const qn_status status = qn__pixels_read(f->context, f->files.at[0], f->channels, &image);
    if (status) return status;
    if (!f->width) f->width = image.width;
    if (!f->height) f->height = image.height;
    qn__pixels_release(&image);
    return QN_OK;
}

static qn_status check_desc(qn_context *context, const char *path, const qn_folder_desc *desc,
                            const void *dataset) {
    if (!path || !dataset)
        return qn__data_fail(context, QN_ERROR_NULL, "qn_dataset_from_folder: %s is NULL",
                             path ? "dataset" : "path");
    if (desc->channels == 2 || desc->channels > 4)
        return qn__data_fail(context, QN_ERROR_ARGUMENT,
                             "qn_dataset_from_folder: %u channels; 1, 3 or 4 can be",
                             (unsigned)desc->channels);
    if (desc->width > 1 << 14 || desc->height > 1 << 14)
        return qn__data_fail(context, QN_ERROR_ARGUMENT,
                             "qn_dataset_from_folder: examples of over 2^14 pixels a side");
    return QN_OK;
}

static qn_status make_folder(qn_context *context, const char *path, const qn_folder_desc *desc,
                             folder **out) {
    folder *f = qn__data_allocate(context, sizeof *f);
    if (!f) return QN_ERROR_OUT_OF_MEMORY;
    *f = (folder){.context = context,
                  .width = desc->width,
                  .height = desc->height,
                  .channels = desc->channels ? desc->channels : 3};
    f->path = qn__data_allocate(context, strlen(path) + 1);
    qn_status status = f->path ? QN_OK : QN_ERROR_OUT_OF_MEMORY;
    if (!status) {
        memcpy(f->path, path, strlen(path));
        status = find_files(f);
    }
    if (!status) status = find_size(f);
    if (status)
        release_folder(f);
    else
        *out = f;
    return status;
}

qn_status qn_dataset_from_folder(qn_context *context, const char *path, const qn_folder_desc *given,
                                 qn_dataset **dataset) {
    const qn_folder_desc defaults = {0}, *desc = given ? given : &defaults;
    qn_status status = check_desc(context, path, desc, dataset);
    folder *f = NULL;
    if (!status) status = make_folder(context, path, desc, &f);
    if (status) return status;
    const qn_dataset_desc set = {
        .count = f->files.count,
        .num_fields = 2,
        .fields = {{QN_U8, QN_SHAPE(f->channels, f->height, f->width)}, {QN_I32, QN_SCALAR}},
        .get = get_image,
        .user = f,
        .release = release_folder};
    status = qn_dataset_create(context, &set, dataset);
    if (status) release_folder(f);
    return status;
}

const char *qn_dataset_class(const qn_dataset *dataset, uint32_t index) {
    const folder *f = dataset ? qn__dataset_user(dataset, get_image) : NULL;
    return f && index < f->classes.count ? f->classes.at[index] : NULL;
}
