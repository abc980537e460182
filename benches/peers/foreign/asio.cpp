// The rows on Asio: handlers on a thread pool, each under a strand where the row has colors. For each
// line "<work> <count>" of its input, the program does the work and prints its cost and its time on
// the clock in nanoseconds, and the number of operations. With an argument it prints Asio's version.
#include <asio.hpp>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace {

using Pool = asio::thread_pool;
using Strand = asio::strand<Pool::executor_type>;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t PAIRS = 64;
constexpr std::uint64_t YIELDERS = 200;
constexpr std::uint64_t BATCH = 128;

void check(bool right) {
    if (!right) {
        std::cerr << "a count is wrong" << std::endl;
        std::exit(1);
    }
}

// Says when the last of some tasks has ended.
class Latch {
public:
    explicit Latch(std::uint64_t count) : left_(count) {}
    // The last hit is the last use of the latch by its thread: the waiter may end it then.
    void hit() {
        std::lock_guard<std::mutex> lock(mutex_);
        if (--left_ == 0) done_.notify_one();
    }
    void wait() {
        std::unique_lock<std::mutex> lock(mutex_);
        done_.wait(lock, [this] { return left_ == 0; });
    }

private:
    std::mutex mutex_;
    std::condition_variable done_;
    std::uint64_t left_;
};

// A handler that posts itself again, each task under a strand of its own.
struct Yielder {
    Strand strand;
    Latch& latch;
    std::atomic<std::uint64_t>& sum;
    std::uint64_t each;
    std::uint64_t done;

    void operator()() {
        if (done == each) {
            sum.fetch_add(done, std::memory_order_relaxed);
            latch.hit();
            return;
        }
        ++done;
        auto again = strand;
        asio::post(again, std::move(*this));
    }
};

void yield_all(Pool& pool, std::uint64_t each) {
    Latch latch(YIELDERS);
    std::atomic<std::uint64_t> sum{0};
    for (std::uint64_t task = 0; task < YIELDERS; ++task) {
        auto strand = asio::make_strand(pool);
        asio::post(strand, Yielder{strand, latch, sum, each, 0});
    }
    latch.wait();
    check(sum == YIELDERS * each);
}

// Two handlers that post a number to each other's strand.
struct Pair {
    Strand ping;
    Strand pong;
    Latch& latch;
    std::atomic<std::uint64_t>& sum;
    std::uint64_t rounds;
    std::uint64_t back = 0;

    void serve(std::uint64_t ball) {
        asio::post(pong, [this, ball] {
            asio::post(ping, [this, ball] {
                back += ball == back;
                if (back == rounds) {
                    sum.fetch_add(back, std::memory_order_relaxed);
                    latch.hit();
                } else {
                    serve(back);
                }
            });
        });
    }
};

void ping_pong(Pool& pool, std::uint64_t rounds) {
    Latch latch(PAIRS);
    std::atomic<std::uint64_t> sum{0};
    std::vector<std::unique_ptr<Pair>> pairs;
    for (std::uint64_t index = 0; index < PAIRS; ++index) {
        pairs.push_back(std::unique_ptr<Pair>(
            new Pair{asio::make_strand(pool), asio::make_strand(pool), latch, sum, rounds}));
        Pair* pair = pairs.back().get();
        asio::post(pair->ping, [pair] { pair->serve(0); });
    }
    latch.wait();
    check(sum == PAIRS * rounds);
}

// A counter that only handlers of its strand touch.
struct Counter {
    explicit Counter(Pool& pool) : strand(asio::make_strand(pool)) {}
    Strand strand;
    std::uint64_t sum = 0;

    std::uint64_t take() {
        Latch latch(1);
        std::uint64_t taken = 0;
        asio::post(strand, [this, &latch, &taken] {
            taken = sum;
            sum = 0;
            latch.hit();
        });
        latch.wait();
        return taken;
    }
};

// Posts a batch, then itself again.
struct Producer {
    Pool& pool;
    Counter& counter;
    Latch& latch;
    std::uint64_t left;

    void operator()() {
        const std::uint64_t now = left < BATCH ? left : BATCH;
        Counter* counter = &this->counter;
        for (std::uint64_t sent = 0; sent < now; ++sent) {
            asio::post(counter->strand, [counter] { ++counter->sum; });
        }
        left -= now;
        if (left == 0) {
            latch.hit();
        } else {
            asio::post(pool, std::move(*this));
        }
    }
};

std::uint64_t send(Pool& pool, Counter& counter, std::uint64_t count) {
    Latch latch(2);
    for (const std::uint64_t half : {count / 2, count - count / 2}) {
        asio::post(pool, Producer{pool, counter, latch, half});
    }
    latch.wait();
    return counter.take();
}

// Posts a question to the counter's strand, and the answer to its own.
struct Client {
    Strand strand;
    Counter& counter;
    Latch& latch;
    std::uint64_t left;
    std::uint64_t last = 0;

    void ask() {
        asio::post(counter.strand, [this] {
            const std::uint64_t sum = ++counter.sum;
            asio::post(strand, [this, sum] {
                check(sum > last);
                last = sum;
                if (--left == 0) {
                    latch.hit();
                } else {
                    ask();
                }
            });
        });
    }
};

void call_all(Pool& pool, Counter& counter, std::uint64_t clients, std::uint64_t each) {
    Latch latch(clients);
    std::vector<std::unique_ptr<Client>> all;
    for (std::uint64_t index = 0; index < clients; ++index) {
        all.push_back(std::unique_ptr<Client>(
            new Client{asio::make_strand(pool), counter, latch, each}));
        Client* client = all.back().get();
        asio::post(client->strand, [client] { client->ask(); });
    }
    latch.wait();
    check(counter.take() == clients * each);
}

// A line of this process's status, in bytes.
std::uint64_t status(const std::string& name) {
    std::ifstream file("/proc/self/status");
    std::string word;
    while (file >> word) {
        std::uint64_t kib = 0;
        if (word == name && file >> kib) return kib * 1024;
    }
    check(false);
    return 0;
}

std::uint64_t reset_peak() {
    std::ofstream("/proc/self/clear_refs") << "5" << std::flush;
    return status("VmRSS:");
}

template <typename Work>
void timed(std::uint64_t ops, Work work) {
    const auto start = Clock::now();
    work();
    const auto wall =
        std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count();
    std::cout << wall << ' ' << wall << ' ' << ops << std::endl;
}

}  // namespace

int main(int count_of_arguments, char**) {
    if (count_of_arguments > 1) {
        std::cout << ASIO_VERSION / 100000 << '.' << ASIO_VERSION / 100 % 1000 << '.'
                  << ASIO_VERSION % 100 << std::endl;
        return 0;
    }
    // The parent says how many workers there are, as it does to Go.
    const char* threads = std::getenv("GOMAXPROCS");
    Pool pool(threads ? std::strtoul(threads, nullptr, 10) : 2);
    Counter counter(pool);
    std::string work;
    std::uint64_t count = 0;
    while (std::cin >> work >> count) {
        if (work == "pairs") {
            timed(PAIRS * count, [&] { ping_pong(pool, count); });
        } else if (work == "yields") {
            timed(YIELDERS * count, [&] { yield_all(pool, count); });
        } else if (work == "post") {
            timed(count, [&] { check(send(pool, counter, count) == count); });
        } else if (work == "post_memory") {
            send(pool, counter, 1000);
            const std::uint64_t before = reset_peak();
            check(send(pool, counter, count) == count);
            std::cout << status("VmHWM:") - before << " 0 1" << std::endl;
        } else if (work == "call") {
            timed(count, [&] { call_all(pool, counter, 1, count); });
        } else if (work == "call_64") {
            timed(64 * count, [&] { call_all(pool, counter, 64, count); });
        } else {
            check(false);
        }
    }
    pool.join();
}
