// Explicit tasks without touching their data: a fixed set of functions, each bound at first sight to one task
// function of the program, which it calls between two stamps. A program has few task functions; beyond the
// set, tasks are counted where they are created and run untimed.
#include <array>
#include <cstddef>
#include <utility>

#include "team.hpp"

namespace trimtab::openmp {

namespace {

constexpr std::size_t thunks = 256;

std::atomic<void*> gomp_functions[thunks];
std::atomic<void*> kmp_functions[thunks];

// A task's execution on the calling lane. Its time counts as work: of the wait that runs it, or, in a join's
// barrier, of the part just ended, which the lane enters again for as long. Tasks inside it count with it.
class execution {
 public:
  explicit execution(const void* function) noexcept : m_is_on(find_here(m_here)) {
    if (!m_is_on) return;
    lane_state& state = *m_here.state;
    const bool is_late = state.ended.is_unjoined();
    m_subject = observe::the_recorder.subject(observe::subject_kind::task, function, false, 0,
                                              is_late ? state.ended.of->subject : state.region);
    m_is_on = m_subject != no_subject;
    if (!m_is_on) return;
    m_credit = state.task_credit;
    if (is_late) enter_ended_part(state);
    m_here.on->task_begin(m_subject, 0, base::now());
  }
  ~execution() {
    if (!m_is_on || observe::t_lane != m_here.on) return;
    lane_state& state = *m_here.state;
    const ticks inclusive = m_here.on->task_end(m_subject, 0, base::now());
    m_here.on->count_hook(2);
    // Waits inside the task were already taken off the part's work.
    state.task_credit = m_credit + inclusive;
    if (m_late.slot != nullptr) leave_ended_part(state, inclusive);
  }
  execution(const execution&) = delete;
  execution& operator=(const execution&) = delete;

 private:
  void enter_ended_part(lane_state& state) noexcept {
    m_late = state.ended;
    m_outer_team = state.innermost;
    m_outer_region = state.region;
    m_outer_idle = state.idle;
    m_outer_loop = state.loop;
    state.ended = {};
    state.innermost = m_late.of;
    state.region = m_late.of->subject;
    state.idle = 0;
    state.loop.row = nullptr;
  }
  void leave_ended_part(lane_state& state, ticks inclusive) noexcept {
    m_late.slot->late_work += inclusive > state.idle ? inclusive - state.idle : 0;
    state.ended = m_late;
    state.innermost = m_outer_team;
    state.region = m_outer_region;
    state.idle = m_outer_idle;
    state.loop = m_outer_loop;
  }

  here m_here{};
  bool m_is_on;
  std::uint32_t m_subject = no_subject;
  ticks m_credit = 0;
  ended_part m_late;
  team* m_outer_team = nullptr;
  std::uint32_t m_outer_region = no_subject;
  ticks m_outer_idle = 0;
  open_loop m_outer_loop;
};

template <std::size_t index>
void gomp_thunk(void* data) {
  const auto function = reinterpret_cast<gomp_function>(gomp_functions[index].load(std::memory_order_relaxed));
  execution timed(reinterpret_cast<const void*>(function));
  function(data);
}

template <std::size_t index>
std::int32_t kmp_thunk(std::int32_t thread, void* task) {
  const auto function = reinterpret_cast<kmp_task_function>(kmp_functions[index].load(std::memory_order_relaxed));
  execution timed(reinterpret_cast<const void*>(function));
  return function(thread, task);
}

template <std::size_t... index>
constexpr auto make_gomp(std::index_sequence<index...>) {
  return std::array<gomp_function, sizeof...(index)>{gomp_thunk<index>...};
}
template <std::size_t... index>
constexpr auto make_kmp(std::index_sequence<index...>) {
  return std::array<kmp_task_function, sizeof...(index)>{kmp_thunk<index>...};
}

constexpr auto gomp_table = make_gomp(std::make_index_sequence<thunks>{});
constexpr auto kmp_table = make_kmp(std::make_index_sequence<thunks>{});

// The place of `function` in the table, claimed at first sight; `thunks` when all are taken.
std::size_t place_of(std::atomic<void*>* table, void* function) noexcept {
  const auto start = static_cast<std::size_t>(base::mix_fast(reinterpret_cast<std::uint64_t>(function)));
  for (std::size_t i = 0; i < thunks; ++i) {
    const std::size_t at = (start + i) % thunks;
    void* there = table[at].load(std::memory_order_acquire);
    if (there == nullptr && table[at].compare_exchange_strong(there, function, std::memory_order_acq_rel)) return at;
    if (there == function) return at;
  }
  return thunks;
}

}  // namespace

gomp_function task_thunk(gomp_function function) noexcept {
  const std::size_t at = place_of(gomp_functions, reinterpret_cast<void*>(function));
  return at < thunks ? gomp_table[at] : function;
}

kmp_task_function task_thunk(kmp_task_function function) noexcept {
  const std::size_t at = place_of(kmp_functions, reinterpret_cast<void*>(function));
  return at < thunks ? kmp_table[at] : function;
}

void task_created(const void* function) noexcept {
  here at;
  if (!find_here(at)) return;
  const std::uint32_t subject =
      observe::the_recorder.subject(observe::subject_kind::task, function, false, 0, at.state->region);
  if (observe::profile_row* const row = at.on->own_row(subject, observe::metric::task)) row->x[0] += 1;
  if (!observe::the_recorder.traces()) return;
  at.on->record(observe::event_kind::task_created, subject, 0, 0, 0, base::now());
  at.on->count_hook(1);
}

}  // namespace trimtab::openmp
