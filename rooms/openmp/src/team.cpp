#include "team.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

#include "trimtab/openmp/openmp.hpp"

namespace trimtab::openmp {

using observe::event_kind;
using observe::metric;
using observe::profile_row;
using observe::subject_kind;
using observe::the_recorder;

std::atomic<bool> is_recording{false};

namespace {

constexpr std::uint64_t contended_ticks_ns = 1000;

lane_state* make_state(lane& on) noexcept {
  void* const memory =
      mmap(nullptr, sizeof(lane_state), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  // Not constructed member by member: the slots are many pages that should stay untouched. All-zero bytes
  // are right for everything but the fields below.
  auto* const state = static_cast<lane_state*>(memory);
  state->owner = &on;
  on.adapter = state;
  return state;
}

// For a thread that takes the lane over: the one before may have ended inside a region (pthread_exit).
void begin_thread(lane_state& state) noexcept {
  state.innermost = nullptr;
  state.region = no_subject;
  state.number = 0;
  state.idle = 0;
  state.task_credit = 0;
  state.ended = {};
  state.inferred = {};
  state.loop = {};
  state.requested_threads = 0;
  state.locks = 0;
  state.serialized = 0;
  state.unbundled = 0;
  state.slots_used = 0;
}

}  // namespace

constinit thread_local lane_state* t_state = nullptr;

bool find_here_slowly(here& found) noexcept {
  lane* const on = observe::this_lane();
  if (on == nullptr) return false;
  auto* state = static_cast<lane_state*>(on->adapter);
  if (state == nullptr) state = make_state(*on);
  if (state == nullptr) return false;
  begin_thread(*state);
  t_state = state;
  found = {on, state};
  return true;
}

std::uint32_t subject_at(subject_kind kind, const void* place, bool is_call, std::uint16_t runtime, std::uint32_t parent,
                         const char* source) noexcept {
  // A call that became a jump: the construct ends its region's function, which is the best place there is.
  if (place == nullptr) {
    here at;
    if (find_here(at) && at.state->innermost != nullptr) place = at.state->innermost->outlined;
    is_call = false;
  }
  if (source == nullptr || source[0] != ';' || std::strncmp(source, ";unknown;", 9) == 0)
    return the_recorder.subject(kind, place, is_call, runtime, parent);
  char file[512] = "", function[256] = "";
  const char* at = source + 1;
  const auto take = [&at](char* into, std::size_t bytes) {
    const char* const end = strchrnul(at, ';');
    const std::size_t length = static_cast<std::size_t>(end - at);
    if (length < bytes) std::memcpy(into, at, length);
    at = *end == '\0' ? end : end + 1;
  };
  take(file, sizeof file);
  take(function, sizeof function);
  return the_recorder.subject_with_source(kind, place, is_call, runtime, parent, file, function,
                                          static_cast<std::uint32_t>(std::strtoul(at, nullptr, 10)));
}

bool fork_team(team& opened, const caller& from, const void* outlined, std::uint32_t most, const char* source) noexcept {
  here at;
  if (!find_here(at)) return false;
  lane_state& state = *at.state;
  opened.forker = at.on;
  opened.forker_state = &state;
  opened.outlined = outlined;
  opened.outer_region = state.region;
  opened.level = state.innermost == nullptr ? 1 : state.innermost->level + 1;
  opened.of = from.of;
  opened.is_gcc = false;
  opened.has_loop = false;
  opened.subject = subject_at(subject_kind::region, outlined, false,
                              from.of == nullptr ? std::uint16_t{0} : runtime_id(*from.of), state.region, source);
  if (opened.subject == no_subject) return false;
  const std::uint32_t room = lane_state::max_slots - state.slots_used;
  opened.slots = state.slots + state.slots_used;
  opened.slot_count = most < room ? most : room;
  std::atomic_ref(state.slots_used).store(state.slots_used + opened.slot_count, std::memory_order_relaxed);
  state.requested_threads = 0;
  opened.outer_ended = state.ended;
  state.ended = {};
  // Unique in the process without asking other lanes: lanes have less than 24 bits.
  opened.instance = (std::uint64_t{at.on->id() + 1u} << 40) | ++state.instances;
  opened.forked_at = base::now();
  at.on->record(event_kind::region_begin, opened.subject, static_cast<std::uint16_t>(opened.level), opened.instance,
                state.innermost == nullptr ? 0 : state.innermost->instance, opened.forked_at);
  if (opened.level == 1) the_recorder.parallel_enter(opened.forked_at);
  return true;
}

void begin_member(member& mine, team& of, std::uint32_t number) noexcept {
  here at;
  mine.on = nullptr;
  if (!find_here(at)) return;
  lane_state& state = *at.state;
  state.ended = {};
  if (number >= of.slot_count) return;
  mine.on = at.on;
  mine.state = &state;
  mine.slot = &of.slots[number];
  mine.outer_team = state.innermost;
  mine.outer_region = state.region;
  mine.outer_number = state.number;
  mine.outer_idle = state.idle;
  mine.outer_loop = state.loop;
  state.innermost = &of;
  thread_uses(of.of);
  state.region = of.subject;
  state.number = number;
  state.idle = 0;
  state.loop.row = nullptr;
  const ticks begin = base::now();
  mine.slot->begin = begin;
  at.on->record(event_kind::work_begin, of.subject, 0, of.instance, number, begin);
  if (of.has_loop) begin_loop(at, of.loop);
}

void end_member(member& mine, team& of) noexcept {
  // A child that was forked inside the region has lanes of its own, and must not write into its parent's.
  if (mine.on == nullptr || observe::t_lane != mine.on) return;
  lane_state& state = *mine.state;
  end_loop({mine.on, &state});
  const ticks end = base::now();
  member_slot& slot = *mine.slot;
  slot.end = end;
  slot.idle = state.idle;
  slot.late_work = 0;
  slot.lane = mine.on->id();
  slot.instance = of.instance;
  mine.on->record(event_kind::work_end, of.subject, 0, of.instance, state.idle, end);
  mine.on->count_hook(2);
  state.innermost = mine.outer_team;
  state.region = mine.outer_region;
  state.number = mine.outer_number;
  state.idle = mine.outer_idle;
  state.loop = mine.outer_loop;
  state.task_credit = 0;
  state.ended = {&slot, &of, of.instance, of.forker_state};
}

void join_team(team& joined) noexcept {
  lane& forker = *joined.forker;
  lane_state& state = *joined.forker_state;
  // Also frees the slots of inner teams that never joined.
  std::atomic_ref(state.slots_used).store(static_cast<std::uint32_t>(joined.slots - state.slots), std::memory_order_relaxed);
  state.ended = joined.outer_ended;
  // A child of a fork inside the region: its recorder is another, and the parent joins for the parent.
  if (observe::t_lane != &forker) return;
  const ticks end = base::now();
  const ticks wall = end - joined.forked_at;
  // Other cores wrote the slots: have them come while we do what needs none of them.
  const std::uint32_t ahead = joined.slot_count < 16 ? joined.slot_count : 16;
  for (std::uint32_t i = 1; i < ahead; ++i) __builtin_prefetch(&joined.slots[i]);
  if (joined.level == 1) the_recorder.parallel_leave(end);
  ticks most_work = 0, all_work = 0, forkers_work = 0;
  std::uint32_t threads = 0;
  for (std::uint32_t i = 0; i < joined.slot_count; ++i) {
    const member_slot& slot = joined.slots[i];
    // Teams are filled from number 0: the first slot of another instance ends the team.
    if (slot.instance != joined.instance) break;
    const ticks inside = slot.end - slot.begin;
    const ticks idle = slot.idle < inside ? slot.idle : inside;
    const ticks work = inside - idle + slot.late_work;
    const ticks after = end > slot.end ? end - slot.end : 0;
    threads += 1;
    all_work += work;
    if (work > most_work) most_work = work;
    if (i == 0) forkers_work = work;
    profile_row* const row = forker.row(joined.subject, metric::team, slot.lane, joined.outer_region);
    if (row == nullptr) continue;
    lane::add(row, work);
    row->x[0] += after > slot.late_work ? after - slot.late_work : 0;
    row->x[1] += slot.begin > joined.forked_at ? slot.begin - joined.forked_at : 0;
    row->x[2] += idle;
  }
  if (profile_row* const row = forker.row(joined.subject, metric::region, forker.id(), joined.outer_region)) {
    lane::add(row, wall);
    row->x[0] += threads;
    if (threads > row->x[1]) row->x[1] = threads;
    row->x[2] += most_work;
    row->x[3] += threads == 0 ? 0 : all_work / threads;
  }
  forker.record(event_kind::region_end, joined.subject, static_cast<std::uint16_t>(joined.level), joined.instance, threads,
                end);
  forker.count_hook(2);
  if (joined.level != 1) state.idle += wall > forkers_work ? wall - forkers_work : 0;
}

wait::wait(subject_kind kind, observe::wait_kind why, const void* place, const char* source) noexcept
    : m_is_on(find_here(m_here)), m_kind(kind), m_why(why), m_place(place), m_source(source) {
  if (!m_is_on) return;
  m_credit = m_here.state->task_credit;
  m_here.state->task_credit = 0;
  m_begin = base::now();
}

wait::~wait() {
  if (!m_is_on || observe::t_lane != m_here.on) return;
  const ticks took = base::now() - m_begin;
  lane_state& state = *m_here.state;
  const ticks waited = took > state.task_credit ? took - state.task_credit : 0;
  state.task_credit = m_credit;
  const std::uint32_t subject = subject_at(m_kind, m_place, true, 0, state.region, m_source);
  const std::uint64_t instance = state.innermost == nullptr ? 0 : state.innermost->instance;
  if (state.innermost != nullptr) state.idle += waited;
  lane::add(m_here.on->own_row(subject, metric::wait, state.region, static_cast<std::uint16_t>(m_why)), waited);
  m_here.on->record(event_kind::wait, subject, static_cast<std::uint16_t>(m_why), waited, instance, m_begin);
  m_here.on->count_hook(2);
}

void begin_loop(const here& at, const loop_start& what, const char* source) noexcept {
  lane_state& state = *at.state;
  end_loop(at);
  open_loop& loop = state.loop;
  // A loop of the fork call itself has no call of its own: it stands where the region's function stands.
  const bool is_call = state.innermost == nullptr || what.place != state.innermost->outlined;
  loop.subject = subject_at(subject_kind::loop, what.place, is_call, 0, state.region, source);
  loop.row = at.on->own_row(loop.subject, metric::loop, state.region, static_cast<std::uint16_t>(what.schedule));
  loop.schedule = what.schedule;
  loop.increment = what.increment == 0 ? 1 : what.increment;
  loop.iterations = 0;
  loop.chunks = 0;
  loop.dimensions = 0;
  if (loop.row == nullptr) return;
  loop.row->x[2] = what.chunk;
  loop.row->x[3] = what.trip;
  loop.begin = base::now();
}

void take_chunk(const here& at, std::int64_t first, std::uint64_t count) noexcept {
  open_loop& loop = at.state->loop;
  if (loop.row == nullptr || count == 0) return;
  loop.iterations += count;
  loop.chunks += 1;
  if (!the_recorder.traces()) return;
  at.on->record(event_kind::chunk, loop.subject, static_cast<std::uint16_t>(loop.schedule), count,
                static_cast<std::uint64_t>(first), base::now());
  at.on->count_hook(1);
}

void end_loop(const here& at) noexcept {
  open_loop& loop = at.state->loop;
  if (loop.row == nullptr) return;
  const ticks took = base::now() - loop.begin;
  lane::add(loop.row, took);
  loop.row->x[0] += loop.iterations;
  loop.row->x[1] += loop.chunks;
  at.on->record(event_kind::loop, loop.subject, static_cast<std::uint16_t>(loop.schedule), took, loop.iterations,
                loop.begin);
  at.on->count_hook(2);
  loop.row = nullptr;
}

void inferred_loop_passed(const here& at, const void* place) noexcept {
  inferred_loop& known = at.state->inferred;
  if (known.place != place || known.region != at.state->region) {
    const std::uint32_t region = at.state->region;
    const std::uint32_t subject = subject_at(subject_kind::loop, place, true, 0, region, nullptr);
    known = {place, region,
             at.on->own_row(subject, metric::loop, region, static_cast<std::uint16_t>(observe::schedule::static_inferred))};
    if (known.row != nullptr) known.row->x[3] = observe::unknown;
  }
  if (known.row != nullptr) known.row->count += 1;
}

void lock_entered(const here& at, ticks asked) noexcept {
  lane_state& state = *at.state;
  const ticks now = base::now();
  if (state.innermost != nullptr) state.idle += now - asked;
  if (state.locks < lane_state::max_locks) {
    state.lock_taken[state.locks] = now;
    state.lock_waited[state.locks] = now - asked;
  }
  state.locks += 1;
  at.on->count_hook(2);
}

void lock_left(const here& at, const void* place, subject_kind kind) noexcept {
  lane_state& state = *at.state;
  if (state.locks == 0) return;
  state.locks -= 1;
  if (state.locks >= lane_state::max_locks) return;
  const ticks taken = state.lock_taken[state.locks];
  const ticks waited = state.lock_waited[state.locks];
  const ticks held = base::now() - taken;
  const std::uint32_t subject = subject_at(kind, place, true, 0, state.region, nullptr);
  if (profile_row* const row = at.on->own_row(subject, metric::lock, state.region)) {
    lane::add(row, waited);
    row->x[0] += held;
    if (static_cast<double>(waited) > the_recorder.ticks_of_ns(contended_ticks_ns)) row->x[1] += 1;
  }
  at.on->record(event_kind::lock, subject, 0, held, waited, taken);
  at.on->count_hook(1);
}

void single_passed(const here& at, const void* place, bool is_executed) noexcept {
  const std::uint32_t subject = subject_at(subject_kind::single, place, true, 0, at.state->region, nullptr);
  if (profile_row* const row = at.on->own_row(subject, metric::single, at.state->region)) {
    row->count += 1;
    if (is_executed) row->x[0] += 1;
  }
  if (!the_recorder.traces()) return;
  at.on->record(event_kind::single, subject, is_executed ? 1 : 0, 0, 0, base::now());
  at.on->count_hook(1);
}

void attach() noexcept {
  is_recording.store(the_recorder.level() >= observe::record_level::profile, std::memory_order_release);
}

void detach() noexcept {
  if (is_recording.load(std::memory_order_relaxed) && the_recorder.lanes() == 0 && is_any_runtime_loaded())
    the_recorder.unavailable("OpenMP regions",
                             "an OpenMP runtime is loaded but no region of it was seen: the program forms no team, "
                             "or reaches the runtime in a way that cannot be watched (RTLD_DEEPBIND, a static runtime)",
                             "link the runtime dynamically");
}

void after_fork() noexcept { runtimes_after_fork(); }

}  // namespace trimtab::openmp
