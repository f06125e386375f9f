/* quern for C++20: objects that release themselves, typed buffers as spans, launches with the arguments as they are, and
   exceptions in place of statuses. Each class holds one object of quern.h (get() gives it) and adds nothing to what the
   header says of it; what is missing here is called there.

       quern::context context;
       quern::device device = context.device();
       quern::program program(device, source);
       quern::buffer<float> x(device, xs), y(device, ys); // of spans, vectors, arrays
       program.kernel("saxpy").launch(quern::range(n), n, 2.0f, x, y);
       std::vector<float> result = y.read();

   Objects can be moved, not copied. Threads: as quern.h says of the object. */
#ifndef QUERN_HPP
#define QUERN_HPP

#if !defined(__cplusplus) || __cplusplus < 202002L
#error "quern.hpp needs C++20 (-std=c++20); quern.h is C++11"
#endif

#include <array>
#include <chrono>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <quern/quern.h>

namespace quern {

/* A failed call: its status, and the sentence that the library left. */
class error : public std::runtime_error {
  public:
    error(qn_status status, const char *message)
        : std::runtime_error(message && *message ? message : qn_status_text(status)), status_(status) {}
    qn_status status() const noexcept { return status_; }

  private:
    qn_status status_;
};

/* Throws unless `status` is QN_OK. The context (NULL: none) has the sentence. */
inline void check(qn_status status, const qn_context *context) {
    if (status != QN_OK) throw error(status, context ? qn_error_message(context) : nullptr);
}

namespace detail {
template <auto destroy> struct destroyer {
    template <class Object> void operator()(Object *object) const noexcept { destroy(object); }
};
template <class Object, auto destroy> using owner = std::unique_ptr<Object, destroyer<destroy>>;

/* None: for ever; what is over already: not at all. */
inline uint64_t nanoseconds(std::optional<std::chrono::nanoseconds> timeout) {
    if (!timeout) return QN_FOREVER;
    return timeout->count() > 0 ? static_cast<uint64_t>(timeout->count()) : 0;
}

/* Bytes of `count` values; as many as there can be where that overflows, which no buffer has. */
template <class T> uint64_t bytes_of(size_t count) {
    return count > UINT64_MAX / sizeof(T) ? UINT64_MAX : static_cast<uint64_t>(count) * sizeof(T);
}
} // namespace detail

/* Borrowed: it belongs to its context. */
class device {
  public:
    explicit device(qn_device *object) : object_(object) {}
    qn_device *get() const noexcept { return object_; }
    qn_context *context() const noexcept { return qn_device_context(object_); }
    qn_device_info info() const {
        qn_device_info info;
        check(qn_device_get_info(object_, &info), context());
        return info;
    }
    /* Products of matrix fragments that its matrix units do. */
    std::vector<qn_matrix_shape> matrix_shapes() const {
        std::vector<qn_matrix_shape> all(info().matrix_shapes);
        for (uint32_t i = 0; i < all.size(); i++)
            check(qn_device_get_matrix_shape(object_, i, &all[i]), context());
        return all;
    }
    /* Waits for all streams; without a timeout for ever. */
    void wait(std::optional<std::chrono::nanoseconds> timeout = {}) const {
        check(qn_device_wait(object_, detail::nanoseconds(timeout)), context());
    }

  private:
    qn_device *object_;
};

class context {
  public:
    explicit context(const qn_context_desc &desc = {}) {
        qn_context *made = nullptr;
        check(qn_context_create(&desc, &made), nullptr);
        object_.reset(made);
    }
    qn_context *get() const noexcept { return object_.get(); }
    /* By its name; NULL: $QUERN_DEVICE, else the best. */
    quern::device device(const char *name = nullptr) const {
        qn_device *found = nullptr;
        check(qn_device_get(get(), name, &found), get());
        return quern::device(found);
    }
    std::vector<quern::device> devices() const {
        std::vector<quern::device> all;
        for (uint32_t i = 0; i < qn_device_count(get()); i++) all.emplace_back(qn_device_at(get(), i));
        return all;
    }

  private:
    detail::owner<qn_context, qn_context_destroy> object_;
};

/* Pinned host memory (qn_host_alloc) for `count` zeros: stream::write from it and stream::read into it do not block. */
template <class T> class pinned : public std::span<T> {
  public:
    pinned(const device &on, size_t count)
        : std::span<T>(static_cast<T *>(allocate(on, count)), count), memory_(this->data(), {on.get()}) {}

  private:
    struct release {
        qn_device *device;
        void operator()(void *memory) const noexcept { qn_host_free(device, memory); }
    };
    static void *allocate(const device &on, size_t count) {
        void *memory = nullptr;
        check(qn_host_alloc(on.get(), detail::bytes_of<T>(count), &memory), on.context());
        return memory;
    }
    std::unique_ptr<void, release> memory_;
};

/* A buffer's contents on the host for as long as this lives. */
template <class T> class mapping : public std::span<T> {
  public:
    mapping(qn_buffer *buffer, qn_map_access access, size_t count, size_t first = 0)
        : std::span<T>(static_cast<T *>(map(buffer, access, first, count)), count), buffer_(buffer) {}

  private:
    static void *map(qn_buffer *buffer, qn_map_access access, size_t first, size_t count) {
        void *pointer = nullptr;
        check(qn_buffer_map_range(buffer, access, detail::bytes_of<T>(first), detail::bytes_of<T>(count),
                                  &pointer),
              qn_device_context(qn_buffer_device(buffer)));
        return pointer;
    }
    detail::owner<qn_buffer, qn_buffer_unmap> buffer_;
};

/* Memory of a device for `size()` values of a type that can be copied as bytes. */
template <class T> class buffer {
    static_assert(std::is_trivially_copyable_v<T>, "a device has plain bytes");

  public:
    /* Zeros. */
    buffer(const device &on, size_t count) : buffer(on, count, nullptr) {}
    buffer(const device &on, std::span<const T> values) : buffer(on, values.size(), values.data()) {}
    buffer(const device &on, std::initializer_list<T> values) : buffer(on, values.size(), values.begin()) {}

    qn_buffer *get() const noexcept { return object_.get(); }
    size_t size() const noexcept { return qn_buffer_size(get()) / sizeof(T); }
    /* Waits for the default stream's work. */
    void read(std::span<T> values, size_t first = 0) const {
        check(qn_buffer_read(get(), detail::bytes_of<T>(first), values.data(), values.size_bytes()),
              context());
    }
    std::vector<T> read() const {
        std::vector<T> values(size());
        read(std::span<T>(values));
        return values;
    }
    void write(std::span<const T> values, size_t first = 0) {
        check(qn_buffer_write(get(), detail::bytes_of<T>(first), values.data(), values.size_bytes()),
              context());
    }
    void write(std::initializer_list<T> values, size_t first = 0) {
        write(std::span<const T>(values.begin(), values.size()), first);
    }
    mapping<T> map(qn_map_access access = QN_MAP_READ_WRITE) { return {get(), access, size()}; }
    mapping<const T> map() const { return {get(), QN_MAP_READ, size()}; }
    /* `count` elements from `first` on. */
    mapping<T> map(size_t first, size_t count, qn_map_access access = QN_MAP_READ_WRITE) {
        return {get(), access, count, first};
    }
    mapping<const T> map(size_t first, size_t count) const { return {get(), QN_MAP_READ, count, first}; }
    /* `count` zeros where host and running kernels see them alike (QN_MEMORY_SHARED), and the host's address of them. */
    static buffer shared(const device &on, size_t count) {
        return buffer(on, count, nullptr, QN_MEMORY_SHARED);
    }
    /* `count` zeros on the host, and on each device of the context that uses them (QN_MEMORY_UNIFIED). */
    static buffer unified(const device &on, size_t count) {
        return buffer(on, count, nullptr, QN_MEMORY_UNIFIED);
    }
    qn_buffer_state state() const noexcept { return qn_buffer_get_state(get()); }
    /* Makes the host's side and the device's equal, and waits. */
    void sync() { check(qn_buffer_sync(get()), context()); }
    std::span<T> host() const {
        void *memory = qn_buffer_host(get());
        if (!memory) throw error(QN_ERROR_ARGUMENT, qn_error_message(context()));
        return {static_cast<T *>(memory), size()};
    }

  private:
    buffer(const device &on, size_t count, const T *values, qn_memory memory = QN_MEMORY_DEVICE) {
        qn_buffer_desc desc = {};
        desc.memory = memory;
        desc.size = detail::bytes_of<T>(count);
        desc.data = values;
        qn_buffer *made = nullptr;
        check(qn_buffer_create(on.get(), &desc, &made), on.context());
        object_.reset(made);
    }
    qn_context *context() const { return qn_device_context(qn_buffer_device(get())); }
    detail::owner<qn_buffer, qn_buffer_destroy> object_;
};

/* An argument for a __local pointer: this many bytes. */
struct local {
    uint64_t bytes;
};

/* Work-items in one to three dimensions; group() sets the work-group's size, which quern chooses otherwise. */
class range {
  public:
    template <class... Sizes> explicit range(Sizes... sizes) : range_(*QN_RANGE(sizes...)) {}
    template <class... Sizes> range group(Sizes... sizes) const {
        range with = *this;
        const std::array<uint64_t, 3> all = {static_cast<uint64_t>(sizes)...};
        for (size_t d = 0; d < 3; d++) with.range_.local[d] = qn__local_size(all[d]);
        return with;
    }
    template <class... Ids> range from(Ids... first) const {
        range with = *this;
        const std::array<uint64_t, 3> all = {static_cast<uint64_t>(first)...};
        for (size_t d = 0; d < 3; d++) with.range_.offset[d] = all[d];
        return with;
    }
    const qn_range *get() const noexcept { return &range_; }

  private:
    qn_range range_;
};

namespace detail {
template <class T>
concept class_type = std::is_class_v<T> || std::is_union_v<T>;
template <class T> constexpr bool is_initializer_list = false;
template <class T> constexpr bool is_initializer_list<std::initializer_list<T>> = true;
/* Elements that lie elsewhere: spans, string views, views of ranges. */
template <class T>
concept view = std::ranges::view<T> || std::ranges::borrowed_range<T> || is_initializer_list<T>;
/* Something that stands for an object elsewhere: devices, ranges, smart pointers, std::reference_wrapper. */
template <class T>
concept handle = requires(const T &value) {
    requires std::is_pointer_v<decltype(value.get())> || std::is_reference_v<decltype(value.get())>;
};
} // namespace detail

/* A class whose bytes are its value, as those of a kernel's struct are. What refers to something else is none. */
template <class T>
concept plain_struct = detail::class_type<T> && std::is_trivially_copyable_v<T> &&
                       std::is_standard_layout_v<T> && !std::is_empty_v<T> &&
                       !detail::view<T> && !detail::handle<T>;

namespace detail {
template <class T> qn_arg argument(const buffer<T> &value) { return qn_arg_buffer(value.get()); }
inline qn_arg argument(local value) { return qn_arg_local(value.bytes); }
/* Numbers, nullptr, qn_arg and qn_buffer * as QN_ARG has them; a struct by its bytes. */
template <class T> qn_arg argument(const T &value) {
    if constexpr (class_type<T> && !std::is_same_v<T, qn_arg>) {
        static_assert(plain_struct<T>,
                      "a kernel takes a struct by its bytes, and of this type they are not the "
                      "value: pass a buffer, or a struct of the kernel's layout");
        return qn_arg_bytes(&value, sizeof value);
    } else {
        return QN_ARG(value);
    }
}

template <class... Values>
void launch(qn_stream *stream, qn_kernel *kernel, const qn_context *context, const range &over,
            const Values &...values) {
    const std::array<qn_arg, sizeof...(Values)> args = {argument(values)...};
    check(qn_launch(stream, kernel, over.get(), args.data(), args.size()), context);
}
} // namespace detail

class kernel {
  public:
    kernel(qn_kernel *object, qn_context *context) : object_(object), context_(context) {}
    qn_kernel *get() const noexcept { return object_.get(); }
    qn_kernel_info info() const {
        qn_kernel_info info;
        check(qn_kernel_get_info(get(), &info), context_);
        return info;
    }
    qn_kernel_resources resources() const { return resources(nullptr); }
    qn_kernel_resources resources(const range &over) const { return resources(over.get()); }
    /* On the default stream of the kernel's device. */
    template <class... Values> void launch(const range &over, const Values &...values) const {
        detail::launch(nullptr, get(), context_, over, values...);
    }

  private:
    qn_kernel_resources resources(const qn_range *over) const {
        qn_kernel_resources got;
        check(qn_kernel_get_resources(get(), over, &got), context_);
        return got;
    }
    detail::owner<qn_kernel, qn_kernel_destroy> object_;
    qn_context *context_;
};

class program {
  public:
    program(const device &on, const qn_program_desc &desc) : context_(on.context()) {
        qn_program *made = nullptr;
        check(qn_program_create(on.get(), &desc, &made), context_);
        object_.reset(made);
    }
    program(const device &on, const char *source, const char *options = nullptr)
        : program(on, describe(source, options)) {}
    program(const device &on, const std::string &source, const char *options = nullptr)
        : program(on, source.c_str(), options) {}
    /* Several files; each is a translation unit, see qn_program_desc. */
    program(const device &on, std::span<const qn_source> files, const char *options = nullptr)
        : program(on, describe(files, options)) {}
    /* A packed program, such as an array of `quern embed`; pack() makes one. */
    program(const device &on, std::span<const unsigned char> packed) : program(on, describe(packed)) {}
    qn_program *get() const noexcept { return object_.get(); }
    /* Warnings; "" if there are none. */
    const char *log() const noexcept { return qn_program_log(get()); }
    /* NULL: the only one. */
    quern::kernel kernel(const char *name = nullptr) const {
        qn_kernel *made = nullptr;
        check(qn_kernel_create(get(), name, &made), context_);
        return quern::kernel(made, context_);
    }

  private:
    static qn_program_desc describe(const char *source, const char *options) {
        qn_program_desc desc = {};
        desc.source = source;
        desc.options = options;
        return desc;
    }
    static qn_program_desc describe(std::span<const qn_source> files, const char *options) {
        qn_program_desc desc = {};
        desc.sources = files.data();
        desc.num_sources = files.size();
        desc.options = options;
        return desc;
    }
    static qn_program_desc describe(std::span<const unsigned char> packed) {
        qn_program_desc desc = {};
        desc.binary = packed.data();
        desc.binary_size = packed.size();
        return desc;
    }
    qn_context *context_;
    detail::owner<qn_program, qn_program_destroy> object_;
};

/* The program packed to be shipped: targets and so on as in qn_pack_desc, whose `program` is filled in here. */
inline std::vector<unsigned char> pack(const context &in, const qn_program_desc &program,
                                       qn_pack_desc desc = {}) {
    char *made = nullptr;
    size_t size = 0;
    desc.program = &program;
    check(qn_program_pack(in.get(), &desc, &made, &size, nullptr), in.get());
    const auto release = [&in](char *text) { qn_text_free(in.get(), text); };
    const std::unique_ptr<char, decltype(release)> data(made, release);
    return std::vector<unsigned char>(made, made + size);
}

class event {
  public:
    explicit event(const device &on) : context_(on.context()) {
        qn_event *made = nullptr;
        check(qn_event_create(on.get(), &made), context_);
        object_.reset(made);
    }
    qn_event *get() const noexcept { return object_.get(); }
    void wait(std::optional<std::chrono::nanoseconds> timeout = {}) const {
        check(qn_event_wait(get(), detail::nanoseconds(timeout)), context_);
    }
    bool done() const {
        bool is_done = false;
        check(qn_event_done(get(), &is_done), context_);
        return is_done;
    }
    /* The event's own, for event loops. */
    int fd() const {
        int descriptor = -1;
        check(qn_event_fd(get(), &descriptor), context_);
        return descriptor;
    }
    /* From an earlier event to this one. */
    std::chrono::nanoseconds since(const event &begin) const {
        int64_t elapsed = 0;
        check(qn_event_elapsed(begin.get(), get(), &elapsed), context_);
        return std::chrono::nanoseconds(elapsed);
    }

  private:
    qn_context *context_;
    detail::owner<qn_event, qn_event_destroy> object_;
};

class graph {
  public:
    explicit graph(qn_graph *object, const qn_context *context = nullptr)
        : context_(context), object_(object) {}
    qn_graph *get() const noexcept { return object_.get(); }
    std::uint32_t launch_count() const noexcept { return qn_graph_launch_count(get()); }
    /* The launch of that index gets this range and, where there are any, these arguments. */
    template <class... Values>
    void set_launch(std::uint32_t index, const range &over, const Values &...values) const {
        const std::array<qn_arg, sizeof...(Values)> args = {detail::argument(values)...};
        const qn_arg *given = args.empty() ? nullptr : args.data();
        check(qn_graph_set_launch(get(), index, over.get(), given, args.size()), context_);
    }
    /* The copy of that index reads there, from byte `offset` on. */
    template <class T>
    void set_copy(std::uint32_t index, const buffer<T> &from, std::uint64_t offset = 0) const {
        check(qn_graph_set_copy(get(), index, from.get(), offset), context_);
    }

  private:
    const qn_context *context_;
    detail::owner<qn_graph, qn_graph_destroy> object_;
};

class stream {
  public:
    explicit stream(const device &on) : context_(on.context()) {
        qn_stream *made = nullptr;
        check(qn_stream_create(on.get(), &made), context_);
        object_.reset(made);
    }
    qn_stream *get() const noexcept { return object_.get(); }
    template <class... Values>
    void launch(const kernel &what, const range &over, const Values &...values) const {
        detail::launch(get(), what.get(), context_, over, values...);
    }
    /* `values` of what a span is made from; they are copied before the call returns. */
    template <class T>
    void write(const buffer<T> &to, std::type_identity_t<std::span<const T>> values, size_t first = 0) const {
        check(
            qn_stream_write(get(), to.get(), detail::bytes_of<T>(first), values.data(), values.size_bytes()),
            context_);
    }
    template <class T>
    void write(const buffer<T> &to, std::initializer_list<std::type_identity_t<T>> values,
               size_t first = 0) const {
        write(to, std::span<const T>(values.begin(), values.size()), first);
    }
    /* `values` stays valid until the stream has been waited for. */
    template <class T>
    void read(const buffer<T> &from, std::type_identity_t<std::span<T>> values, size_t first = 0) const {
        check(
            qn_stream_read(get(), from.get(), detail::bytes_of<T>(first), values.data(), values.size_bytes()),
            context_);
    }
    void record(const event &at) const { check(qn_stream_record(get(), at.get()), context_); }
    /* `what` is called by a thread of the library's, with all that qn_stream_on_done says of it; it must not throw. */
    void on_done(std::function<void(qn_status, const char *)> what) const {
        using function = std::function<void(qn_status, const char *)>;
        auto kept = std::make_unique<function>(std::move(what));
        const auto call = [](void *user, qn_status status, const char *message) {
            const std::unique_ptr<function> called(static_cast<function *>(user));
            (*called)(status, message);
        };
        check(qn_stream_on_done(get(), call, kept.get()), context_);
        static_cast<void>(kept.release());
    }
    void cancel() const { check(qn_stream_cancel(get()), context_); }
    void set_persistent(bool persistent) const {
        check(qn_stream_set_persistent(get(), persistent), context_);
    }
    void set_aside(void (*leave)(void *), void (*back)(void *), void *user) const {
        check(qn_stream_set_aside(get(), leave, back, user), context_);
    }
    void wait_for(const event &at) const { check(qn_stream_wait_event(get(), at.get()), context_); }
    void wait(std::optional<std::chrono::nanoseconds> timeout = {}) const {
        check(qn_stream_wait(get(), detail::nanoseconds(timeout)), context_);
    }
    /* What `work` submits to this stream, recorded instead of run. An exception of it ends the recording. */
    template <class Work> quern::graph capture(Work &&work) const {
        check(qn_graph_begin(get()), context_);
        qn_graph *made = nullptr;
        try {
            std::forward<Work>(work)();
        } catch (...) {
            if (qn_graph_end(get(), &made) == QN_OK) qn_graph_destroy(made);
            throw;
        }
        check(qn_graph_end(get(), &made), context_);
        return quern::graph(made, context_);
    }
    void launch(const graph &what) const { check(qn_graph_launch(get(), what.get()), context_); }

  private:
    qn_context *context_;
    detail::owner<qn_stream, qn_stream_destroy> object_;
};

} // namespace quern

#endif
