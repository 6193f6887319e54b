#include "trimtab/tasks/core/runtime.hpp"

#include <cxxabi.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

#include "background_of_threads.hpp"
#include "monitor.hpp"
#include "pause.hpp"
#include "process_locks.hpp"
#include "trimtab/base/topology.hpp"
#include "trimtab/tasks/core/asymmetric_fence.hpp"
#include "trimtab/tasks/sync/timer.hpp"
#include "worker_loop.hpp"

namespace trimtab::tasks {

namespace {

constexpr const char* policy_names[] = {"local",     "local-priority",  "abp-priority",
                                        "hierarchy", "static-priority", "periodic-priority"};

constexpr std::uint32_t most_workers = 4096;
constexpr std::size_t least_stack = 64 << 10, largest_stack = std::size_t{1} << 30;

std::uint32_t available_cpus() noexcept {
  const std::lock_guard guard(lock_of(of_process::cpus));
  return static_cast<std::uint32_t>(std::max(1.0, std::ceil(base::read_cpu_limits().available)));
}

std::vector<std::uint32_t> memory_domains() {
  std::vector<std::uint32_t> of_cpus(base::cpu_mask::most);
  base::read_memory_domains(of_cpus.data(), of_cpus.size());
  return of_cpus;
}

// Where workers are to stay: one CPU each, those of one domain of memory next to each other. More workers than CPUs
// begin anew with the first CPU. Empty: anywhere.
std::vector<std::uint32_t> cpus_of(const runtime_options& options) {
  base::cpu_mask allowed;
  if (!options.numa || !base::read_affinity(allowed)) return {};
  const std::vector<std::uint32_t> domain_of = memory_domains();
  std::vector<std::uint32_t> cpus;
  for (std::uint32_t cpu = 0; cpu < base::cpu_mask::most; ++cpu)
    if (allowed.has(cpu)) cpus.push_back(cpu);
  if (cpus.empty()) return {};
  std::stable_sort(cpus.begin(), cpus.end(), [&](auto a, auto b) { return domain_of[a] < domain_of[b]; });
  for (std::uint32_t i = 0; cpus.size() < options.workers; ++i) cpus.push_back(cpus[i]);
  cpus.resize(options.workers);
  return cpus;
}

std::vector<std::uint32_t> domains_of(const std::vector<std::uint32_t>& cpus) {
  const std::vector<std::uint32_t> domain_of = memory_domains();
  std::vector<std::uint32_t> domains;
  domains.reserve(cpus.size());
  for (const std::uint32_t cpu : cpus) domains.push_back(domain_of[cpu]);
  return domains;
}

runtime_options checked(runtime_options options) {
  if (options.workers > most_workers)
    throw std::invalid_argument("trimtab: option workers is " + std::to_string(options.workers) + ", at most " +
                                std::to_string(most_workers) + " are possible (0: as many as there are CPUs)");
  if (options.workers == 0) options.workers = available_cpus();
  if (options.stack_bytes < least_stack || options.stack_bytes > largest_stack)
    throw std::invalid_argument("trimtab: option stack_bytes is " + std::to_string(options.stack_bytes) + ", expected " +
                                std::to_string(least_stack) + " to " + std::to_string(largest_stack));
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  options.stack_bytes = (options.stack_bytes + page - 1) / page * page;
  if (!options.policy)
    options.policy = options.choose_policy ? options.choose_policy(options.workers) : policy::local_priority;
  return options;
}

const base::clock_calibration& calibration() noexcept {
  static constinit lazy_singleton<base::clock_calibration> calibration_once(of_process::clock);
  return calibration_once.get(base::calibrate_clock);
}

std::vector<runtime*> living;              // in the order in which they were made
std::atomic<runtime*> implicit = nullptr;  // the standard one while none lives

// A child's runtimes are those that it makes.
[[maybe_unused]] const int are_runtimes_forgotten = pthread_atfork(nullptr, nullptr, [] {
  living.clear();
  implicit.store(nullptr, std::memory_order_relaxed);
});

}  // namespace

const char* name_of(policy scheduling) noexcept { return policy_names[static_cast<std::size_t>(scheduling)]; }

std::optional<policy> policy_of(std::string_view name) noexcept {
  const auto* const position = std::find(std::begin(policy_names), std::end(policy_names), name);
  if (position == std::end(policy_names)) return std::nullopt;
  return static_cast<policy>(position - std::begin(policy_names));
}

namespace {

// The name that it was given, or the type of its function: where that is written, in the end.
std::string name_of(const running_task& running) {
  if (running.kind_of_work == nullptr) return "(of runtime::run)";
  if (running.kind_of_work->name != nullptr)
    return std::string(running.kind_of_work->name) + " (" + running.kind_of_work->file + ":" +
           std::to_string(running.kind_of_work->line) + ")";
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> readable(
      abi::__cxa_demangle(running.kind_of_work->type->name(), nullptr, nullptr, &status), std::free);
  return readable ? readable.get() : running.kind_of_work->type->name();
}

// Says in which task the program ends, and leaves the rest to the handler that was there before.
std::terminate_handler handler_before = nullptr;
[[noreturn]] void tell_task_and_terminate() noexcept {
  worker* const this_worker = worker::current();
  // One that fails here ends the program without a name.
  std::set_terminate(handler_before);
  if (this_worker != nullptr && worker_loop::has_running(*this_worker))
    std::fprintf(stderr, "trimtab: std::terminate was called in task %s\n", name_of(this_worker->running()).c_str());
  if (handler_before != nullptr) handler_before();
  std::abort();
}

// Once: a handler that the program sets later stays in place.
void watch_terminate() noexcept {
  [[maybe_unused]] static const bool is_set = [] {
    handler_before = std::set_terminate(tell_task_and_terminate);
    return true;
  }();
}

}  // namespace

struct runtime::parts {
  parts(std::size_t stack_bytes, void (*entry)(stack&) noexcept) : memory(stack_bytes, entry) {}
  std::vector<std::thread> threads;
  base::spin_lock lock;  // of the following
  stack_memory memory;
  std::unique_ptr<monitor> counters;
  std::shared_ptr<void> companion;
  std::vector<std::shared_ptr<background_work>> background;  // all that were given
  stack* unused = nullptr;
};

runtime::runtime(const runtime_options& options)
    : m_options(checked(options)),
      m_cpus(cpus_of(m_options)),
      m_policy(m_options.policy.value_or(policy::local_priority)),
      m_loops_adapt(m_policy != policy::static_priority),
      m_table(&table_of(m_policy)),
      m_queues(m_options.workers, domains_of(m_cpus), m_table->offers),
      m_policy_object(m_table->create(m_queues)),
      // With more workers than CPUs, who looks for long keeps those from running that have something to do.
      m_looks(m_options.workers > available_cpus() ? 600 : 2000),
      m_longest_gap(static_cast<base::ticks>(20'000 / ns_per_tick())),
      m_least_stolen(static_cast<base::ticks>(500 / ns_per_tick())),
      m_process(getpid()),
      m_recorded(recording::attach("runtime")),
      m_parts(std::make_unique<parts>(m_options.stack_bytes, m_table->loop)) {
  for (std::uint32_t i = 0; i < m_options.workers; ++i) m_workers.push_back(std::make_unique<worker>(*this, m_queues[i], i));
  try {
    watch_terminate();
    m_parts->counters =
        std::make_unique<monitor>(*this, m_options.print_counters, m_options.print_counters_ms, m_recorded != 0);
    start();
    if (m_options.companion) m_parts->companion = m_options.companion(*this);
  } catch (...) {
    stop();
    throw;
  }
  const std::lock_guard guard(lock_of(of_process::runtimes));
  living.push_back(this);
}

void runtime::start() {
  for (const auto& worker_entry : m_workers) {
    m_parts->threads.emplace_back([this, &which = *worker_entry] { work(which); });
    if (!m_cpus.empty()) {
      cpu_set_t* const mask = CPU_ALLOC(base::cpu_mask::most);
      const std::size_t bytes = CPU_ALLOC_SIZE(base::cpu_mask::most);
      CPU_ZERO_S(bytes, mask);
      CPU_SET_S(m_cpus[worker_entry->number()], bytes, mask);
      // Where it is not permitted the worker stays free to move.
      pthread_setaffinity_np(m_parts->threads.back().native_handle(), bytes, mask);
      CPU_FREE(mask);
    }
    char name[16];
    std::snprintf(name, sizeof name, "worker-%u", worker_entry->number());
    pthread_setname_np(m_parts->threads.back().native_handle(), name);
  }
}

void runtime::work(worker& member) noexcept {
  worker_loop::set_current(&member);
  if (m_recorded != 0) recording::worker_begins(m_recorded, member.number());
  // The first look may find something at once.
  member.enter(worker_state::busy);
  switching::switch_to(&member.unused_stack(), nullptr, nullptr);
  // The runtime has ended.
  if (m_recorded != 0) {
    member.tally().flush();
    recording::worker_ends();
  }
  worker_loop::set_current(nullptr);
}

void runtime::stop() noexcept {
  m_is_ending.store(true, std::memory_order_seq_cst);
  wake_all();
  m_capped_events.wake_all();
  for (std::thread& each : m_parts->threads) each.join();
  // Pairs with the release in place().
  while (m_visitors.load(std::memory_order_acquire) != 0) sched_yield();
}

runtime::~runtime() {
  {
    const std::lock_guard runtimes_guard(lock_of(of_process::runtimes));
    std::erase(living, this);
  }
  if (getpid() != m_process) {
    // A forked child, where the workers do not exist: nothing to wait for, and what they own stays as it is. The child
    // may be on one of the stacks, and threads that it has made since may have the places of the workers'.
    for (auto& worker_entry : m_workers) static_cast<void>(worker_entry.release());
    static_cast<void>(m_parts.release());
    return;
  }
  stop();
  m_parts->companion.reset();
  m_parts->counters.reset();
}

runtime& runtime::standard() {
  {
    const std::lock_guard guard(lock_of(of_process::runtimes));
    if (!living.empty()) return *living.front();
  }
  if (runtime* const candidate = implicit.load(std::memory_order_acquire); candidate != nullptr) return *candidate;
  const std::lock_guard guard(lock_of(of_process::implicit));
  if (runtime* const candidate = implicit.load(std::memory_order_relaxed); candidate != nullptr) return *candidate;
  auto created = std::make_unique<runtime>();
  // Not among the living, so that one which the program makes later comes before it.
  {
    const std::lock_guard runtimes_guard(lock_of(of_process::runtimes));
    std::erase(living, created.get());
  }
  if (std::atexit([] { delete implicit.exchange(nullptr, std::memory_order_acq_rel); }) != 0) throw std::bad_alloc();
  implicit.store(created.get(), std::memory_order_release);
  return *created.release();
}

raw_counts runtime::raw(std::uint32_t number) const noexcept {
  const worker& source = *m_workers[number];
  const worker_counters& counters = source.m_counters;
  const queue_counts& queue = source.m_queues->counts;
  raw_counts counts;
  counts.in_place = counters.in_place.get();
  counts.started = counters.started.get();
  counts.resumed = counters.resumed.get();
  counts.suspended = counters.suspended.get();
  counts.created = counters.created.get();
  counts.finished = counters.finished.get();
  counts.parks = counters.parked.get();
  counts.stacks = counters.stacks.get();
  counts.accesses = queue.accesses.get();
  counts.misses = queue.misses.get();
  counts.stolen = queue.stolen.get();
  counts.steals = queue.steals.get();
  counts.queued = source.m_queues->tasks();
  counts.timed = counters.timed_tasks.get();
  counts.timed_ticks = counters.timed_ticks.get();
  counts.gap_ticks = counters.gap_ticks.get();
  // And what it does now. A worker that is preempted while it changes that leaves us with what is there.
  for (int look = 0; look < 10'000; ++look) {
    const std::uint32_t changes = source.m_changes.load(std::memory_order_acquire);
    counts.busy = counters.busy_ticks.get();
    counts.looking = counters.look_ticks.get();
    counts.parked = counters.park_ticks.get();
    counts.capped = counters.cap_ticks.get();
    std::uint64_t* const current_sums[] = {&counts.busy, &counts.looking, &counts.parked, &counts.capped};
    const worker_state state = source.m_state.load(std::memory_order_acquire);
    const base::ticks begin = source.m_state_begin.load(std::memory_order_acquire), current_time = base::now();
    if (current_time > begin) *current_sums[static_cast<std::size_t>(state)] += current_time - begin;
    if (changes % 2 == 0 && source.m_changes.load(std::memory_order_acquire) == changes) break;
    pause();
  }
  return counts;
}

std::uint32_t runtime::available_cpus() noexcept { return tasks::available_cpus(); }

double runtime::ns_per_tick() noexcept { return base::refine(calibration()).ns_per_tick; }

std::uint64_t runtime::finished() const noexcept {
  std::uint64_t sum = 0;
  for (const auto& worker_entry : m_workers) sum += worker_entry->m_counters.finished.get();
  return sum;
}

std::uint64_t runtime::running_and_eligible() const noexcept {
  std::uint64_t running = 0;
  for (const auto& worker_entry : m_workers)
    running += worker_entry->m_state.load(std::memory_order_acquire) == worker_state::busy;
  return running + m_queues.tasks();
}

std::uint64_t runtime::unfinished() const noexcept {
  // What has ended first: then, if nothing was made meanwhile, both are of one moment.
  const std::uint64_t finished_count = finished();
  full_fence();
  std::uint64_t created_count = m_created_outside.load(std::memory_order_seq_cst);
  for (const auto& worker_entry : m_workers) created_count += worker_entry->m_counters.created.get();
  return created_count - finished_count;
}

void runtime::count_made_outside() {
  if (getpid() != m_process)
    throw std::runtime_error("trimtab: this runtime belongs to the parent process; a forked child needs one of its own");
  m_created_outside.fetch_add(1, std::memory_order_seq_cst);
}

void runtime::submit(task& item, std::int32_t hint) {
  count_made_outside();
  place(item, hint);
}

void runtime::place(task& item, std::int32_t hint) noexcept {
  const worker* const this_worker = worker::current();
  const bool is_visitor = this_worker == nullptr || this_worker->m_owner != this;
  // The task may be the last one, and end before its waker has been here to the end.
  if (is_visitor) m_visitors.fetch_add(1, std::memory_order_relaxed);
  m_table->place(*this, item, hint);
  m_nap_events.wake_one();
  if (is_visitor) m_visitors.fetch_sub(1, std::memory_order_release);
}

void runtime::wake(std::uint32_t target) noexcept {
  if (!m_table->names_taker) return m_events.wake_one();
  if (target != anyone) return m_workers[target]->m_events.wake_one();
  const std::uint32_t active = m_queues.active.load(std::memory_order_seq_cst);
  for (std::uint32_t i = 0; i < active; ++i)
    if (event_count& events = m_workers[i]->m_events; events.sleepers() != 0) return events.wake_one();
}

void runtime::wake_all() noexcept {
  m_events.wake_all();
  m_nap_events.wake_all();
  if (m_table->names_taker)
    for (const auto& worker_entry : m_workers) worker_entry->m_events.wake_all();
}

void runtime::set_active_workers(std::uint32_t count) {
  if (count == 0 || count > workers())
    throw std::invalid_argument("trimtab: active workers set to " + std::to_string(count) + ", expected 1 to " +
                                std::to_string(workers()));
  m_queues.active.store(count, std::memory_order_seq_cst);
  m_capped_events.wake_all();
  wake_all();
}

void runtime::set_grain_source(grain_source* chooses) noexcept {
  m_grains = chooses;
  m_loops_adapt = chooses == nullptr && m_policy != policy::static_priority;
}

void runtime::set_background_work(const std::shared_ptr<background_work>& work) {
  {
    const std::lock_guard guard(m_parts->lock);
    if (work != nullptr) m_parts->background.push_back(work);
    // Release: who advances it finds it whole.
    m_background_work.store(work.get(), std::memory_order_release);
  }
  if (work != nullptr) add_background_of_threads(work);
  wake_all();
}

stack* runtime::make_stack() noexcept {
  const std::lock_guard guard(m_parts->lock);
  if (stack* const spare = m_parts->unused) {
    m_parts->unused = spare->next;
    return spare;
  }
  return m_parts->memory.make_stack(*this);
}

void runtime::keep_few_unused(worker& this_worker) noexcept {
  constexpr std::uint32_t limit = 64;
  if (this_worker.m_unused_count < limit) return;
  const std::lock_guard guard(m_parts->lock);
  while (this_worker.m_unused_count > limit / 2) {
    stack& surplus = *this_worker.m_unused;
    this_worker.m_unused = surplus.next;
    this_worker.m_unused_count -= 1;
    surplus.next = m_parts->unused;
    m_parts->unused = &surplus;
  }
}

// After a worker has slept for long. Nothing is moving then, so that what waits can be read.
void runtime::tell_if_stuck() noexcept {
  struct standstill {
    std::uint64_t suspended = 0, progress = 0, asleep = 0;
    bool operator==(const standstill&) const = default;
  };
  const auto look = [&] {
    standstill observed;
    for (const auto& worker_entry : m_workers) {
      const worker_counters& counters = worker_entry->m_counters;
      observed.suspended += counters.suspended.get() - counters.resumed.get();
      observed.progress += counters.suspended.get() + counters.resumed.get() + counters.started.get();
      observed.asleep += worker_entry->m_state.load(std::memory_order_seq_cst) == worker_state::parked;
    }
    return observed;
  };
  const standstill observed = look();
  // Tasks that have not begun, since they wait for futures, are no deadlock as long as the program goes on.
  const std::uint64_t expected = m_is_ending.load(std::memory_order_relaxed) ? unfinished() : 0;
  if (observed.suspended + expected == 0 || observed.asleep != m_workers.size()) return;
  // Who sleeps goes on when it is time, and may let others go on. Seen again: we may have been displaced meanwhile.
  if (timer::is_any_pending() || m_queues.length() != 0 || look() != observed) return;
  if (const background_work* const work = m_background_work.load(std::memory_order_acquire);
      work != nullptr && work->expects_more())
    return;
  // One worker tells, and none that was displaced for so long that another standstill has been told.
  std::uint64_t reported_progress = m_reported_progress.load(std::memory_order_relaxed);
  do {
    if (observed.progress < reported_progress) return;
  } while (!m_reported_progress.compare_exchange_weak(reported_progress, observed.progress + 1, std::memory_order_relaxed));
  const std::uint64_t suspended = observed.suspended;
  const auto report = [&](std::string_view line) {
    if (m_options.on_deadlock)
      m_options.on_deadlock(line);
    else
      std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data());
  };
  try {
    if (suspended == 0)
      return report("trimtab: the runtime ends, nothing can run, and " + std::to_string(expected) +
                    " tasks have not begun: they wait for futures");
    report("trimtab: nothing can run and " + std::to_string(suspended) + " tasks wait:");
    const std::lock_guard guard(m_parts->lock);
    constexpr std::uint64_t limit = 20;
    std::uint64_t reported = 0;
    const base::ticks current_time = base::now();
    for (std::size_t i = 0; i < m_parts->memory.count() && reported < limit; ++i) {
      const stack& candidate = m_parts->memory.stack_at(i);
      const wait_reason reason = candidate.reason.load(std::memory_order_relaxed);
      if (reason == wait_reason::not_waiting) continue;
      const base::ticks begin = candidate.wait_begin.load(std::memory_order_relaxed);
      char line[400];
      std::snprintf(line, sizeof line, "  task %s waits for %s (%p) since %.3f s", name_of(candidate.running).c_str(),
                    text_of(reason), candidate.awaited_object.load(std::memory_order_relaxed),
                    static_cast<double>(current_time - begin) * 1e-9 * ns_per_tick());
      report(line);
      reported += 1;
    }
    if (reported < suspended) report("  and " + std::to_string(suspended - reported) + " more");
  } catch (...) {
    std::fputs("trimtab: nothing can run and tasks wait, which could not be told in full\n", stderr);
  }
}

}  // namespace trimtab::tasks
