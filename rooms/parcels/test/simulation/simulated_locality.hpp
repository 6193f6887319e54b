// A locality in simulated time: the exchange that real jobs have, workers that run tasks, and the exchange's own thread.
//
// A task is a list of steps. A worker calls one step after the other, each in an event of its own:
//
//   locality.add_task({compute(1000), send(1, 32, 16), wait_until([&] { return locality.received() == 32; })});
//
// Threads of one locality take turns with its exchange, as if one lock guarded it: only this keeps its times in order.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "simulation/simulated_thread.hpp"
#include "simulation/simulated_transport.hpp"
#include "trimtab/parcels/coalescing/exchange.hpp"

namespace trimtab::parcels::simulation {

// What things cost on a simulated CPU, in ns.
struct cpu_costs {
  nanoseconds parcel_ns = 50;      // to queue one
  nanoseconds receive_ns = 20;     // to make a task of one
  nanoseconds task_ns = 20;        // to start a task
  nanoseconds look_gap_ns = 50;    // between two looks of an idle worker
  std::uint32_t looks = 1000;      // in vain, until the worker sleeps
  nanoseconds wake_up_ns = 5'000;  // until a thread that sleeps runs
};

class simulated_locality;

enum class progress : std::uint8_t { done, again, waits };
// done: the task's next step comes next. again: the same. waits: the same, after the worker has looked for other work.
using step = std::function<progress(simulated_locality& self, simulated_thread& worker)>;
using task = std::vector<step>;

step compute(nanoseconds duration);
// So many parcels of so many bytes, one after the other.
step send(locality_number to, std::uint64_t parcels, std::size_t bytes);
step wait_until(std::function<bool()> is_over);
step call(std::function<void()> function);

class simulated_locality final : private parcel_sink {
 public:
  using parcel_handler = std::function<void(locality_number from, bytes_view content)>;

  simulated_locality(std::shared_ptr<simulated_network> network, locality_number number, const coalescing& settings,
                     const cpu_costs& costs, std::uint32_t workers);
  ~simulated_locality();

  void add_task(task steps);
  // From a step. Spends what it costs.
  void send_parcel(locality_number to, bytes_view content);
  // The same as a message of its own, without ever waiting. False: too much waits for that locality.
  bool try_send_alone(locality_number to, bytes_view content);
  // On a thread that does nothing else, when it has done what was given before, and not before `time`. It may send.
  void run_beside(std::function<void()> work, nanoseconds time = 0);
  // Tasks that run, and those that wait for a worker; not those that wait for something else.
  std::uint64_t running_and_eligible() const noexcept;
  std::uint64_t finished() const noexcept { return m_finished; }
  // Called for each parcel that arrives. It may add tasks, but not send.
  void set_on_parcel(parcel_handler handler) { m_on_parcel = std::move(handler); }

  exchange& traffic() noexcept { return *m_exchange; }
  locality_number number() const noexcept { return m_exchange->number(); }
  std::uint64_t received() const noexcept { return m_received; }  // parcels
  bool is_overfull(locality_number to) const { return m_exchange->to(to).is_overfull(); }
  event_queue& events() noexcept { return m_events; }
  simulated_thread& worker(std::uint32_t index) noexcept { return m_workers[index]->thread; }

 private:
  struct running_task {
    task steps;
    std::size_t next = 0;
  };
  struct worker_state {
    worker_state(event_queue& events, std::int64_t identity) : thread(events), name(identity) {}
    simulated_thread thread;
    std::int64_t name;  // as the exchange knows it
    std::unique_ptr<running_task> current = {};
    std::uint32_t looks = 0;  // in vain
    bool sleeps = false, is_called = false;
  };
  enum class rest_state : std::uint8_t { awake, naps, sleeps };

  void on_parcel(locality_number from, const parcel_header& header, bytes_view content) noexcept override;
  void on_gone(locality_number, std::string_view) noexcept override {}
  void turn(worker_state& self);
  void run_step(worker_state& self);
  void look(worker_state& self);
  bool take_task(worker_state& self);
  void wake_workers();
  void look_as_own_thread();
  void on_transport_event(bool is_wake);
  void wake_own_thread(nanoseconds time);
  template <class function>
  auto in_exchange(std::int64_t thread, function&& use);

  std::shared_ptr<simulated_network> m_network;
  event_queue& m_events;
  cpu_costs m_costs;
  simulated_transport* m_link = nullptr;  // the exchange's
  std::unique_ptr<exchange> m_exchange;
  std::vector<std::unique_ptr<worker_state>> m_workers;
  simulated_thread m_beside;
  std::deque<std::unique_ptr<running_task>> m_ready, m_waiting;
  parcel_handler m_on_parcel;
  std::uint64_t m_received = 0, m_rest_number = 0, m_finished = 0;
  nanoseconds m_exchange_free_at = 0;
  rest_state m_rest = rest_state::awake;
  bool m_must_wake = false;
};

}  // namespace trimtab::parcels::simulation
