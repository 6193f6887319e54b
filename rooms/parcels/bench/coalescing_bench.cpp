// What ways to coalesce parcels cost in different phases of a program: two localities on this machine, by turns in one run.
//
//   coalescing_bench TRANSPORT REPEATS SEED [SETTING ...]
//
// TRANSPORT: shm or tcp. A setting is "adaptive", "adaptive:BYTES" (of a full queue), or COUNT:WAIT_US:BEFORE, with BEFORE 1
// if a queue is also sent when its worker is about to wait; none: adaptive and a grid. Each repeat measures each phase with
// each setting, in an order drawn from SEED. Prints one line of JSON for each: {"transport", "repeat", "phase", "setting",
// "value", "unit", "messages", "parcels"}. Answers are checked: a wrong one ends the program with status 1.
// benchmarks/coalescing.py makes tables of it.

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "trimtab/base/clock.hpp"
#include "trimtab/parcels/job/job.hpp"
#include "trimtab/tasks.hpp"
#include "two_localities.hpp"

namespace {

namespace parcels = trimtab::parcels;
using parcels::coalescing;
using trimtab::base::monotonic_ns;

// --- what runs on the other locality ---

// Of the parcels of one phase, on the locality that receives them.
std::atomic<std::uint64_t> received_count{0}, received_sum{0}, latency_ns{0};

std::uint64_t echo(std::uint64_t value, std::uint64_t other) { return value + other; }
void take(std::uint64_t value, std::uint64_t) {
  received_sum.fetch_add(value, std::memory_order_relaxed);
  received_count.fetch_add(1, std::memory_order_release);
}
void take_stamped(std::uint64_t sent_ns, std::uint64_t) {
  latency_ns.fetch_add(monotonic_ns() - sent_ns, std::memory_order_relaxed);
  received_count.fetch_add(1, std::memory_order_release);
}
struct totals {
  std::uint64_t count, sum, latency;
};
totals take_totals(std::uint64_t expected) {
  while (received_count.load(std::memory_order_acquire) < expected) trimtab::this_task::yield();
  return {received_count.exchange(0), received_sum.exchange(0), latency_ns.exchange(0)};
}

void use(parcels::job& own, const coalescing& settings) {
  own.messages()->traffic().to(1 - own.here().number()).set_standard(settings);
}
void use_there(const std::string& text);

// --- phases, each of which returns its figure ---

void check(bool is_right, const char* phase) {
  if (is_right) return;
  std::fprintf(stderr, "coalescing_bench: phase %s gave a wrong answer\n", phase);
  std::_Exit(1);
}

constexpr std::uint64_t most_ns = 30'000'000;  // of a phase whose number of steps is free

// Calls that each need the result of the one before: ns a call.
double ping(parcels::locality other) {
  const std::uint64_t begin = monotonic_ns();
  std::uint64_t value = 0, steps = 0;
  for (; steps < 3000 && (steps % 8 != 0 || monotonic_ns() - begin < most_ns); ++steps)
    value = async(other, echo, value, std::uint64_t{1}).get();
  check(value == steps, "ping");
  return static_cast<double>(monotonic_ns() - begin) / static_cast<double>(steps);
}

// As many parcels as possible: ns a parcel until all have been handled.
double burst(parcels::locality other) {
  constexpr std::uint64_t count = 20'000;
  const std::uint64_t begin = monotonic_ns();
  for (std::uint64_t i = 1; i <= count; ++i) post(other, take, i, i);
  const totals result = async(other, take_totals, count).get();
  check(result.count == count && result.sum == count * (count + 1) / 2, "burst");
  return static_cast<double>(monotonic_ns() - begin) / count;
}

// 32 calls under way at a time: ns a call.
double window(parcels::locality other) {
  constexpr std::uint64_t under_way = 32;
  std::deque<trimtab::future<std::uint64_t>> results;
  const std::uint64_t begin = monotonic_ns();
  std::uint64_t steps = 0, sum = 0;
  const auto take_first = [&] {
    sum += results.front().get();
    results.pop_front();
  };
  for (; steps < 10'000 && (steps % 64 != 0 || monotonic_ns() - begin < most_ns); ++steps) {
    if (results.size() == under_way) take_first();
    results.push_back(async(other, echo, steps, std::uint64_t{1}));
  }
  while (!results.empty()) take_first();
  check(sum == steps * (steps + 1) / 2, "window");
  return static_cast<double>(monotonic_ns() - begin) / static_cast<double>(steps);
}

// A stream of parcels without results, and at the same time a chain of calls that need each other: ns a round of 32 and 1.
double stream(parcels::locality other) {
  const std::uint64_t begin = monotonic_ns();
  std::uint64_t rounds = 0, value = 0;
  for (; rounds < 300 && monotonic_ns() - begin < most_ns; ++rounds) {
    for (std::uint64_t i = 0; i < 32; ++i) post(other, take, i, i);
    value = async(other, echo, value, std::uint64_t{1}).get();
  }
  const totals result = async(other, take_totals, 32 * rounds).get();
  check(value == rounds && result.sum == rounds * 32 * 31 / 2, "stream");
  return static_cast<double>(monotonic_ns() - begin) / static_cast<double>(rounds);
}

void compute_for(std::uint64_t ns) {
  const std::uint64_t begin = monotonic_ns();
  while (monotonic_ns() - begin < ns) continue;
}

// A parcel every 20 us from a worker that computes in between: mean ns from sending to handling.
double paced(parcels::locality other) {
  constexpr std::uint64_t count = 500;
  for (std::uint64_t i = 0; i < count; ++i) {
    post(other, take_stamped, monotonic_ns(), i);
    compute_for(20'000);
  }
  const totals result = async(other, take_totals, count).get();
  return static_cast<double>(result.latency) / count;
}

// All of them, a little of each in turn: ns a round.
double changing(parcels::locality other) {
  constexpr std::uint64_t rounds = 5;
  const std::uint64_t begin = monotonic_ns();
  for (std::uint64_t round = 0; round < rounds; ++round) {
    std::uint64_t value = 0;
    for (int i = 0; i < 20; ++i) value = async(other, echo, value, std::uint64_t{1}).get();
    for (std::uint64_t i = 1; i <= 1000; ++i) post(other, take, i, i);
    const totals result = async(other, take_totals, std::uint64_t{1000}).get();
    std::deque<trimtab::future<std::uint64_t>> results;
    for (std::uint64_t i = 0; i < 200; ++i) {
      if (results.size() == 32) {
        results.front().get();
        results.pop_front();
      }
      results.push_back(async(other, echo, i, i));
    }
    for (auto& left : results) left.get();
    check(value == 20 && result.sum == 500'500, "changing");
  }
  return static_cast<double>(monotonic_ns() - begin) / rounds;
}

struct phase {
  const char* name;
  const char* unit;
  double (*run)(parcels::locality other);
};
constexpr phase phases[] = {{"ping", "ns a call", ping},     {"burst", "ns a parcel", burst},
                            {"window", "ns a call", window}, {"stream", "ns a round", stream},
                            {"paced", "ns latency", paced},  {"changing", "ns a round", changing}};

// --- settings ---

struct setting {
  std::string name;
  coalescing rules;
};

setting setting_of(const std::string& text) {
  if (text == "adaptive") return {text, {}};
  unsigned count = 0, wait_us = 0, before = 0;
  if (coalescing own;
      std::sscanf(text.c_str(), "adaptive:%u:%u:%u", &own.most_bytes, &own.message_share, &own.most_under_way) >= 1)
    return {text, own};
  if (std::sscanf(text.c_str(), "%u:%u:%u", &count, &wait_us, &before) != 3 || count == 0 || before > 1)
    throw std::invalid_argument("setting \"" + text +
                                "\": expected adaptive, adaptive:BYTES, COUNT:WAIT_US:0 or COUNT:WAIT_US:1");
  return {text, {.rules = coalescing::way::strict, .count = count, .wait_us = wait_us, .sends_before_waiting = before != 0}};
}

void use_there(const std::string& text) { use(parcels::job::current(), setting_of(text).rules); }

std::vector<setting> grid() {
  std::vector<setting> settings{setting_of("adaptive"), setting_of("1:20:0")};
  for (const char* const count : {"4", "16", "64", "256", "1024", "4096"})
    for (const char* const wait : {"20", "100", "500", "2000", "4000"})
      for (const char* const before : {"0", "1"})
        settings.push_back(setting_of(std::string(count) + ":" + wait + ":" + before));
  return settings;
}

// --- the run ---

struct plan {
  bool is_tuned = false;   // settings are learned while the program runs
  std::uint32_t runs = 0;  // of each phase in turn, with the default settings; 0: settings by turns
  std::string transport;
  std::uint32_t repeats = 1;
  std::uint64_t seed = 1;
  std::vector<setting> settings = {};
};

std::uint64_t messages_of(parcels::job& own) { return own.messages()->traffic().to(1).messages().messages.get(); }

using reason_counts = std::array<std::uint64_t, parcels::flush_reasons>;
reason_counts reasons_of(parcels::job& own) {
  reason_counts result{};
  for (std::size_t i = 0; i < result.size(); ++i)
    result[i] = own.messages()->traffic().to(1).flushes(static_cast<parcels::flush_reason>(i));
  return result;
}
// Messages by reason, between the two.
std::string text_of(const reason_counts& after, const reason_counts& before) {
  std::string text;
  for (std::size_t i = 0; i < after.size(); ++i)
    if (after[i] != before[i])
      text += (text.empty() ? "\"" : ", \"") + std::string(parcels::text_of(static_cast<parcels::flush_reason>(i))) +
              "\": " + std::to_string(after[i] - before[i]);
  return text;
}

void measure(parcels::job& own, const plan& work, std::uint32_t repeat, const phase& kind, const setting& chosen) {
  const parcels::locality other = own.at(1);
  use(own, {});
  async(other, use_there, chosen.name).get();
  use(own, chosen.rules);
  const std::uint64_t messages = messages_of(own), parcels = own.messages()->sent();
  const reason_counts reasons = reasons_of(own);
  const double value = kind.run(other);
  std::printf(
      "{\"transport\": \"%s\", \"repeat\": %u, \"phase\": \"%s\", \"setting\": \"%s\", \"value\": %.1f, \"unit\": \"%s\", "
      "\"messages\": %llu, \"parcels\": %llu, \"sent_because\": {%s}}\n",
      work.transport.c_str(), repeat, kind.name, chosen.name.c_str(), value, kind.unit,
      static_cast<unsigned long long>(messages_of(own) - messages),
      static_cast<unsigned long long>(own.messages()->sent() - parcels), text_of(reasons_of(own), reasons).c_str());
}

// Each phase for a while, so that something can be learned and forgotten again.
void lead_runs(parcels::job& own, const plan& work) {
  own.home().run([&] {
    for (std::uint32_t repeat = 0; repeat < work.repeats; ++repeat)
      for (const phase& kind : phases)
        for (std::uint32_t run = 0; run < work.runs; ++run) {
          const std::uint64_t messages = messages_of(own), parcels = own.messages()->sent();
          const double value = kind.run(own.at(1));
          const coalescing now = own.messages()->traffic().to(1).standard();
          std::printf(
              "{\"phase\": \"%s\", \"run\": %u, \"value\": %.1f, \"unit\": \"%s\", \"parcels_a_message\": %.1f, "
              "\"batch\": %u, \"under_way\": %u, \"most_bytes\": %u}\n",
              kind.name, run, value, kind.unit,
              static_cast<double>(own.messages()->sent() - parcels) /
                  static_cast<double>(std::max<std::uint64_t>(messages_of(own) - messages, 1)),
              now.batch, now.most_under_way, now.most_bytes);
        }
  });
}

void lead(parcels::job& own, const plan& work) {
  std::mt19937_64 random(work.seed);
  std::vector<std::size_t> order(work.settings.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  own.home().run([&] {
    // Once without a figure: memory that is used for the first time costs more.
    for (const phase& kind : phases) kind.run(own.at(1));
    for (std::uint32_t repeat = 0; repeat < work.repeats; ++repeat)
      for (const phase& kind : phases) {
        std::shuffle(order.begin(), order.end(), random);
        for (const std::size_t chosen : order) measure(own, work, repeat, kind, work.settings[chosen]);
      }
    use(own, {});
    async(own.at(1), use_there, std::string("adaptive")).get();
  });
}

int run(const plan& work) {
  trimtab::two_localities own(work.transport);
  {
    parcels::job started(own.take_link(), {.runtime = {.workers = 1}, .tunes_coalescing = work.is_tuned});
    if (own.is_first()) work.runs != 0 ? lead_runs(started, work) : lead(started, work);
  }
  return own.end();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc < 4) throw std::invalid_argument("usage: coalescing_bench shm|tcp REPEATS SEED [SETTING ...]");
    plan work{.transport = argv[1],
              .repeats = static_cast<std::uint32_t>(std::atoi(argv[2])),
              .seed = std::strtoull(argv[3], nullptr, 10)};
    if (work.transport != "shm" && work.transport != "tcp") throw std::invalid_argument("transport: expected shm or tcp");
    if (argc == 5 &&
        (std::sscanf(argv[4], "tuned:%u", &work.runs) == 1 || std::sscanf(argv[4], "steady:%u", &work.runs) == 1)) {
      work.is_tuned = argv[4][0] == 't';
      return run(work);
    }
    for (int i = 4; i < argc; ++i) work.settings.push_back(setting_of(argv[i]));
    if (work.settings.empty()) work.settings = grid();
    return run(work);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "coalescing_bench: %s\n", error.what());
    return 2;
  }
}
