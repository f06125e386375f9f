/* What drivers tell of compiled kernels, played over the driver that is there: names and units of each, and that asking
   leaves the program's cache and its pipelines alone. What a real driver tells is looked at by api_resources.c. */
#include "vulkan_support.h"

/* ---- a driver's statistics ---- */

typedef struct played {
    const char *name;
    uint32_t format;
    uint64_t value;
} played;

static struct {
    const played *list;
    uint32_t count, sub_group_size;
    VkResult executables, statistics; /* of the calls */
    unsigned captured, plain;         /* pipelines that were made */
    uint32_t last_local;
    bool cached; /* a pipeline that captures was given a cache */
    long live;   /* pipelines that capture */
    VkPipeline newest;
} plays;

static qn__vk_device_functions real;

static VkResult make_pipelines(VkDevice device, VkPipelineCache cache, uint32_t count,
                               const VkComputePipelineCreateInfo *infos, VkNoHooks hooks,
                               VkPipeline *pipelines) {
    VkComputePipelineCreateInfo info = infos[0];
    const bool captures = info.flags & VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR;
    plays.captured += captures;
    plays.plain += !captures;
    plays.cached |= captures && cache;
    memcpy(&plays.last_local, info.stage.pSpecializationInfo->pData, sizeof plays.last_local);
    info.flags = 0; /* the driver below does not know it */
    VkResult result = real.CreateComputePipelines(device, cache, count, &info, hooks, pipelines);
    if (result == VK_SUCCESS && captures) {
        plays.live++;
        plays.newest = *pipelines;
    }
    return result;
}

static void destroy_pipeline(VkDevice device, VkPipeline pipeline, VkNoHooks hooks) {
    plays.live -= pipeline == plays.newest;
    real.DestroyPipeline(device, pipeline, hooks);
}

/* Two: the first is of another stage. */
static VkResult executables(VkDevice device, const VkPipelineInfoKHR *info, uint32_t *count,
                            VkPipelineExecutablePropertiesKHR *list) {
    (void)device;
    assert_int_equal(info->sType, VK_STRUCTURE_TYPE_PIPELINE_INFO_KHR);
    assert_true(info->pipeline == plays.newest && *count >= 2);
    list[0].stages = 1;
    list[1].stages = VK_SHADER_STAGE_COMPUTE_BIT;
    list[1].subgroupSize = plays.sub_group_size;
    *count = 2;
    return plays.executables;
}

static VkResult statistics(VkDevice device, const VkPipelineExecutableInfoKHR *info, uint32_t *count,
                           VkPipelineExecutableStatisticKHR *list) {
    (void)device;
    assert_true(info->pipeline == plays.newest && info->executableIndex == 1);
    const uint32_t room = *count;
    *count = plays.count;
    if (!list) return VK_SUCCESS;
    if (plays.statistics) return plays.statistics;
    assert_int_equal(room, plays.count);
    for (uint32_t i = 0; i < plays.count; i++) {
        assert_int_equal(list[i].sType, VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR);
        snprintf(list[i].name, sizeof list[i].name, "%s", plays.list[i].name);
        list[i].format = plays.list[i].format;
        list[i].value.u64 = plays.list[i].value;
    }
    return VK_SUCCESS;
}

typedef struct kept {
    uint32_t driver_id;
    VkGetPipelineExecutablePropertiesKHR *get_executables;
    VkGetPipelineExecutableStatisticsKHR *get_statistics;
} kept;

static kept play(uint32_t driver_id, const played *list, uint32_t count, uint32_t sub_group_size) {
    const kept was = {gpu->can.driver_id, gpu->get_executables, gpu->get_statistics};
    memset(&plays, 0, sizeof plays);
    plays.list = list;
    plays.count = count;
    plays.sub_group_size = sub_group_size;
    real = gpu->vk;
    gpu->vk.CreateComputePipelines = make_pipelines;
    gpu->vk.DestroyPipeline = destroy_pipeline;
    gpu->get_executables = executables;
    gpu->get_statistics = statistics;
    gpu->can.driver_id = driver_id;
    return was;
}

static void play_no_more(kept was) {
    assert_int_equal(plays.live, 0);
    gpu->vk = real;
    gpu->get_executables = was.get_executables;
    gpu->get_statistics = was.get_statistics;
    gpu->can.driver_id = was.driver_id;
}

static qn_status ask(const qn__code *code, uint32_t local, qn_kernel_resources *got) {
    const uint32_t sizes[3] = {local, 1, 1};
    *got = (qn_kernel_resources){.max_group_size = 1024, .preferred_multiple = 7};
    why[0] = 0;
    return backend->kernel_resources(gpu, code, 0, sizes, got, why);
}

/* ---- tests ---- */

enum {
    I64 = VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_INT64_KHR,
    U64 = VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_UINT64_KHR,
    F64 = VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_FLOAT64_KHR
};

static void each_driver_has_its_names(void **state) {
    (void)state;
    static const played nvidia[] = {{"Register Count", U64, 40},
                                    {"Binary Size", U64, 3456},
                                    {"Stack Size", U64, 77},
                                    {"Local Memory Size", U64, (UINT64_C(1) << 36) + 1936},
                                    {"Shared Memory Size", U64, 2052}};
    static const played radv[] = {{"SGPRs", U64, 99},        {"VGPRs", U64, 24},
                                  {"Code size", U64, 500},   {"LDS size", U64, 512},
                                  {"Scratch size", U64, 64}, {"Register Count", U64, 5}};
    static const played nvk[] = {
        {"Number of GPRs", U64, 18}, {"SLM Size", I64, 48}, {"Code Size", F64, 0x4090000000000000}};
    static const played turnip[] = {{"Registers used", U64, 18}, {"Code size", U64, 48}};
    static const struct {
        uint32_t driver_id;
        const played *list;
        uint32_t count, registers;
        uint64_t private_memory, code_size;
    } rows[] = {{VK_DRIVER_ID_NVIDIA_PROPRIETARY, nvidia, QN__COUNT(nvidia), 40, 1936, 3456},
                {VK_DRIVER_ID_MESA_RADV, radv, QN__COUNT(radv), 24, 2, 500},
                {24, nvk, QN__COUNT(nvk), 18, 48, 1024},
                {18, turnip, QN__COUNT(turnip), 0, 0, 0}};
    for (size_t i = 0; i < QN__COUNT(rows); i++) {
        qn__code *code = load_step();
        qn_kernel_resources got;
        const kept was = play(rows[i].driver_id, rows[i].list, rows[i].count, 32);
        OK(ask(code, 64, &got));
        assert_int_equal(got.registers, rows[i].registers);
        assert_int_equal(got.private_memory, rows[i].private_memory);
        assert_int_equal(got.code_size, rows[i].code_size);
        assert_int_equal(got.preferred_multiple, 32);
        assert_int_equal(got.max_group_size, 1024);
        assert_int_equal(got.resident_groups, 0);
        play_no_more(was);
        backend->code_unload(gpu, code);
    }
}

/* Numbers that are none: of nothing, negative, or larger than there are registers. */
static void nonsense_is_not_known(void **state) {
    (void)state;
    static const played list[] = {{"VGPRs", U64, UINT64_C(1) << 40},
                                  {"Scratch size", U64, 640},
                                  {"Code size", I64, (uint64_t)-5},
                                  {"Code size", 9, 5}};
    qn__code *code = load_step();
    qn_kernel_resources got;
    const kept was = play(VK_DRIVER_ID_MESA_RADV, list, QN__COUNT(list), 0);
    OK(ask(code, 64, &got));
    assert_int_equal(got.registers, 0);
    assert_int_equal(got.private_memory, 0); /* of a sub-group, whose size is not told */
    assert_int_equal(got.code_size, 0);
    assert_int_equal(got.preferred_multiple, 7);
    plays.count = 0;
    OK(ask(code, 32, &got));
    play_no_more(was);
    backend->code_unload(gpu, code);
}

/* A pipeline is made once for each size that is asked for, beside the one that is launched, and not kept. */
static void asked_once_for_each_size(void **state) {
    (void)state;
    static const played list[] = {{"Register Count", U64, 40}};
    qn__queue *queue = queue_new();
    qn__code *code = load_step();
    array x = array_new(1024), y = array_new(1024);
    qn_kernel_resources got;
    const kept was = play(VK_DRIVER_ID_NVIDIA_PROPRIETARY, list, QN__COUNT(list), 32);
    finish(queue, launch(queue, code, x, y, 1, 0, 256, 64));
    assert_int_equal(plays.plain, 1);
    assert_int_equal(plays.captured, 0);
    for (int i = 0; i < 3; i++) {
        OK(ask(code, 64, &got));
        assert_int_equal(got.registers, 40);
        OK(ask(code, 32, &got));
    }
    assert_int_equal(plays.captured, 2);
    assert_int_equal(plays.last_local, 32);
    assert_false(plays.cached);
    finish(queue, launch(queue, code, x, y, 1, 0, 256, 64));
    assert_int_equal(plays.plain, 1);
    finish(queue, launch(queue, code, x, y, 1, 0, 256, 32)); /* asked for before it was made */
    finish(queue, launch(queue, code, x, y, 1, 0, 256, 32));
    assert_int_equal(plays.plain, 2);
    play_no_more(was);
    array_free(x);
    array_free(y);
    backend->code_unload(gpu, code);
    backend->queue_destroy(queue);
}

static void failures_are_told_and_not_kept(void **state) {
    (void)state;
    static const played list[] = {{"Register Count", U64, 40}};
    qn__code *code = load_step();
    qn_kernel_resources got;
    const kept was = play(VK_DRIVER_ID_NVIDIA_PROPRIETARY, list, QN__COUNT(list), 32);
    plays.executables = VK_ERROR_OUT_OF_DEVICE_MEMORY;
    assert_int_equal(ask(code, 64, &got), QN_ERROR_DEVICE_MEMORY);
    assert_non_null(strstr(why, "vkGetPipelineExecutablePropertiesKHR"));
    plays.executables = VK_SUCCESS;
    plays.statistics = VK_ERROR_OUT_OF_HOST_MEMORY;
    assert_int_equal(ask(code, 64, &got), QN_ERROR_OUT_OF_MEMORY);
    assert_non_null(strstr(why, "vkGetPipelineExecutableStatisticsKHR"));
    plays.statistics = VK_SUCCESS;
    for (int n = 0; n < 2; n++) { /* of another size: its place, then the list */
        atomic_store(&fail_after, n);
        assert_int_equal(ask(code, 16, &got), QN_ERROR_OUT_OF_MEMORY);
        atomic_store(&fail_after, -1);
    }
    for (uint32_t local = 16; local <= 64; local += 48) {
        OK(ask(code, local, &got));
        assert_int_equal(got.registers, 40);
    }
    play_no_more(was);
    backend->code_unload(gpu, code);
}

/* Without the extension what the device allows stays as it is. */
static void a_driver_that_tells_nothing(void **state) {
    (void)state;
    qn__code *code = load_step();
    qn_kernel_resources got;
    const kept was = play(0, NULL, 0, 0);
    gpu->get_executables = NULL;
    gpu->get_statistics = NULL;
    OK(ask(code, 64, &got));
    assert_int_equal(got.max_group_size, 1024);
    assert_int_equal(got.preferred_multiple, 7);
    assert_int_equal(got.registers, 0);
    assert_int_equal(plays.captured, 0);
    play_no_more(was);
    backend->code_unload(gpu, code);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_driver_has_its_names),   cmocka_unit_test(nonsense_is_not_known),
        cmocka_unit_test(asked_once_for_each_size),    cmocka_unit_test(failures_are_told_and_not_kept),
        cmocka_unit_test(a_driver_that_tells_nothing),
    };
    return run_in_both_ways(tests, QN__COUNT(tests));
}
