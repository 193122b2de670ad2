// SPDX-License-Identifier: Apache-2.0
// Copyright the Promtact authors
#include "bench/store_peer.hpp"

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <dlfcn.h>

#include <promtact/base/assert.hpp>
#include <promtact/base/clock.hpp>
#include <promtact/base/histogram.hpp>

namespace promtact::harness::bench {
namespace {

/// A library that is there or not; never unloaded, since threads of its own may still run.
class SharedLibrary {
  public:
    static Result<SharedLibrary>
    open(std::span<const char* const> names, std::string_view package) {
        for (const char* name : names) {
            if (void* const handle = ::dlopen(name, RTLD_NOW | RTLD_LOCAL)) {
                return SharedLibrary(handle, name);
            }
        }
        return Error{
            Errc::unsupported, 0, "needs the package " + std::string(package) + ", not installed"};
    }
    /// Aborts when the function is missing: the names are those of one stable interface.
    template <class Function>
    Function* function(const std::string& name) const {
        void* const found = ::dlsym(handle_, name.c_str());
        PROMTACT_ASSERT(found != nullptr);
        return reinterpret_cast<Function*>(found);
    }
    [[nodiscard]] const std::string& name() const noexcept { return name_; }

  private:
    SharedLibrary(void* handle, std::string name) : handle_(handle), name_(std::move(name)) {}
    void* handle_;
    std::string name_;
};

/// RocksDB and LevelDB: the same C interface under two prefixes.
/// Source: rocksdb/c.h, leveldb/c.h
class LogStructuredStore final : public Store {
  public:
    static Result<std::unique_ptr<Store>> open(
        const SharedLibrary& library, const std::string& prefix,
        const std::filesystem::path& directory) {
        auto store = std::make_unique<LogStructuredStore>(library, prefix);
        PROMTACT_TRY(store->connect(library, prefix, directory));
        return std::unique_ptr<Store>(std::move(store));
    }
    LogStructuredStore(const SharedLibrary& library, const std::string& prefix)
        : put_(library.function<Put>(prefix + "_put")),
          close_(library.function<void(void*)>(prefix + "_close")),
          free_(library.function<void(void*)>(prefix + "_free")),
          forget_(library.function<void(void*)>(prefix + "_writeoptions_destroy")) {}
    ~LogStructuredStore() override {
        if (db_ != nullptr) close_(db_);
        if (write_options_ != nullptr) forget_(write_options_);
    }
    Result<void>
    put(std::uint32_t thread, std::uint64_t key, std::span<const std::byte> value) override {
        std::array<char, 12> name{};
        std::memcpy(name.data(), &thread, sizeof thread);
        std::memcpy(name.data() + sizeof thread, &key, sizeof key);
        char* error = nullptr;
        put_(
            db_, write_options_, name.data(), name.size(),
            reinterpret_cast<const char*>(value.data()), value.size(), &error);
        return answer(error);
    }

  private:
    using Put =
        void(void*, const void*, const char*, std::size_t, const char*, std::size_t, char**);

    Result<void> connect(
        const SharedLibrary& library, const std::string& prefix,
        const std::filesystem::path& directory) {
        void* const options = library.function<void*()>(prefix + "_options_create")();
        library.function<void(void*, unsigned char)>(prefix + "_options_set_create_if_missing")(
            options, 1);
        // So that no run waits for a compaction: only the log is compared.
        library.function<void(void*, std::size_t)>(prefix + "_options_set_write_buffer_size")(
            options, std::size_t{256} << 20);
        char* error = nullptr;
        db_ = library.function<void*(const void*, const char*, char**)>(prefix + "_open")(
            options, directory.c_str(), &error);
        library.function<void(void*)>(prefix + "_options_destroy")(options);
        PROMTACT_TRY(answer(error));
        write_options_ = library.function<void*()>(prefix + "_writeoptions_create")();
        library.function<void(void*, unsigned char)>(prefix + "_writeoptions_set_sync")(
            write_options_, 1);
        return {};
    }
    Result<void> answer(char* error) const {
        if (error == nullptr) return {};
        Error said{Errc::io, 0, error};
        free_(error);
        return said;
    }

    Put* put_;
    void (*close_)(void*);
    void (*free_)(void*);
    void (*forget_)(void*);
    void* db_ = nullptr;
    void* write_options_ = nullptr;
};

/// One connection per thread, as SQLite asks for. Source: sqlite3.h
class SqliteStore final : public Store {
  public:
    static Result<std::unique_ptr<Store>> open(
        const SharedLibrary& library, const std::filesystem::path& directory,
        std::uint32_t threads) {
        auto store = std::make_unique<SqliteStore>(library);
        for (std::uint32_t i = 0; i < threads; ++i)
            PROMTACT_TRY(store->connect(library, directory / "store.db"));
        return std::unique_ptr<Store>(std::move(store));
    }
    explicit SqliteStore(const SharedLibrary& library)
        : bind_int64_(library.function<int(void*, int, std::int64_t)>("sqlite3_bind_int64")),
          bind_blob_(library.function<BindBlob>("sqlite3_bind_blob64")),
          step_(library.function<int(void*)>("sqlite3_step")),
          reset_(library.function<int(void*)>("sqlite3_reset")),
          finalize_(library.function<int(void*)>("sqlite3_finalize")),
          close_(library.function<int(void*)>("sqlite3_close_v2")) {}
    ~SqliteStore() override {
        for (const Connection& connection : connections_) {
            static_cast<void>(finalize_(connection.insert));
            static_cast<void>(close_(connection.db));
        }
    }
    Result<void>
    put(std::uint32_t thread, std::uint64_t key, std::span<const std::byte> value) override {
        void* const insert = connections_[thread].insert;
        const auto name = static_cast<std::int64_t>(std::uint64_t{thread} << 40 | key);
        static_cast<void>(bind_int64_(insert, 1, name));
        static_cast<void>(bind_blob_(insert, 2, value.data(), value.size(), nullptr));
        const int done = step_(insert);
        static_cast<void>(reset_(insert));
        if (done == row_done) return {};
        return Error{Errc::io, 0, "sqlite3_step answered " + std::to_string(done)};
    }

  private:
    using BindBlob = int(void*, int, const void*, std::uint64_t, void (*)(void*));
    static constexpr int row_done = 101; // SQLITE_DONE
    struct Connection {
        void* db = nullptr;
        void* insert = nullptr;
    };

    Result<void> connect(const SharedLibrary& library, const std::filesystem::path& file) {
        Connection made;
        int failed =
            library.function<int(const char*, void**)>("sqlite3_open")(file.c_str(), &made.db);
        const auto run = [&](const char* text) {
            using Exec = int(void*, const char*, void*, void*, char**);
            if (failed == 0) {
                failed = library.function<Exec>("sqlite3_exec")(
                    made.db, text, nullptr, nullptr, nullptr);
            }
        };
        run("PRAGMA busy_timeout=60000");
        run("PRAGMA journal_mode=WAL");
        run("PRAGMA synchronous=FULL");
        run("CREATE TABLE IF NOT EXISTS store(name INTEGER PRIMARY KEY, value BLOB)");
        using Prepare = int(void*, const char*, int, void**, const char**);
        if (failed == 0) {
            failed = library.function<Prepare>("sqlite3_prepare_v2")(
                made.db, "INSERT OR REPLACE INTO store VALUES(?1, ?2)", -1, &made.insert, nullptr);
        }
        connections_.push_back(made);
        if (failed == 0) return {};
        return Error{Errc::io, 0, "SQLite answered " + std::to_string(failed)};
    }

    int (*bind_int64_)(void*, int, std::int64_t);
    BindBlob* bind_blob_;
    int (*step_)(void*);
    int (*reset_)(void*);
    int (*finalize_)(void*);
    int (*close_)(void*);
    std::vector<Connection> connections_{};
};

Result<std::unique_ptr<Store>>
open_rocksdb(const std::filesystem::path& directory, std::uint32_t, std::string& version) {
    constexpr const char* names[] = {"librocksdb.so.7.8", "librocksdb.so"};
    PROMTACT_TRY_ASSIGN(const auto library, SharedLibrary::open(names, "librocksdb7.8"));
    version = library.name(); // its C interface does not say
    return LogStructuredStore::open(library, "rocksdb", directory);
}

Result<std::unique_ptr<Store>>
open_leveldb(const std::filesystem::path& directory, std::uint32_t, std::string& version) {
    constexpr const char* names[] = {"libleveldb.so.1d", "libleveldb.so.1", "libleveldb.so"};
    PROMTACT_TRY_ASSIGN(const auto library, SharedLibrary::open(names, "libleveldb1d"));
    version = std::to_string(library.function<int()>("leveldb_major_version")()) + "." +
              std::to_string(library.function<int()>("leveldb_minor_version")());
    return LogStructuredStore::open(library, "leveldb", directory);
}

Result<std::unique_ptr<Store>>
open_sqlite(const std::filesystem::path& directory, std::uint32_t threads, std::string& version) {
    constexpr const char* names[] = {"libsqlite3.so.0"};
    PROMTACT_TRY_ASSIGN(const auto library, SharedLibrary::open(names, "libsqlite3-0"));
    version = library.function<const char*()>("sqlite3_libversion")();
    return SqliteStore::open(library, directory, threads);
}

constexpr StorePeer peers[] = {
    {"rocksdb", "librocksdb7.8", "WriteOptions.sync", 2'000'000, &open_rocksdb},
    {"leveldb", "libleveldb1d", "WriteOptions.sync", 1'200'000, &open_leveldb},
    {"sqlite", "libsqlite3-0", "journal_mode=WAL, synchronous=FULL", 0, &open_sqlite},
};

struct ThreadRun {
    Histogram latency{};
    std::optional<Error> failure{};
};

} // namespace

std::span<const StorePeer> store_peers() {
    return peers;
}

Result<RunFigures>
run_store(Store& store, std::uint32_t threads, std::uint64_t each, std::uint32_t bytes) {
    const std::vector<std::byte> value(bytes, std::byte{0x5a});
    std::vector<ThreadRun> runs(threads);
    std::vector<std::thread> running;
    const MonotonicClock clock;
    const std::uint64_t begin = clock.now_ns();
    for (std::uint32_t thread = 0; thread < threads; ++thread) {
        running.emplace_back([&, thread] {
            ThreadRun& run = runs[thread];
            for (std::uint64_t key = 0; key < each && !run.failure; ++key) {
                const std::uint64_t start = clock.now_ns();
                if (auto put = store.put(thread, key, value); !put)
                    run.failure = std::move(put).error();
                run.latency.record(clock.now_ns() - start);
            }
        });
    }
    for (std::thread& thread : running)
        thread.join();
    const std::uint64_t elapsed = clock.now_ns() - begin;
    Histogram latency;
    for (const ThreadRun& run : runs) {
        if (run.failure) return *run.failure;
        latency.merge(run.latency);
    }
    return RunFigures{
        .operations_per_second = latency.count() * 1'000'000'000 / elapsed,
        .p50_ns = latency.p50()};
}

} // namespace promtact::harness::bench
