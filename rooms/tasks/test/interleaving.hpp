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
    for (const body& thread_body : bodies)
      m_threads.push_back(std::make_unique<thread>(thread_body, stack_for(m_threads.size())));
    current() = this;
    m_running = &m_main;
    switch_to(pick());
    current() = nullptr;
    return m_failure.empty();
  }

  // All schedules within the budget, until one fails: what it chose, or "". prepare() makes the bodies of a run anew,
  // check() gives what is wrong at its end.
  template <class preparation, class checking>
  std::string try_all(int budget, preparation&& prepare, checking&& check) {
    m_choices.clear();
    m_is_random = false;
    for (m_runs = 1;; ++m_runs) {
      m_position = 0;
      m_budget = budget;
      if (run(prepare())) m_failure = check();
      if (!m_failure.empty()) return m_failure + ", choices " + chosen();
      while (!m_choices.empty() && m_choices.back().chosen + 1 == m_choices.back().options) m_choices.pop_back();
      if (m_choices.empty()) return "";
      m_choices.back().chosen += 1;
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
      for (const auto& element : m_threads) {
        if (element.get() != m_running && element->waits_for == nullptr && !element->has_ended)
          m_options.push_back({element.get(), false});
        if (!element->buffer.empty()) m_options.push_back({element.get(), true});
      }
      const std::size_t index = choose(m_options.size() + 1);
      if (index == 0) return;
      m_budget -= 1;
      const option chosen = m_options[index - 1];
      if (!chosen.is_flush) return switch_to(*chosen.owner);
      flush_oldest(*chosen.owner);
    }
  }

  std::uint64_t load(const void* address, unsigned bytes) {
    check_alive(address);
    spin_ends(address);
    point();
    for (auto element = m_running->buffer.rbegin(); element != m_running->buffer.rend(); ++element)
      if (element->address == address) return element->value;
    std::uint64_t value = 0;
    std::memcpy(&value, address, bytes);
    return value;
  }

  void store(void* target, std::uint64_t value, unsigned bytes, bool is_seq_cst) {
    check_alive(target);
    point();
    m_running->buffer.push_back({target, value, bytes});
    if (is_seq_cst && !m_wrong.seq_cst_stores_are_late) flush(*m_running);
  }

  // Before an operation that reads and writes at once.
  void exchange(const void* address) {
    check_alive(address);
    point();
    flush(*m_running);
    m_writes += 1;
  }

  void fence() { flush(*m_running); }
  void fence_all() {
    point();
    flush(*m_running);
    if (m_wrong.membarrier_does_nothing) return;
    for (const auto& element : m_threads) flush(*element);
  }

  // The running thread waits until wake(on).
  void sleep(const void* address) {
    flush(*m_running);
    m_running->waits_for = address;
    switch_to(pick());
  }
  void wake(const void* address, std::uint64_t limit) {
    flush(*m_running);
    for (const auto& element : m_threads)
      if (limit > 0 && element->waits_for == address) {
        element->waits_for = nullptr;
        limit -= 1;
      }
  }
  // Others go on, if any can: in turn, so that those which wait for each other in vain do not keep out the one that they
  // wait for. Another order counts as a switch.
  void yield() {
    flush(*m_running);
    m_options.clear();
    const std::size_t self = running_thread();
    for (std::size_t i = 1; i < m_threads.size(); ++i) {
      thread& candidate = *m_threads[(self + i) % m_threads.size()];
      if (candidate.waits_for == nullptr && !candidate.has_ended) m_options.push_back({&candidate, false});
    }
    if (m_options.empty()) return;
    const std::size_t index = m_budget > 0 ? choose(m_options.size()) : 0;
    m_budget -= index != 0;
    switch_to(*m_options[index].owner);
  }

  std::size_t running_thread() const noexcept {
    for (std::size_t i = 0; i < m_threads.size(); ++i)
      if (m_threads[i].get() == m_running) return i;
    return m_threads.size();
  }

  // To be called before the place of an atomic variable is used anew, and when its life ends.
  void born(const void* object) { m_dead.erase(object); }
  void dies(const void* object) { m_dead.insert(object); }

  void fail(const std::string& reason) {
    if (m_failure.empty()) m_failure = reason;
    if (m_running != &m_main) switch_to(m_main);  // for ever
  }

 private:
  struct pending {
    void* address;
    std::uint64_t value;
    unsigned bytes;
  };
  struct thread {
    thread() = default;
    thread(body thread_body, char* stack)
        : call(std::move(thread_body)), place(context::make_fcontext(stack + stack_bytes, stack_bytes, begin)) {}
    body call;
    context::fcontext_t place = nullptr;
    std::deque<pending> buffer;
    const void* waits_for = nullptr;
    bool has_ended = false;
    const void* last_loaded = nullptr;
    std::uint64_t writes_then = 0;
    int repeats = 0;
  };
  struct option {
    thread* owner;
    bool is_flush;
  };
  struct choice {
    std::size_t chosen, options;
  };
  static constexpr std::size_t stack_bytes = 128 << 10;

  char* stack_for(std::size_t number) {
    while (m_stacks.size() <= number) m_stacks.push_back(std::make_unique<char[]>(stack_bytes));
    return m_stacks[number].get();
  }

  static void begin(context::transfer_t transfer) {
    static_cast<thread*>(transfer.data)->place = transfer.fctx;
    machine& self = *current();
    thread& own_thread = *self.m_running;
    own_thread.call();
    self.point();  // its stores may still be late
    self.flush(own_thread);
    own_thread.has_ended = true;
    self.switch_to(self.pick());
  }

  void switch_to(thread& next_thread) {
    if (&next_thread == m_running) return;
    thread* const previous = m_running;
    m_running = &next_thread;
    const context::transfer_t arrival = context::jump_fcontext(next_thread.place, previous);
    static_cast<thread*>(arrival.data)->place = arrival.fctx;
  }

  // Who goes on when the running one cannot.
  thread& pick() {
    m_options.clear();
    bool is_every_thread_done = true;
    for (const auto& element : m_threads) {
      is_every_thread_done &= element->has_ended;
      if (!element->has_ended && element->waits_for == nullptr) m_options.push_back({element.get(), false});
    }
    if (!m_options.empty()) return *m_options[choose(m_options.size())].owner;
    if (!is_every_thread_done) m_failure = "all wait for ever";
    return m_main;
  }

  std::size_t choose(std::size_t option_count) {
    if (option_count == 1) return 0;
    if (m_is_random) return m_random() % m_calm != 0 ? 0 : m_random() % option_count;
    if (m_position == m_choices.size()) m_choices.push_back({0, option_count});
    return m_choices[m_position++].chosen;
  }
  std::string chosen() const {
    std::string text;
    for (const choice& step : m_choices) text += std::to_string(step.chosen) + ' ';
    return text;
  }

  void flush_oldest(thread& owner) {
    const pending oldest = owner.buffer.front();
    owner.buffer.pop_front();
    std::memcpy(oldest.address, &oldest.value, oldest.bytes);
    m_writes += 1;
  }
  void flush(thread& owner) {
    while (!owner.buffer.empty()) flush_oldest(owner);
  }

  void check_alive(const void* object) {
    if (m_dead.count(object) != 0) fail("used after its life");
  }

  // Who loads the same again and again waits for another.
  void spin_ends(const void* address) {
    thread& self = *m_running;
    self.repeats = self.last_loaded == address && self.writes_then == m_writes ? self.repeats + 1 : 0;
    self.last_loaded = address;
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
  std::size_t m_position = 0;
  int m_budget = 0;
  std::uint64_t m_runs = 0;
  bool m_is_random = false;
  std::mt19937_64 m_random;
  std::uint64_t m_calm = 1;
};

}  // namespace interleaving
