/* Processors by the names that C compilers know (-march), each with what the system must say of one that is as good. A row
   has all of the rows of its kind above it. Sources: the x86-64 psABI's levels; Arm's architecture manual. */
#include <stdio.h>
#include <string.h>

#include "backend/cpu/cpu.h"
#include "util/system.h"

typedef struct machine {
    const char *name, *flags; /* words of /proc/cpuinfo on top of the row above */
    uint32_t vector_bytes;    /* SIMD registers; 0: none, or of a size that the name does not tell */
} machine;

static const machine machines[] = {
#if defined(__x86_64__)
    {"x86-64", "", 16},
    {"x86-64-v2", "cx16 lahf_lm popcnt pni sse4_1 sse4_2 ssse3", 16},
    {"x86-64-v3", "abm avx avx2 bmi1 bmi2 f16c fma movbe xsave", 32},
    {"x86-64-v4", "avx512f avx512bw avx512cd avx512dq avx512vl", 64},
#elif defined(__aarch64__)
    {"armv8-a", "fp asimd", 16},
    {"armv8.1-a", "atomics crc32 asimdrdm", 16},
    {"armv8.2-a", "dcpop", 16},
#elif defined(__riscv) && __riscv_xlen == 64
    {"rv64gc", "", 0},
#endif
    {NULL, NULL, 0},
};

enum { NUM_MACHINES = QN__COUNT(machines) - 1 };

static bool has_word(const char *flags, const char *word, size_t length) {
    for (const char *at = flags; *at; at += strcspn(at, " ")) {
        at += strspn(at, " ");
        if (strcspn(at, " ") == length && memcmp(at, word, length) == 0) return true;
    }
    return false;
}

static bool has_words(const char *flags, const char *words) {
    while (*words) {
        const size_t length = strcspn(words, " ");
        if (length && !has_word(flags, words, length)) return false;
        words += length + (words[length] == ' ');
    }
    return true;
}

unsigned qn__cpu_machine(const char *flags) {
    unsigned best = 0;
    while (best < NUM_MACHINES && (best == 0 || has_words(flags, machines[best].flags))) best++;
    return best;
}

static unsigned number_of(const char *name) {
    unsigned i = 0;
    while (i < NUM_MACHINES && strcmp(machines[i].name, name) != 0) i++;
    return i < NUM_MACHINES ? i + 1 : 0;
}

bool qn__cpu_has_tile_registers(const char *flags) {
    return has_words(flags, "amx_tile amx_bf16 amx_int8") && qn__allow_tile_registers();
}

bool qn__cpu_has_pair_products(const char *vendor, const char *flags) {
    return has_words(flags, "avx512f avx512_bf16") && strcmp(vendor, "GenuineIntel") != 0;
}

uint32_t qn__cpu_runs_binary(const qn__gpu *gpu, const char *name) {
    const unsigned number = number_of(name);
    return number <= gpu->machine ? number : 0;
}

uint32_t qn__cpu_vector_bytes(const qn__gpu *gpu) {
    return gpu->machine ? machines[gpu->machine - 1].vector_bytes : 0;
}

const char *qn__cpu_find_machine(const qn__gpu *gpu, const char *name, char *why) {
    const unsigned number = !name ? 1 : strcmp(name, "native") == 0 ? gpu->machine : number_of(name);
    if (number && number <= NUM_MACHINES) return machines[number - 1].name;
    int used = snprintf(why, QN__WHY, "there is no processor '%.60s'; there are native", name ? name : "");
    for (int i = 0; i < NUM_MACHINES && used < QN__WHY; i++)
        used += snprintf(why + used, (size_t)(QN__WHY - used), ", %s", machines[i].name);
    return NULL;
}
