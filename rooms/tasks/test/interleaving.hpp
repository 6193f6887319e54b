// A machine of a few logical threads that run one at a time on the real one, and that chooses before every atomic
// operation which of them goes on. Each has a store buffer, as processors with total store order (x86) have one: what a
// thread stores is seen by others only when it leaves the buffer, some time later. So it finds what a test on real threads
// meets by luck: threads stopped between any two operations, stores that are late.
//
// Either all schedules with at most `budget` switches and early flushes that need not be, or random ones. What happens in
// one is a function of its choices alone: a failure names the choices or the seed.
//
// It does not see what weaker processors reorder, nor plain variables that lack synchronisation: ThreadSanitizer does.
#pragma once

#include <boost/context/detail/fcontext.hpp>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace interleaving {

namespace context = boost::context::detail;

// What a machine can be told to do wrong, so that it can be seen that it would be found.
struct faults {
  bool membarrier_does_nothing = false;
  bool seq_cst_stores_are_late = false;
};

class machine {
 public:
  using body = std::function<void()>;

  // The one that runs, nullptr outside of runs.
  static machine*& current() noexcept {
    static machine* running = nullptr;
    return running;
  }

  explicit machine(faults wrong = {}) : m_wrong(wrong) {}

  // One run of all the bodies to their ends. False: it failed.
  bool run(const std::vector<body>& bodies) {
    m_threads.clear();
    m_dead.clear();
    m_writes = 0;
    m_failure.clear();
    for (const body& each : bodies) m_threads.push_back(std::make_unique<thread>(each, stack_for(m_threads.size())));
    current() = this;
    m_running = &m_main;
    switch_to(pick());
    current() = nullptr;
    return m_failure.empty();
  }

  // All schedules within the budget, until one fails: what it chose, or "". prepare() makes the bodies of a run anew,
  // check() gives what is wrong at its end.
  template <class preparation, class checking>
  std::string all(int budget, preparation&& prepare, checking&& check) {
    m_choices.clear();
    m_is_random = false;
    for (m_runs = 1;; ++m_runs) {
      m_at = 0;
      m_budget = budget;
      if (run(prepare())) m_failure = check();
      if (!m_failure.empty()) return m_failure + ", choices " + chosen();
      while (!m_choices.empty() && m_choices.back().taken + 1 == m_choices.back().among) m_choices.pop_back();
      if (m_choices.empty()) return "";
      m_choices.back().taken += 1;
    }
  }

  template <class preparation, class checking>
  std::string random(std::uint64_t first_seed, std::uint64_t seeds, preparation&& prepare, checking&& check) {
    m_is_random = true;
    for (std::uint64_t seed = first_seed; seed < first_seed + seeds; ++seed) {
      m_random.seed(seed);
      m_budget = 1'000'000;
      m_calm = 1 + m_random() % 40;
      if (run(prepare(seed))) m_failure = check();
      if (!m_failure.empty()) return m_failure + ", seed " + std::to_string(seed);
    }
    return "";
  }
  std::uint64_t runs() const noexcept { return m_runs; }

  // For the bodies and what they call.

  // Any other thread may go on here, and any buffer may lose its oldest store.
  void point() {
    while (m_budget > 0) {
      m_options.clear();
      for (const auto& each : m_threads) {
        if (each.get() != m_running && each->waits_for == nullptr && !each->is_done)
          m_options.push_back({each.get(), false});
        if (!each->buffer.empty()) m_options.push_back({each.get(), true});
      }
      const std::size_t which = choose(m_options.size() + 1);
      if (which == 0) return;
      m_budget -= 1;
      const option taken = m_options[which - 1];
      if (!taken.is_flush) return switch_to(*taken.of);
      flush_oldest(*taken.of);
    }
  }

  std::uint64_t load(const void* from, unsigned bytes) {
    check_alive(from);
    spin_ends(from);
    point();
    for (auto each = m_running->buffer.rbegin(); each != m_running->buffer.rend(); ++each)
      if (each->to == from) return each->value;
    std::uint64_t value = 0;
    std::memcpy(&value, from, bytes);
    return value;
  }

  void store(void* to, std::uint64_t value, unsigned bytes, bool is_seq_cst) {
    check_alive(to);
    point();
    m_running->buffer.push_back({to, value, bytes});
    if (is_seq_cst && !m_wrong.seq_cst_stores_are_late) flush(*m_running);
  }

  // Before an operation that reads and writes at once.
  void exchange(const void* at) {
    check_alive(at);
    point();
    flush(*m_running);
    m_writes += 1;
  }

  void fence() { flush(*m_running); }
  void fence_all() {
    point();
    flush(*m_running);
    if (m_wrong.membarrier_does_nothing) return;
    for (const auto& each : m_threads) flush(*each);
  }

  // The running thread waits until wake(on).
  void sleep(const void* on) {
    flush(*m_running);
    m_running->waits_for = on;
    switch_to(pick());
  }
  void wake(const void* on, std::uint64_t most) {
    flush(*m_running);
    for (const auto& each : m_threads)
      if (most > 0 && each->waits_for == on) {
        each->waits_for = nullptr;
        most -= 1;
      }
  }
  // Others go on, if any can: in turn, so that those which wait for each other in vain do not keep out the one that they
  // wait for. Another order counts as a switch.
  void yield() {
    flush(*m_running);
    m_options.clear();
    const std::size_t own = running_thread();
    for (std::size_t i = 1; i < m_threads.size(); ++i) {
      thread& each = *m_threads[(own + i) % m_threads.size()];
      if (each.waits_for == nullptr && !each.is_done) m_options.push_back({&each, false});
    }
    if (m_options.empty()) return;
    const std::size_t which = m_budget > 0 ? choose(m_options.size()) : 0;
    m_budget -= which != 0;
    switch_to(*m_options[which].of);
  }

  std::size_t running_thread() const noexcept {
    for (std::size_t i = 0; i < m_threads.size(); ++i)
      if (m_threads[i].get() == m_running) return i;
    return m_threads.size();
  }

  // To be called before the place of an atomic variable is used anew, and when its life ends.
  void born(const void* what) { m_dead.erase(what); }
  void dies(const void* what) { m_dead.insert(what); }

  void fail(const std::string& why) {
    if (m_failure.empty()) m_failure = why;
    if (m_running != &m_main) switch_to(m_main);  // for ever
  }

 private:
  struct pending {
    void* to;
    std::uint64_t value;
    unsigned bytes;
  };
  struct thread {
    thread() = default;
    thread(body what, char* stack)
        : call(std::move(what)), place(context::make_fcontext(stack + stack_bytes, stack_bytes, begin)) {}
    body call;
    context::fcontext_t place = nullptr;
    std::deque<pending> buffer;
    const void* waits_for = nullptr;
    bool is_done = false;
    const void* last_loaded = nullptr;
    std::uint64_t writes_then = 0;
    int repeats = 0;
  };
  struct option {
    thread* of;
    bool is_flush;
  };
  struct choice {
    std::size_t taken, among;
  };
  static constexpr std::size_t stack_bytes = 128 << 10;

  char* stack_for(std::size_t number) {
    while (m_stacks.size() <= number) m_stacks.push_back(std::make_unique<char[]>(stack_bytes));
    return m_stacks[number].get();
  }

  static void begin(context::transfer_t from) {
    static_cast<thread*>(from.data)->place = from.fctx;
    machine& self = *current();
    thread& own = *self.m_running;
    own.call();
    self.point();  // its stores may still be late
    self.flush(own);
    own.is_done = true;
    self.switch_to(self.pick());
  }

  void switch_to(thread& to) {
    if (&to == m_running) return;
    thread* const from = m_running;
    m_running = &to;
    const context::transfer_t back = context::jump_fcontext(to.place, from);
    static_cast<thread*>(back.data)->place = back.fctx;
  }

  // Who goes on when the running one cannot.
  thread& pick() {
    m_options.clear();
    bool are_done = true;
    for (const auto& each : m_threads) {
      are_done &= each->is_done;
      if (!each->is_done && each->waits_for == nullptr) m_options.push_back({each.get(), false});
    }
    if (!m_options.empty()) return *m_options[choose(m_options.size())].of;
    if (!are_done) m_failure = "all wait for ever";
    return m_main;
  }

  std::size_t choose(std::size_t among) {
    if (among == 1) return 0;
    if (m_is_random) return m_random() % m_calm != 0 ? 0 : m_random() % among;
    if (m_at == m_choices.size()) m_choices.push_back({0, among});
    return m_choices[m_at++].taken;
  }
  std::string chosen() const {
    std::string text;
    for (const choice& each : m_choices) text += std::to_string(each.taken) + ' ';
    return text;
  }

  void flush_oldest(thread& of) {
    const pending oldest = of.buffer.front();
    of.buffer.pop_front();
    std::memcpy(oldest.to, &oldest.value, oldest.bytes);
    m_writes += 1;
  }
  void flush(thread& of) {
    while (!of.buffer.empty()) flush_oldest(of);
  }

  void check_alive(const void* what) {
    if (m_dead.count(what) != 0) fail("used after its life");
  }

  // Who loads the same again and again waits for another.
  void spin_ends(const void* from) {
    thread& self = *m_running;
    self.repeats = self.last_loaded == from && self.writes_then == m_writes ? self.repeats + 1 : 0;
    self.last_loaded = from;
    self.writes_then = m_writes;
    if (self.repeats >= 3) yield();
  }

  faults m_wrong;
  thread m_main;
  thread* m_running = &m_main;
  std::vector<std::unique_ptr<thread>> m_threads;
  std::vector<std::unique_ptr<char[]>> m_stacks;
  std::set<const void*> m_dead;
  std::uint64_t m_writes = 0;
  std::string m_failure;
  std::vector<option> m_options;
  std::vector<choice> m_choices;
  std::size_t m_at = 0;
  int m_budget = 0;
  std::uint64_t m_runs = 0;
  bool m_is_random = false;
  std::mt19937_64 m_random;
  std::uint64_t m_calm = 1;
};

}  // namespace interleaving
