#include "accounting/waits.hpp"

#include <algorithm>

namespace trimtab::openmp {

using observe::event_kind;
using observe::metric;
using observe::profile_row;
using observe::subject_kind;
using observe::the_recorder;
namespace lock_fields = observe::lock_fields;
namespace single_fields = observe::single_fields;

namespace {

constexpr double contended_ns = 1000;

// 16 bits that tell locks apart, as far as there are few; 0: not known.
std::uint16_t lock_number(const void* address) noexcept {
  constexpr std::uint64_t golden_ratio = 0x9E3779B97F4A7C15;
  const auto number = static_cast<std::uint16_t>(reinterpret_cast<std::uintptr_t>(address) * golden_ratio >> 48U);
  return number == 0 ? 1 : number;
}

}  // namespace

wait::wait(subject_kind kind, observe::wait_kind reason, const void* place, const char* source) noexcept
    : m_is_on(lookup(m_context) && !is_left_to_sample(*m_context.state, reason)),
      m_kind(kind),
      m_why(reason),
      m_place(place),
      m_source(source) {
  if (!m_is_on) return;
  task_sampling& sampling = m_context.state->sampling;
  if (reason == observe::wait_kind::taskwait && sampling.now.is_inside) {
    m_is_in_stretch = sampling.has_waits = true;
    sampling.open_waits += 1;
    sampling.wait_row = count_wait(m_context, kind, reason, place, source);
    m_is_on = !sampling.now.is_untimed;
    if (!m_is_on) return;
  }
  m_credit = m_context.state->task_credit;
  m_context.state->task_credit = 0;
  m_begin = base::now();
}

wait::~wait() {
  if (m_is_in_stretch && observe::t_lane == m_context.on) m_context.state->sampling.open_waits -= 1;
  if (!m_is_on || observe::t_lane != m_context.on) return;
  const ticks now = base::now(), took = now - m_begin;
  lane_state& state = *m_context.state;
  const ticks waited = took > state.task_credit ? took - state.task_credit : 0;
  state.task_credit = m_credit;
  if (m_why == observe::wait_kind::taskwait) state.sampling.now.waited += waited;
  if (m_is_in_stretch) {  // which is divided as a whole
    m_context.on->count_hook(2);
    return;
  }
  const bool is_in_known_region = state.innermost != nullptr && is_sampled(m_why);
  const std::uint32_t region = is_in_known_region ? state.region : region_of_construct(state);
  const std::uint32_t subject = subject_at(state, {m_kind, m_place, region, true, 0, m_source});
  const std::uint64_t instance = state.innermost == nullptr ? 0 : state.innermost->instance;
  if (state.innermost != nullptr) state.idle += waited;
  lane::add(m_context.on->own_row(subject, metric::wait, region, static_cast<std::uint16_t>(m_why)), waited);
  // In a trace tasks lie inside it: the event has all of its time.
  m_context.on->record(event_kind::wait, subject, static_cast<std::uint16_t>(m_why), took, instance, m_begin);
  m_context.on->count_hook(2);
}

profile_row* count_wait(const lane_context& context, subject_kind kind, observe::wait_kind reason, const void* place,
                        const char* source) noexcept {
  const std::uint32_t region = region_of_construct(*context.state);
  const auto flags = static_cast<std::uint16_t>(reason);
  profile_row* const row = row_of(context, {kind, place, true, region, metric::wait, region, flags}, source);
  if (row != nullptr) lane::count(row);
  return row;
}

bool is_sampled(observe::schedule schedule_kind) noexcept {
  return schedule_kind == observe::schedule::static_ || schedule_kind == observe::schedule::static_chunked;
}

bool is_sampled(observe::wait_kind reason) noexcept { return reason == observe::wait_kind::reduction; }

bool is_left_to_sample(const lane_state& state, observe::wait_kind reason) noexcept {
  return is_sampled(reason) && state.innermost == nullptr && is_in_untimed(state);
}

bool is_left_to_sample(const lane_state& state, observe::schedule schedule_kind) noexcept {
  return state.innermost == nullptr && is_sampled(schedule_kind) && is_in_untimed(state);
}

void lock_entered(const lane_context& context, ticks begin, const void* lock) noexcept {
  lane_state& state = *context.state;
  const ticks now = base::now();
  if (state.innermost != nullptr) state.idle += now - begin;
  if (state.locks < lane_state::max_locks) {
    state.lock_taken[state.locks] = now;
    state.lock_waited[state.locks] = now - begin;
    state.lock_address[state.locks] = lock;
  }
  state.locks += 1;
  context.on->count_hook(2);
}

void lock_left(const lane_context& context, const void* place, subject_kind kind) noexcept {
  lane_state& state = *context.state;
  if (state.locks == 0) return;
  state.locks -= 1;
  if (state.locks >= lane_state::max_locks) return;
  const ticks lock_ticks = state.lock_taken[state.locks];
  const ticks waited = state.lock_waited[state.locks];
  const ticks held = base::now() - lock_ticks;
  const std::uint32_t region = region_of_construct(state);
  const std::uint32_t subject = subject_at(state, {kind, place, region});
  if (profile_row* const row = context.on->own_row(subject, metric::lock, region)) {
    lane::add(row, waited);
    row->x[lock_fields::held] += held;
    if (static_cast<double>(waited) > the_recorder.ticks_of_ns(contended_ns)) row->x[lock_fields::contended] += 1;
  }
  context.on->record(event_kind::lock, subject, lock_number(state.lock_address[state.locks]), held, waited, lock_ticks);
  context.on->count_hook(1);
}

void omp_lock_taken(const lane_context& context, const void* place, const void* lock, lock_type type) noexcept {
  lane_state& state = *context.state;
  held_lock* const begin = state.held_locks;
  held_lock* const end = begin + state.held_count;
  held_lock* const entry = std::find_if(begin, end, [&](const held_lock& held) { return held.address == lock; });
  if (entry != end && type == lock_type::nestable) {
    entry->depth += 1;
    return;
  }
  if (entry == begin + lane_state::max_locks) return;
  const std::uint32_t subject = subject_at(state, {subject_kind::lock, place, region_of_construct(state), true, 0, nullptr});
  // A simple lock that the lane has already was left by another lane, which may do so.
  *entry = {lock, subject, 1, base::now()};
  if (entry == end) state.held_count += 1;
  context.on->count_hook(1);
}

void omp_lock_left(const lane_context& context, const void* lock) noexcept {
  lane_state& state = *context.state;
  for (std::uint32_t i = state.held_count; i-- > 0;) {
    held_lock& held = state.held_locks[i];
    if (held.address != lock) continue;
    if (--held.depth > 0) return;
    context.on->record(event_kind::lock, held.subject, lock_number(lock), base::now() - held.taken, 0, held.taken);
    context.on->count_hook(1);
    for (std::uint32_t next = i + 1; next < state.held_count; ++next) state.held_locks[next - 1] = state.held_locks[next];
    state.held_count -= 1;
    return;
  }
}

void single_passed(const lane_context& context, const void* place, bool is_executed) noexcept {
  const std::uint32_t region = region_of_construct(*context.state);
  const std::uint32_t subject = subject_at(*context.state, {subject_kind::single, place, region});
  if (profile_row* const row = context.on->own_row(subject, metric::single, region)) {
    row->count += 1;
    if (is_executed) row->x[single_fields::executed] += 1;
  }
  if (!the_recorder.traces()) return;
  context.on->record(event_kind::single, subject, is_executed ? 1 : 0, 0, 0, base::now());
  context.on->count_hook(1);
}

}  // namespace trimtab::openmp
