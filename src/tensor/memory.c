/* Memory: handles and nodes from blocks, with lists of free ones; device memory from a pool of what was released, by size. Work
   is in order on one stream, so that memory is good for its next user as soon as its last one is enqueued. */
#include <string.h>

#include "tensor/graph.h"

enum { BLOCK = 64 };

struct qn__block {
    qn__block *next;
};

typedef struct node_block {
    qn__block head;
    qn__node nodes[BLOCK];
} node_block;

typedef struct handle_block {
    qn__block head;
    qn_tensor handles[BLOCK];
} handle_block;

/* Free nodes hang together by their first source. */
static bool add_nodes(qn_tensors *tensors) {
    node_block *b = qn__tensors_allocate(tensors, sizeof *b);
    if (!b) return false;
    b->head.next = tensors->node_blocks;
    tensors->node_blocks = &b->head;
    for (int i = BLOCK; i-- > 0;) {
        b->nodes[i].sources[0] = tensors->free_nodes;
        tensors->free_nodes = &b->nodes[i];
    }
    return true;
}

qn__node *qn__node_allocate(qn_tensors *tensors) {
    if (!tensors->free_nodes && !add_nodes(tensors)) return NULL;
    qn__node *node = tensors->free_nodes;
    tensors->free_nodes = node->sources[0];
    memset(node, 0, sizeof *node);
    node->refs = 1;
    node->owner = tensors;
    tensors->stats.nodes++;
    return node;
}

void qn__node_free(qn__node *node) {
    qn_tensors *tensors = node->owner;
    node->sources[0] = tensors->free_nodes;
    tensors->free_nodes = node;
    tensors->stats.nodes--;
}

static bool add_handles(qn_tensors *tensors) {
    handle_block *b = qn__tensors_allocate(tensors, sizeof *b);
    if (!b) return false;
    b->head.next = tensors->handle_blocks;
    tensors->handle_blocks = &b->head;
    for (int i = BLOCK; i-- > 0;) {
        b->handles[i].next = tensors->free_handles;
        tensors->free_handles = &b->handles[i];
    }
    return true;
}

qn_tensor *qn__handle_allocate(qn_tensors *tensors) {
    if (!tensors->free_handles && !add_handles(tensors)) return NULL;
    qn_tensor *x = tensors->free_handles;
    tensors->free_handles = x->next;
    *x = (qn_tensor){.refs = 1, .owner = tensors};
    tensors->stats.tensors++;
    return x;
}

void qn__handle_free(qn_tensor *x) {
    qn_tensors *tensors = x->owner;
    *x = (qn_tensor){.next = tensors->free_handles, .owner = tensors};
    tensors->free_handles = x;
    tensors->stats.tensors--;
}

/* Sizes that share memory: steps of an eighth of a power of two, 512 bytes at least. */
static uint64_t rounded(uint64_t bytes) {
    uint64_t step = QN__STORAGE_STEP;
    while (bytes > step * 8) step *= 2;
    return (bytes + step - 1) / step * step;
}

static qn__storage **pool_of(qn_tensors *tensors, uint64_t bytes) {
    return &tensors->pool[(bytes * 0x9e3779b97f4a7c15u) >> 56];
}

static void count_allocated(qn_tensors *tensors, uint64_t bytes) {
    qn_tensors_stats *s = &tensors->stats;
    s->allocated += bytes;
    if (s->allocated > s->most_allocated) s->most_allocated = s->allocated;
}

static qn__storage *take_pooled(qn_tensors *tensors, uint64_t bytes) {
    for (qn__storage **at = pool_of(tensors, bytes); *at; at = &(*at)->next) {
        qn__storage *s = *at;
        if (s->bytes != bytes) continue;
        *at = s->next;
        tensors->stats.pooled -= bytes;
        return s;
    }
    return NULL;
}

qn_status qn_tensors_trim(qn_tensors *tensors) {
    const qn_status status = qn__tensors_check(tensors, "qn_tensors_trim");
    if (status) return status;
    for (int i = 0; i < QN__POOL_LISTS; i++)
        while (tensors->pool[i]) {
            qn__storage *s = tensors->pool[i];
            tensors->pool[i] = s->next;
            tensors->stats.allocated -= s->bytes;
            qn_buffer_destroy(s->buffer);
            qn__tensors_release(tensors, s);
        }
    tensors->stats.pooled = 0;
    return QN_OK;
}

static qn_status create_buffer(qn_tensors *tensors, uint64_t bytes, qn_buffer **buffer) {
    const qn_buffer_desc desc = {.size = bytes, .uninitialised = true, .label = "tensor"};
    const qn_status status = qn_buffer_create(tensors->device, &desc, buffer);
    if (status != QN_ERROR_DEVICE_MEMORY || !tensors->stats.pooled) return status;
    qn_tensors_trim(tensors);
    return qn_buffer_create(tensors->device, &desc, buffer);
}

qn_status qn__storage_create(qn_tensors *tensors, uint64_t bytes, qn__storage **out) {
    bytes = rounded(bytes);
    qn__storage *s = take_pooled(tensors, bytes);
    if (!s) {
        s = qn__tensors_allocate(tensors, sizeof *s);
        if (!s) return QN_ERROR_OUT_OF_MEMORY;
        s->bytes = bytes;
        const qn_status status = create_buffer(tensors, bytes, &s->buffer);
        if (status) {
            qn__tensors_release(tensors, s);
            return status;
        }
        count_allocated(tensors, bytes);
    }
    s->refs = 1;
    s->assigned = false;
    tensors->stats.bytes += bytes;
    *out = s;
    return QN_OK;
}

qn_status qn__storage_part(qn_tensors *tensors, const qn__storage *whole, uint64_t offset, uint64_t bytes,
                           qn__storage **out) {
    qn__storage *s = qn__tensors_allocate(tensors, sizeof *s);
    if (!s) return QN_ERROR_OUT_OF_MEMORY;
    *s = (qn__storage){.refs = 1, .is_part = true, .bytes = bytes};
    const qn_status status = qn_buffer_view(whole->buffer, offset, bytes, &s->buffer);
    if (status)
        qn__tensors_release(tensors, s);
    else
        *out = s;
    return status;
}

void qn__storage_retain(qn__storage *storage) {
    if (storage) storage->refs++;
}

/* To a lender who wants to know, and has the memory when all work with it is done, or is enqueued. */
static void give_back(qn_tensors *tensors, qn__storage *s) {
    if (s->release) {
        qn_buffer_destroy(s->buffer);
        qn_stream_wait(tensors->stream, QN_FOREVER);
        s->release(s->user);
    }
    if (s->release_enqueued) s->release_enqueued(s->user);
    qn__tensors_release(tensors, s);
}

void qn__storage_release(qn_tensors *tensors, qn__storage *s) {
    if (!s || --s->refs) return;
    if (s->borrowed) {
        give_back(tensors, s);
        return;
    }
    if (s->is_part) {
        qn_buffer_destroy(s->buffer);
        qn__tensors_release(tensors, s);
        return;
    }
    tensors->stats.bytes -= s->bytes;
    if (s->shared) {
        tensors->stats.allocated -= s->bytes;
        qn_buffer_destroy(s->buffer); /* others have views of it */
        qn__tensors_release(tensors, s);
        return;
    }
    tensors->stats.pooled += s->bytes;
    qn__storage **list = pool_of(tensors, s->bytes);
    s->next = *list;
    *list = s;
}

static void free_blocks(qn_tensors *tensors, qn__block *block) {
    while (block) {
        qn__block *next = block->next;
        qn__tensors_release(tensors, block);
        block = next;
    }
}

static void free_nodes_of(qn_tensors *tensors, node_block *b) {
    for (int i = 0; i < BLOCK; i++) {
        qn__node *n = &b->nodes[i];
        if (!n->refs) continue;
        qn__storage_release(tensors, n->storage);
        qn__tensors_release(tensors, n->detour);
    }
}

static void free_handles_of(qn_tensors *tensors, handle_block *b) {
    for (int i = 0; i < BLOCK; i++)
        if (b->handles[i].refs) qn__tensors_release(tensors, b->handles[i].message);
}

/* All of it, whoever counts on it. */
void qn__memory_free(qn_tensors *tensors) {
    for (qn__block *b = tensors->node_blocks; b; b = b->next) free_nodes_of(tensors, (node_block *)b);
    for (qn__block *b = tensors->handle_blocks; b; b = b->next) free_handles_of(tensors, (handle_block *)b);
    free_blocks(tensors, tensors->node_blocks);
    free_blocks(tensors, tensors->handle_blocks);
    qn_tensors_trim(tensors);
}
