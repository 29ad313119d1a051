/* Darwin notifications for C++17, with std::function and observers that end with their scope.
 *
 * Needs neither exceptions nor RTTI. A function that can fail returns what its C function returns:
 * 0, a positive outcome such as DN_NOT_CONNECTED, or a negative errno (error.h). An object that
 * cannot be created has that number as its error(), and does nothing. Text with a NUL is rejected
 * with -EINVAL. Anything missing here, such as calls and services, is called from C++ as from C. */
#ifndef DARWINNOTIFY_HPP
#define DARWINNOTIFY_HPP

#include <cerrno>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "darwinnotify/darwinnotify.h"
#include "notify.h"

namespace darwinnotify {

class dict;

/** Implementation details. */
namespace detail {

inline bool has_nul(const std::string &text) noexcept
{
        return text.find('\0') != std::string::npos;
}

/** Calls `release` for a handle of the C library unless it was moved away. */
template <typename Handle, auto release> class owned {
public:
        owned() noexcept = default;
        explicit owned(Handle *handle) noexcept : handle_(handle) {}
        owned(owned &&other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
        owned &operator=(owned &&other) noexcept
        {
                if (this != &other)
                        reset(std::exchange(other.handle_, nullptr));
                return *this;
        }
        ~owned() { reset(); }

        Handle *get() const noexcept { return handle_; }
        void reset(Handle *handle = nullptr) noexcept
        {
                Handle *old = std::exchange(handle_, handle);

                if (old)
                        release(old);
        }

private:
        Handle *handle_ = nullptr;
};

inline void end_observer(dn_observer *observer) noexcept
{
        dn_observer_cancel_wait(observer);
        dn_observer_unref(observer);
}

} // namespace detail

/** A value of a user info that is not a container. Implicit, so that a list of them can be written
 *  in braces: {{"title", "So What"}, {"track", 3}}. */
class scalar {
public:
        scalar(const char *text) : value_(std::string(text ? text : "")) {}
        scalar(std::string text) : value_(std::move(text)) {}
        scalar(std::string_view text) : value_(std::string(text)) {}
        template <typename Number, std::enable_if_t<std::is_arithmetic_v<Number>, int> = 0>
        scalar(Number number) noexcept
        {
                if constexpr (std::is_same_v<Number, bool>)
                        value_ = number;
                else if constexpr (std::is_floating_point_v<Number>)
                        value_ = static_cast<double>(number);
                else if constexpr (std::is_signed_v<Number>)
                        value_ = static_cast<std::int64_t>(number);
                else
                        value_ = static_cast<std::uint64_t>(number);
        }

private:
        friend class dict;
        std::variant<bool, std::int64_t, std::uint64_t, double, std::string> value_;
};

/** An immutable dictionary, such as a user info. Copies share their contents. */
class dict {
public:
        /** An empty dictionary, as that of an event without a user info. */
        dict() noexcept = default;

        /** Shares a dictionary of the C library, which may be NULL. */
        explicit dict(const dn_dict *shared) noexcept : handle_(dn_dict_ref(shared)) {}

        /** Creates a dictionary. For containers, data and dates, use dn_dict_builder_new(). */
        dict(std::initializer_list<std::pair<std::string, scalar>> values) noexcept
        {
                dn_dict_builder *builder = dn_dict_builder_new();
                dn_dict *made = nullptr;

                error_ = builder ? 0 : -ENOMEM;
                for (const auto &[key, value] : values)
                        set(builder, key, value);
                if (error_ < 0)
                        dn_dict_builder_free(builder);
                else
                        error_ = dn_dict_builder_finish(builder, &made);
                handle_.reset(made);
        }

        dict(const dict &other) noexcept
            : error_(other.error_), handle_(dn_dict_ref(other.get())) {}
        dict(dict &&) noexcept = default;
        dict &operator=(dict other) noexcept
        {
                error_ = other.error_;
                handle_ = std::move(other.handle_);
                return *this;
        }

        /** 0, or the negative errno of the constructor. */
        int error() const noexcept { return error_; }

        std::size_t size() const noexcept { return dn_dict_get_count(get()); }

        /** Returns the value of a key if it has this type, which is std::string_view (valid as long
         *  as a dictionary shares the contents), bool, double, std::int64_t or std::uint64_t. */
        template <typename Type> std::optional<Type> find(const std::string &key) const noexcept
        {
                dn_value value = {};

                if (detail::has_nul(key) || !dn_dict_get(get(), key.c_str(), &value))
                        return std::nullopt;
                return as<Type>(value);
        }

        /** The dictionary for the functions of dict.h, borrowed; NULL if it is empty. */
        const dn_dict *get() const noexcept { return handle_.get(); }

private:
        void set(dn_dict_builder *builder, const std::string &key, const scalar &value) noexcept
        {
                const char *name = key.c_str();

                if (detail::has_nul(key))
                        error_ = -EINVAL;
                else if (auto *text = std::get_if<std::string>(&value.value_))
                        detail::has_nul(*text)
                                ? void(error_ = -EINVAL)
                                : dn_dict_builder_set_string(builder, name, text->c_str());
                else if (auto *boolean = std::get_if<bool>(&value.value_))
                        dn_dict_builder_set_bool(builder, name, *boolean);
                else if (auto *number = std::get_if<std::int64_t>(&value.value_))
                        dn_dict_builder_set_int64(builder, name, *number);
                else if (auto *natural = std::get_if<std::uint64_t>(&value.value_))
                        dn_dict_builder_set_uint64(builder, name, *natural);
                else if (auto *real = std::get_if<double>(&value.value_))
                        dn_dict_builder_set_double(builder, name, *real);
        }

        template <typename Type> static std::optional<Type> as(const dn_value &value) noexcept
        {
                constexpr bool is_text = std::is_same_v<Type, std::string_view>;
                constexpr bool is_signed = std::is_same_v<Type, std::int64_t>;
                constexpr bool is_unsigned = std::is_same_v<Type, std::uint64_t>;

                if constexpr (is_text) {
                        if (value.type == DN_TYPE_STRING)
                                return std::string_view(value.as.string, value.n_bytes);
                } else if constexpr (std::is_same_v<Type, bool>) {
                        if (value.type == DN_TYPE_BOOL)
                                return value.as.boolean;
                } else if constexpr (std::is_same_v<Type, double>) {
                        if (value.type == DN_TYPE_DOUBLE)
                                return value.as.real;
                } else {
                        static_assert(is_signed || is_unsigned, "see the comment of find()");
                        if (value.type == DN_TYPE_INT64 && (is_signed || value.as.int64 >= 0))
                                return static_cast<Type>(value.as.int64);
                        if (is_unsigned && value.type == DN_TYPE_UINT64)
                                return static_cast<Type>(value.as.uint64);
                }
                return std::nullopt;
        }

        int error_ = 0;
        detail::owned<dn_dict, dn_dict_unref> handle_;
};

/** Describes a notification. Its texts are valid until the handler returns. */
struct event {
        std::string_view name;
        std::optional<std::string_view> object; /**< of the distributed center, if it was posted */
        dict user_info;                         /**< of the distributed center; empty without one */
        std::uint64_t n_posts;                  /**< how many posts this call stands for */
        std::uint64_t n_dropped; /**< how many earlier posts are missing: see dn_event */
        bool may_have_missed;    /**< an unknown number of posts may be missing: see dn_event */
        const dn_sender *sender; /**< who posted, or nullptr: see dn_event */

        /** Whether this process posted it. False also where the sender is not known. */
        bool is_own() const noexcept { return sender && sender->is_own; }
};

/** Handles events, on the delivery thread or an executor. An exception that leaves it terminates
 *  the program. */
using handler = std::function<void(const event &)>;

/** A registration, which ends with its scope. */
class [[nodiscard]] observer {
public:
        /** An observer of nothing. */
        observer() noexcept = default;

        /** A registration of the C library, with the result of its function. */
        observer(dn_observer *consumed, int result) noexcept : result_(result), handle_(consumed) {}

        /** Returns 0; DN_NOT_CONNECTED if registered (see error.h); or the negative errno of the
         *  registration, which then does not exist. */
        int error() const noexcept { return result_; }

        /** Whether there is a registration. */
        explicit operator bool() const noexcept { return handle_.get(); }

        /**
         * Ends the registration, as the destructor does: its handler is not running afterwards and
         * does not run again, so it may refer to variables that are about to go. Only a handler
         * that ends its own observer continues until it returns. Do not hold a lock that the
         * handler takes.
         */
        void end() noexcept { handle_.reset(); }

        /** The registration for the functions of observer.h, borrowed; NULL if there is none. */
        dn_observer *get() const noexcept { return handle_.get(); }

private:
        int result_ = 0;
        detail::owned<dn_observer, detail::end_observer> handle_;
};

/** Selects the posts that an observer gets. The default: every post. */
struct filter {
        std::optional<std::string> name;   /**< this name */
        std::optional<std::string> prefix; /**< or all names that begin with it */
        std::optional<std::string> object; /**< of the distributed center: only this object */
        int behavior = 0;                  /**< a DN_SUSPENSION_ value; 0: the default */
};

/** The Darwin or the distributed center, or one with a bus of its own. */
class center {
public:
        /** The center that sends names: dn_center_darwin(). */
        static center darwin() noexcept { return center(dn_center_darwin(), 0); }

        /** The center that also sends objects and user infos: dn_center_distributed(). */
        static center distributed() noexcept { return center(dn_center_distributed(), 0); }

        /** Opens a Darwin center on a bus: see dn_center_open(). Closes with its last observer. */
        static center open(const std::string &bus) noexcept
        {
                dn_center *opened = nullptr;
                int result = detail::has_nul(bus) ? -EINVAL : dn_center_open(bus.c_str(), &opened);

                return center(opened, result);
        }

        /** Opens a distributed center on a bus: see dn_center_open_distributed(). */
        static center open_distributed(const std::string &bus) noexcept
        {
                dn_center *opened = nullptr;
                int result = detail::has_nul(bus)
                                     ? -EINVAL
                                     : dn_center_open_distributed(bus.c_str(), &opened);

                return center(opened, result);
        }

        /** 0, or the negative errno of open(). */
        int error() const noexcept { return error_; }

        /** Posts a name; `options` are DN_POST_ bits. See dn_center_post(). */
        int post(const std::string &name, unsigned options = 0) const noexcept
        {
                return post(name, std::nullopt, {}, options);
        }

        /** Posts a name with an object and a user info, on the distributed center. */
        int post(const std::string &name, const std::optional<std::string> &object,
                 const dict &user_info = {}, unsigned options = 0) const noexcept
        {
                if (detail::has_nul(name) || (object && detail::has_nul(*object)))
                        return -EINVAL;
                if (user_info.error() < 0)
                        return user_info.error();
                return dn_center_post(get(), name.c_str(), object ? object->c_str() : nullptr,
                                      user_info.get(), options);
        }

        /** Observes a name; the handler runs on `executor`, NULL: the delivery thread. */
        observer observe(const std::string &name, handler call,
                         const dn_executor *executor = nullptr) const noexcept
        {
                return observe(filter{ name, {}, {}, 0 }, std::move(call), executor);
        }

        /** Observes all names that begin with a prefix: see dn_center_observe_prefix(). */
        observer observe_prefix(const std::string &prefix, handler call,
                                const dn_executor *executor = nullptr) const noexcept
        {
                return observe(filter{ {}, prefix, {}, 0 }, std::move(call), executor);
        }

        /** Observes the posts that fit a filter: see dn_center_observe_filtered(). */
        observer observe(const filter &wanted, handler call,
                         const dn_executor *executor = nullptr) const noexcept;

        /** The center for the functions of center.h, borrowed. */
        dn_center *get() const noexcept { return handle_.get(); }

private:
        center(dn_center *handle, int error) noexcept : error_(error), handle_(handle) {}

        int error_ = 0;
        detail::owned<dn_center, dn_center_unref> handle_;
};

namespace detail {

/** Converts an event; terminates the program if an exception leaves the handler. */
inline void invoke(const dn_event *from, void *context) noexcept
{
        auto *object = static_cast<const char *>(from->object);
        event to = { from->name, std::nullopt, dict(from->user_info), from->n_posts,
                     from->n_dropped, from->may_have_missed, from->sender };

        if (object)
                to.object = object;
        (*static_cast<handler *>(context))(to);
}

inline void destroy(void *context) noexcept
{
        delete static_cast<handler *>(context);
}

} // namespace detail

inline observer center::observe(const filter &wanted, handler call,
                                const dn_executor *executor) const noexcept
{
        auto text = [](const std::optional<std::string> &from) {
                return from ? from->c_str() : nullptr;
        };
        dn_filter fit = {};
        dn_observer *made = nullptr;

        for (auto *part : { &wanted.name, &wanted.prefix, &wanted.object })
                if (*part && detail::has_nul(**part))
                        return observer(nullptr, -EINVAL);
        if (!call)
                return observer(nullptr, -EINVAL);
        fit.name = text(wanted.name);
        fit.prefix = text(wanted.prefix);
        fit.object = text(wanted.object);
        fit.behavior = wanted.behavior;
        auto *context = new (std::nothrow) handler(std::move(call));
        if (!context)
                return observer(nullptr, -ENOMEM);
        dn_handler invoked = {};
        invoked.invoke = detail::invoke;
        invoked.context = context;
        invoked.destroy = detail::destroy;
        int result = dn_center_observe_filtered(get(), &fit, &invoked, executor, &made);
        return observer(made, result);
}

/** Posts a name on the Darwin center. */
inline int post(const std::string &name) noexcept
{
        return center::darwin().post(name);
}

/** Observes a name on the Darwin center. */
inline observer observe(const std::string &name, handler call,
                        const dn_executor *executor = nullptr) noexcept
{
        return center::darwin().observe(name, std::move(call), executor);
}

/** A queue of handlers for an event loop: see loop.h. Used by its owner's thread, except for its
 *  executor. Its observers have to end before it does. */
class loop {
public:
        loop() noexcept
        {
                dn_loop *made = nullptr;

                error_ = dn_loop_new(&made);
                handle_.reset(made);
        }

        /** 0, or the negative errno of the constructor. */
        int error() const noexcept { return error_; }

        /** The descriptor to poll, readable while handlers wait. */
        int fd() const noexcept { return dn_loop_get_fd(handle_.get()); }

        /** Runs the handlers that are waiting now, and returns how many it ran. */
        int process() noexcept { return dn_loop_process(handle_.get()); }

        /** Where to run handlers, for observe(). Valid as long as the loop. */
        const dn_executor *executor() const noexcept { return dn_loop_executor(handle_.get()); }

private:
        int error_ = 0;
        detail::owned<dn_loop, dn_loop_close> handle_;
};

/** The state of a name: 64 bits that the user's processes share. It lasts as long as any process
 *  has a registration for the name; this is one. */
class state {
public:
        explicit state(const std::string &name) noexcept
        {
                status_ = detail::has_nul(name) ? NOTIFY_STATUS_INVALID_NAME
                                                : notify_register_check(name.c_str(), &token_);
        }
        state(state &&other) noexcept
            : status_(other.status_), token_(std::exchange(other.token_, NOTIFY_TOKEN_INVALID)) {}
        state &operator=(state &&other) noexcept
        {
                std::swap(status_, other.status_);
                std::swap(token_, other.token_);
                return *this;
        }
        ~state()
        {
                if (token_ != NOTIFY_TOKEN_INVALID)
                        notify_cancel(token_);
        }

        /** A status of notify.h: that of the registration, or of the last get() or set(). */
        std::uint32_t status() const noexcept { return status_; }

        /** Returns the state; 0 if that fails. */
        std::uint64_t get() noexcept
        {
                std::uint64_t value = 0;

                if (token_ != NOTIFY_TOKEN_INVALID)
                        status_ = notify_get_state(token_, &value);
                return value;
        }

        /** Sets the state, and posts nothing. Returns false if that fails; a state that belongs to
         *  another user stays as it is: see notify_set_state(). */
        bool set(std::uint64_t value) noexcept
        {
                if (token_ != NOTIFY_TOKEN_INVALID)
                        status_ = notify_set_state(token_, value);
                return token_ != NOTIFY_TOKEN_INVALID && status_ == NOTIFY_STATUS_OK;
        }

private:
        std::uint32_t status_ = NOTIFY_STATUS_OK;
        int token_ = NOTIFY_TOKEN_INVALID;
};

} // namespace darwinnotify

#endif
