#include "scheduler_places.hpp"

#include <cstdlib>
#include <map>
#include <mutex>
#include <set>
#include <tuple>
#include <utility>

#include "worker_cap.hpp"

namespace trimtab::task_steering {

namespace {

// Of the process. Never destroyed: a runtime may be, after all else.
struct places {
  std::mutex lock;
  std::set<std::uint32_t> taken;
  std::map<std::tuple<std::uint32_t, std::uint32_t, tasks::policy>, std::shared_ptr<scheduler_knob>> knobs;
};

places& all_places() {
  static places& places_made = [&]() -> places& {
    std::atexit([] {
      places& known_places = all_places();
      const std::lock_guard guard(known_places.lock);
      for (const auto& [key, each] : known_places.knobs) each->close();
    });
    return *new places;
  }();
  return places_made;
}

// Between the choice and the companion, which follow one another on the thread that makes the runtime.
thread_local std::unique_ptr<scheduler_lease> chosen;

// A companion that only looks.
class watched_life {
 public:
  watched_life(tasks::runtime& owner_runtime, std::unique_ptr<scheduler_lease> lease)
      : m_of(owner_runtime), m_first(owner_runtime), m_lease(std::move(lease)) {
    m_lease->begun(owner_runtime.recorded_as());
  }
  ~watched_life() { m_lease->ended({figures_of_life(m_of, m_first), {}}); }
  watched_life(const watched_life&) = delete;
  watched_life& operator=(const watched_life&) = delete;

 private:
  tasks::runtime& m_of;
  tasks::snapshot m_first;
  std::unique_ptr<scheduler_lease> m_lease;
};

}  // namespace

scheduler_lease::scheduler_lease(std::uint32_t place, std::shared_ptr<scheduler_knob> knob)
    : m_place(place), m_knob(std::move(knob)), m_under(m_knob->under()), m_policy(m_knob->in_force()) {}

scheduler_lease::~scheduler_lease() {
  places& known_places = all_places();
  const std::lock_guard guard(known_places.lock);
  known_places.taken.erase(m_place);
}

tasks::policy choose_scheduler(const scheduler_request& request, std::uint32_t workers) {
  chosen.reset();  // of a runtime that came to nothing
  places& known_places = all_places();
  const std::lock_guard guard(known_places.lock);
  std::uint32_t place = 1;
  while (known_places.taken.contains(place)) ++place;
  std::shared_ptr<scheduler_knob>& knob = known_places.knobs[{place, workers, request.first}];
  if (knob == nullptr) knob = std::make_shared<scheduler_knob>(place, workers, request, settings_of_earlier_runs());
  chosen = std::make_unique<scheduler_lease>(place, knob);
  known_places.taken.insert(place);
  return chosen->policy();
}

std::unique_ptr<scheduler_lease> chosen_scheduler() noexcept { return std::move(chosen); }

tasks::runtime_options with_known_scheduler(tasks::runtime_options requested_options) {
  requested_options.choose_policy = [](std::uint32_t workers) { return choose_scheduler({}, workers); };
  requested_options.companion = [own = std::move(requested_options.companion)](tasks::runtime& rt) -> std::shared_ptr<void> {
    using pair = std::pair<std::shared_ptr<void>, std::shared_ptr<void>>;
    auto lease = chosen_scheduler();
    std::shared_ptr<void> first = own ? own(rt) : nullptr;
    return std::make_shared<pair>(std::move(first), lease ? std::make_shared<watched_life>(rt, std::move(lease)) : nullptr);
  };
  return requested_options;
}

}  // namespace trimtab::task_steering
