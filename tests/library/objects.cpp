/* quern.hpp: what each class does, and what a failure says. */
#include <quern/quern.hpp>

#include <algorithm>
#include <complex>
#include <cstdio>
#include <cstring>
#include <functional>
#include <future>
#include <string_view>

using namespace std::chrono_literals;

static int failures = 0;

static void expect(bool holds, const char *what) {
    if (!holds) std::printf("objects.cpp: not so: %s\n", what), failures++;
}
#define EXPECT(condition) expect(condition, #condition)

static const char source[] = R"(
    typedef struct { int add, times; } how;
    kernel void change(global int *x, how h, local int *t) {
        size_t i = get_global_id(0) + get_global_id(1) * 4;
        t[get_local_id(0)] = x[i];
        x[i] = (t[get_local_id(0)] + h.add) * h.times;
    }
    kernel void is_null(global int *x, global int *y) { *x = y == 0; }
)";
struct how {
    int add, times;
};
union word {
    int i;
    float f;
};
struct with_constructor {
    explicit with_constructor(float all) : x(all), y(all) {}
    float x, y;
};

/* What an argument's bytes are the value of, and what only refers to it. */
static_assert(quern::plain_struct<how> && quern::plain_struct<word> && quern::plain_struct<with_constructor>);
static_assert(quern::plain_struct<std::array<float, 4>> && quern::plain_struct<std::complex<float>>);
static_assert(!quern::plain_struct<std::span<int>> && !quern::plain_struct<std::span<const how, 4>>);
static_assert(!quern::plain_struct<std::string_view> && !quern::plain_struct<std::initializer_list<int>>);
static_assert(!quern::plain_struct<quern::device> && !quern::plain_struct<quern::range>);
static_assert(!quern::plain_struct<quern::kernel> && !quern::plain_struct<quern::mapping<int>>);
static_assert(!quern::plain_struct<std::reference_wrapper<how>> && !quern::plain_struct<std::vector<int>>);

static void errors(const quern::device &device) {
    try {
        quern::program(device, "kernel void k() { x; }");
        EXPECT(false);
    } catch (const quern::error &e) {
        EXPECT(e.status() == QN_ERROR_COMPILE && std::strstr(e.what(), "1:19"));
    }
    quern::buffer<int> x(device, 4);
    try {
        std::array<int, 5> five;
        x.read(five);
        EXPECT(false);
    } catch (const quern::error &e) {
        EXPECT(e.status() == QN_ERROR_RANGE);
    }
}

static void buffers(const quern::device &device) {
    quern::buffer<int> x(device, 4);
    EXPECT(x.size() == 4 && x.read() == std::vector<int>(4));
    {
        quern::mapping<int> view = x.map();
        for (int &value : view) value = 3;
    }
    const std::array<int, 2> two = {8, 9};
    x.write(two, 1);
    EXPECT((x.read() == std::vector<int>{3, 8, 9, 3}));
    quern::buffer<int> listed(device, {1, 2, 3, 4});
    listed.write({5, 6}, 1);
    EXPECT((listed.read() == std::vector<int>{1, 5, 6, 4}));
    EXPECT((quern::buffer<float>(device, {1.5f, 2.5f}).read() == std::vector<float>{1.5f, 2.5f}));
    EXPECT((quern::buffer<how>(device, {{1, 2}, {3, 4}, {5, 6}}).read()[2].times == 6));
    EXPECT(quern::buffer<int>(device, 7).size() == 7 && quern::buffer<int>(device, {7}).size() == 1);
    try {
        std::array<int, 1> one = {};
        x.read(one, size_t{1} << 62);
        EXPECT(false);
    } catch (const quern::error &e) {
        EXPECT(e.status() == QN_ERROR_RANGE);
    }
    quern::buffer<int> moved = std::move(x);
    EXPECT(moved.size() == 4 && !x.get());
    const quern::buffer<int> &fixed = moved;
    EXPECT(fixed.map()[2] == 9);
    {
        quern::mapping<int> part = moved.map(1, 2);
        EXPECT(part.size() == 2 && part[1] == 9);
        part[0] = 70;
    }
    EXPECT(fixed.map(0, 2)[1] == 70 && moved.read()[3] == 3);
    const quern::buffer<int> seen = quern::buffer<int>::shared(device, 3);
    seen.host()[2] = 8;
    EXPECT(seen.host().size() == 3 && (seen.read() == std::vector<int>{0, 0, 8}));
    quern::buffer<int> both = quern::buffer<int>::unified(device, 3);
    EXPECT(both.state() == QN_BUFFER_HOST_ONLY);
    both.write({1, 2, 3});
    both.sync();
    EXPECT(both.state() == QN_BUFFER_BOTH && both.map()[2] == 3);
    try {
        fixed.host();
        EXPECT(false);
    } catch (const quern::error &e) {
        EXPECT(std::strstr(e.what(), "is not of QN_MEMORY_SHARED"));
    }
    try {
        moved.map(3, 2);
        EXPECT(false);
    } catch (const quern::error &e) {
        EXPECT(e.status() == QN_ERROR_RANGE);
    }
}

static void launches(const quern::device &device) {
    quern::program program(device, source);
    quern::kernel change = program.kernel("change");
    EXPECT(std::strcmp(change.info().name, "change") == 0 && change.info().num_params == 3);
    std::vector<int> values(16, 1);
    quern::buffer<int> x(device, values);
    change.launch(quern::range(4, 4).group(2, 2), x, how{1, 10}, quern::local{64});
    EXPECT(x.read() == std::vector<int>(16, 20));
    change.launch(quern::range(4).from(12), x, how{0, 2}, quern::local{1024});
    EXPECT(x.read()[11] == 20 && x.read()[12] == 40);
    try {
        change.launch(quern::range(4).group((uint64_t{1} << 32) + 4), x, how{0, 2}, quern::local{64});
        EXPECT(false);
    } catch (const quern::error &e) {
        EXPECT(e.status() == QN_ERROR_LAUNCH_SIZE);
    }
    program.kernel("is_null").launch(quern::range(1), x, nullptr);
    EXPECT(x.read()[0] == 1);
}

static void files(const quern::device &device) {
    const std::array<qn_source, 2> sources = {
        qn_source{"int f(void);\nkernel void k(global int *x) { x[0] = f(); }\n", 0, "k.cl"},
        qn_source{"int f(void) { return N; }\n", 0, "f.cl"}};
    quern::program program(device, sources, "-D N=7");
    quern::buffer<int> x(device, 1);
    program.kernel().launch(quern::range(1), x);
    EXPECT(x.read()[0] == 7);
}

static void packed(const quern::context &context, const quern::device &device) {
    qn_program_desc desc = {};
    desc.source = source;
    qn_pack_desc targets = {};
    targets.targets = "ir";
    const std::vector<unsigned char> data = quern::pack(context, desc, targets);
    quern::program program(device, data);
    quern::buffer<int> x(device, 4);
    program.kernel("change").launch(quern::range(4), x, how{1, 2}, quern::local{64});
    EXPECT(x.read() == std::vector<int>(4, 2));
    try {
        quern::program(device, std::span(data).first(20));
        EXPECT(false);
    } catch (const quern::error &e) {
        EXPECT(e.status() == QN_ERROR_IO);
    }
}

static void streams(const quern::device &device) {
    quern::program program(device, source);
    quern::kernel change = program.kernel("change");
    quern::buffer<int> x(device, 4);
    quern::stream stream(device), other(device);
    quern::event begin(device), end(device);
    stream.record(begin);
    quern::pinned<int> host(device, 4);
    EXPECT(host.size() == 4 && host[0] == 0 && host[3] == 0);
    host[2] = 6;
    stream.write(x, host);
    host = quern::pinned<int>(device, 4); /* the first one's memory stays until the write is done */
    stream.read(x, host);
    stream.wait();
    EXPECT(host[2] == 6);
    std::fill(host.begin(), host.end(), 0);
    stream.write(x, host);
    quern::graph graph = stream.capture([&] {
        stream.launch(change, quern::range(4), x, how{1, 2}, quern::local{64});
    });
    EXPECT(graph.launch_count() == 1);
    graph.set_launch(0, quern::range(4), x, how{1, 100}, quern::local{64});
    graph.set_launch(0, quern::range(4), x, how{1, 2}, quern::local{64});
    stream.launch(graph);
    graph.set_launch(0, quern::range(4));
    stream.launch(graph);
    stream.record(end);
    other.wait_for(end);
    std::promise<qn_status> told;
    other.on_done([&told](qn_status status, const char *) { told.set_value(status); });
    EXPECT(told.get_future().get() == QN_OK);
    std::array<int, 4> got = {};
    other.read(x, got);
    other.wait(60s);
    EXPECT(got[3] == 6);
    std::vector<int> values = {1, 2};
    other.write(x, values);
    other.write(x, {9}, 3);
    values.resize(4);
    other.read(x, values);
    other.wait(60s);
    EXPECT((values == std::vector<int>{1, 2, 6, 9}));
    other.write(x, {6, 6, 6, 6});
    other.wait();
    EXPECT(end.done() && end.since(begin) >= 0ns);
    end.wait(-1s);
    device.wait();
    try {
        stream.capture([] { throw 7; });
        EXPECT(false);
    } catch (int seven) {
        stream.launch(graph); /* it records no longer */
        stream.wait();
        EXPECT(seven == 7 && x.read()[0] == 14);
    }
}

int main() try {
    quern::context context;
    EXPECT(!context.devices().empty());
    quern::device device = context.device("cpu");
    EXPECT(device.info().kind == QN_DEVICE_CPU);
    errors(device);
    buffers(device);
    launches(device);
    files(device);
    packed(context, device);
    streams(device);
    return failures != 0;
} catch (const quern::error &e) {
    std::printf("objects.cpp: %s\n", e.what());
    return 1;
}
