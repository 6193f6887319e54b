// A job: processes that run the same program, each a locality with a task runtime, and call functions on each other.
//
//   int square(int x) { return x * x; }
//   int main() {
//     trimtab::job job;                                        // every process comes here
//     if (job.here().number() == 0)
//       for (trimtab::locality where : job.localities()) std::printf("%d\n", trimtab::async(where, square, 3).get());
//   }                                                          // waits until all localities come here
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trimtab/parcels/calls/collectives.hpp"
#include "trimtab/parcels/calls/dispatcher.hpp"
#include "trimtab/parcels/calls/locality_lost.hpp"
#include "trimtab/parcels/calls/remote_call.hpp"
#include "trimtab/parcels/coalescing/flush_rules.hpp"
#include "trimtab/parcels/objects/object_table.hpp"
#include "trimtab/parcels/servers/served_transport.hpp"
#include "trimtab/parcels/view/known_load.hpp"
#include "trimtab/parcels/view/load_sharing.hpp"
#include "trimtab/tasks/core/runtime.hpp"
#include "trimtab/tasks/core/this_task.hpp"
#include "trimtab/tasks/sync/timer.hpp"

namespace trimtab::parcels {

class job;
class counter_printer;
class load_gossip;
class shared_traffic_steering;
class shared_tuning;
class traffic_recorder;
class traffic_steering;

// One process of a job. A small value; valid while its job is there.
class locality {
 public:
  locality(job& owner, locality_number number) noexcept : m_job(&owner), m_number(number) {}
  locality_number number() const noexcept { return m_number; }
  bool is_here() const noexcept;
  std::string_view host() const noexcept;  // the name of its machine
  std::int64_t process() const noexcept;   // its process id there
  job& owner() const noexcept { return *m_job; }
  bool operator==(const locality& other) const noexcept { return m_number == other.m_number && m_job == other.m_job; }

 private:
  job* m_job;
  locality_number m_number;
};

struct job_options {
  // Where the tasks of calls run, and what receives messages while it has nothing else to do. nullptr: the job makes one,
  // with `runtime`. runtime.print_counters may name counters of messages, too (counters.hpp): the job prints these.
  tasks::runtime* home = nullptr;
  tasks::runtime_options runtime = {};
  // How parcels are coalesced whose action has no settings of its own.
  coalescing standard = {};
  // Whether the settings by which parcels are coalesced are tuned while the program runs. What is not proved to be faster is
  // taken back.
  bool tunes_coalescing = false;
  // Whether calls of async_balanced and post_balanced (balanced.hpp) go to other localities, by their load. All localities
  // must set it. Each then tells others what its load is; without it nothing of this is sent.
  bool shares_load = false;
  load_sharing_options sharing = {};
  // With tunes_coalescing: all localities search the settings of their common traffic together, and keep the same ones. All
  // localities of the job must say the same.
  bool tunes_coalescing_together = false;
  // Communication servers: threads that send small messages for all others, over shared memory and TCP. nullopt: by what
  // `trimtab doctor --network` has measured on this machine, on CPUs that no worker uses; 0 where it has not.
  std::optional<std::uint32_t> servers = {};
  // A longer parcel is refused, in bytes.
  std::size_t most_parcel_bytes = std::size_t{4} << 30;
  // What happens when another locality is lost. Not set: a message, and this process ends with exit status 1. Set: it is
  // called, by whichever thread receives, and calls and collective operations that need that locality throw locality_lost.
  std::function<void(locality_number which, std::string_view reason)> on_lost = {};
  // How long the end waits for messages to leave, in ns.
  std::uint64_t patience_ns = 60'000'000'000;
};

class job {
 public:
  // Takes part in the job that this process was started for (by `trimtab launch`, mpirun or srun); a process started alone
  // is a job of one locality. Throws std::runtime_error, which says what is wrong or who did not come.
  explicit job(const job_options& options = {});
  // Over a transport of the program's own; nullptr: a job of one locality.
  job(std::unique_ptr<transport> link, const job_options& options = {});
  // Collective: waits until all localities come here and what was posted has been handled. If an exception has left the
  // block, it waits for nobody: the others lose this locality.
  ~job();
  job(const job&) = delete;
  job& operator=(const job&) = delete;

  // The one that was made last and is still there. Throws std::logic_error if there is none.
  static job& current();

  std::uint32_t size() const noexcept { return m_size; }
  locality here() noexcept { return {*this, m_number}; }
  // Throws std::out_of_range.
  locality at(locality_number number);
  std::vector<locality> localities();  // all, in order

  tasks::runtime& home() noexcept { return *m_home; }

  // Collective operations: see collectives.hpp.
  void barrier();
  template <class value>
  value broadcast(value own, locality_number root = 0) {
    return m_size == 1 ? own : m_collectives->broadcast(std::move(own), root);
  }
  template <class value, class function>
  value reduce(value own, function&& combine, locality_number root = 0) {
    return m_size == 1 ? own : m_collectives->reduce(std::move(own), std::forward<function>(combine), root);
  }
  template <class value, class function>
  value all_reduce(value own, function&& combine) {
    return m_size == 1 ? own : m_collectives->all_reduce(std::move(own), std::forward<function>(combine));
  }
  // The values of all localities, in their order, on `root`; nothing on others.
  template <class value>
  std::vector<value> gather(value own, locality_number root = 0) {
    if (m_collectives != nullptr) return m_collectives->gather(std::move(own), root);
    std::vector<value> all;
    all.push_back(std::move(own));
    return all;
  }
  // The same, on all.
  template <class value>
  std::vector<value> all_gather(value own) {
    return m_size == 1 ? gather(std::move(own)) : m_collectives->all_gather(std::move(own));
  }
  // Collective: returns when no locality has a task, except callers of this function, and no parcel is on its way. By two
  // equal counts in a row: F. Mattern, "Algorithms for distributed termination detection" (Distributed Computing 2, 1987),
  // section 4, the four-counter method.
  void wait_until_quiet();

  // What this locality knows now of the load of all, in their order. From any thread. Without shares_load: only of itself.
  std::vector<known_load> view() const;
  // A value of the program, which the others see in their view some milliseconds later. index: below sharing.values, else
  // std::out_of_range; a value that is not finite: std::invalid_argument. From any thread.
  void set_value(std::uint32_t index, double value);
  // A locality that is drawn at random, in inverse proportion to its load: for one task that can run now, which counts as
  // sent there. Without shares_load: this one.
  locality choose_by_load();

  // How parcels are coalesced that this locality sends, from now on, whose action has no settings of its own. From then on
  // that is not tuned.
  void set_coalescing(const coalescing& settings);
  // A phase of the program begins on this locality: under `trimtab run`, what it sends from now on is also reported under
  // this name, with what others send in phases of the same name. Of the longer ones, the first 100 bytes count. Costs some
  // microseconds there, and elsewhere nothing.
  void begin_phase(std::string_view name);
  // Sends what waits in queues now, to all localities.
  void flush();

  // nullptr: a job of one locality has no messages.
  dispatcher* messages() noexcept { return m_messages.get(); }
  const dispatcher* messages() const noexcept { return m_messages.get(); }
  // The communication servers, to be enabled, disabled, or given other numbers and settings while the program runs. nullptr:
  // the job was opened without any.
  served_transport* servers() noexcept { return m_servers; }
  // Of this locality that others can reach; also in a job of one locality.
  object_table& objects() noexcept { return *m_objects; }
  // What all localities search together: see tuned_together.hpp.
  const std::shared_ptr<shared_tuning>& tuning() const noexcept { return m_tuning; }

 private:
  struct from_environment {};
  job(from_environment, struct opened_job opened);
  void open(std::unique_ptr<transport> link);
  void on_gone(locality_number which, std::string_view reason);
  void end_traffic();
  void end_alone();
  void finish();
  bool is_quiet(struct quiet_wave& last, std::uint64_t own_tasks);

  job_options m_options;
  std::unique_ptr<tasks::runtime> m_own_runtime;
  tasks::runtime* m_home = nullptr;
  std::uint32_t m_size = 1;
  locality_number m_number = 0;
  std::shared_ptr<exchange> m_traffic;      // the runtime has it, too
  served_transport* m_servers = nullptr;    // of the exchange
  std::shared_ptr<object_table> m_objects;  // the dispatcher has it, too
  std::shared_ptr<dispatcher> m_messages;
  std::unique_ptr<collectives> m_collectives;
  std::shared_ptr<counter_printer> m_printer;                  // nullptr: nothing is printed
  std::shared_ptr<traffic_recorder> m_recorder;                // nullptr: the process is not watched
  std::shared_ptr<shared_tuning> m_tuning;                     // the dispatcher has it, too
  std::shared_ptr<traffic_steering> m_steering;                // nullptr: nothing is tuned
  std::shared_ptr<shared_traffic_steering> m_shared_steering;  // likewise
  std::shared_ptr<load_gossip> m_sharing;                      // nullptr: load is not shared; the dispatcher has it, too
  mutable base::spin_lock m_values_lock;
  std::vector<double> m_values;  // of the program, where load is not shared
  std::atomic<bool> m_is_finishing{false};
  int m_exceptions;
};

// Of the current job.
inline locality find_here() { return job::current().here(); }
inline std::vector<locality> find_all_localities() { return job::current().localities(); }

namespace detail {

// A function, or a lambda without captures.
template <class function>
concept action_function =
    requires(function f) { *+f; } && std::is_function_v<std::remove_reference_t<decltype(*+std::declval<function>())>>;

template <class returned, class... parameters>
constexpr remote_call<returned, parameters...> call_of(returned (*)(parameters...)) {
  return {};
}
template <class returned, class... parameters>
constexpr remote_call<returned, parameters...> call_of(returned (*)(parameters...) noexcept) {
  return {};
}

dispatcher& messages_to(locality where);

}  // namespace detail

// Runs f(arguments...) as a task on that locality. f: a function of the program or of a library that all have loaded, or a
// lambda without captures. Arguments and result are copied or moved there (archive.hpp). If f returns a future, its value is
// the result. The future throws what f has thrown (exceptions.hpp), or locality_lost.
template <detail::action_function function, class... arguments>
auto async(locality where, function f, arguments&&... inputs) {
  using call = decltype(detail::call_of(+f));
  if (where.is_here()) return tasks::future<typename call::result>(tasks::async(+f, std::forward<arguments>(inputs)...));
  return call::async(detail::messages_to(where), where.number(), +f, std::forward<arguments>(inputs)...);
}

// The same without a result. An exception that leaves f ends the process there.
template <detail::action_function function, class... arguments>
void post(locality where, function f, arguments&&... inputs) {
  using call = decltype(detail::call_of(+f));
  if (where.is_here()) return tasks::post(+f, std::forward<arguments>(inputs)...);
  call::post(detail::messages_to(where), where.number(), +f, std::forward<arguments>(inputs)...);
}

// How parcels of f are coalesced that this locality sends, from now on; nullopt: like all others.
template <detail::action_function function>
void set_coalescing(function f, const std::optional<coalescing>& settings) {
  decltype(detail::call_of(+f))::action_of(+f).set(settings.value_or(coalescing{}), settings.has_value());
}

}  // namespace trimtab::parcels
