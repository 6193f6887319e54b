#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

#include "ompt.hpp"
#include "outermost.hpp"
#include "trimtab/openmp/openmp.hpp"

namespace trimtab::openmp {

using observe::event_kind;
using observe::metric;
using observe::profile_row;
using observe::subject_kind;
using observe::the_recorder;

std::atomic<bool> is_recording{false};
std::atomic<std::uint32_t> places_generation{1};

namespace {

constexpr std::uint64_t contended_ticks_ns = 1000;
// Regions shorter than this are accounted later: a program that is killed loses no more than one of them a lane.
constexpr double put_off_below_ns = 20'000;
ticks put_off_below = 0;

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
  account_joined(state);
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
  state.undeferred = 0;
  state.created_subject = no_subject;
  state.taskloop_subject = no_subject;
  state.scheduled_task = 0;
  state.begun_task = 0;
  state.teams_asked = 0;
  state.slots_used = 0;
  state.is_outermost_open.store(false, std::memory_order_relaxed);
  state.has_large_teams.store(false, std::memory_order_relaxed);
}

// source: ";file;function;line;column;;", or what says nothing.
std::uint32_t subject_with_source(subject_kind kind, const void* place, bool is_call, std::uint16_t runtime,
                                  std::uint32_t parent, const char* source) noexcept {
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

std::size_t index_of(const void* place) noexcept {
  return base::mix_fast(reinterpret_cast<std::uintptr_t>(place)) % lane_state::max_known;
}

// The row of the region's part on that lane.
profile_row* member_row(lane& forker, known_region& region, std::uint32_t about) noexcept {
  const std::uint32_t i = about % known_region::max_members;
  if (region.members[i] == about + 1) [[likely]]
    return region.member_rows[i];
  profile_row* const row = forker.row(region.subject, metric::team, about, region.outer_region);
  region.members[i] = about + 1;
  region.member_rows[i] = row;
  return row;
}

// What member `number` left. Teams are filled from number 0: the first that left nothing ends the team.
const member_slot* part_of(lane_state& state, const joined_team& joined, std::uint32_t number) noexcept {
  if (joined.slots != nullptr) {
    const member_slot& slot = joined.slots[number];
    return slot.instance == joined.instance ? &slot : nullptr;
  }
  std::uint8_t& turn = state.ring_turns[number];
  for (std::uint32_t i = 0; i < part_ring::size; ++i) {
    member_slot& slot = state.rings[number].parts[turn];
    turn = (turn + 1) % part_ring::size;
    // Where no member of that number was, one of the region now under way may just be writing: then `end` is an old one.
    const ticks begin = std::atomic_ref(slot.begin).load(std::memory_order_relaxed);
    const ticks end = std::atomic_ref(slot.end).load(std::memory_order_relaxed);
    if (begin >= joined.forked_at && begin <= end && end <= joined.end) return &slot;
  }
  return nullptr;
}

// Writes the rows of all members. Returns the forker's work.
ticks account(lane_state& state, const joined_team& joined) noexcept {
  lane& forker = *state.owner;
  known_region* region = &state.regions[index_of(joined.outlined)];
  known_region again;
  // Another region has taken its place in the table, or its code was unloaded.
  if (region->outlined != joined.outlined || region->subject != joined.subject ||
      region->outer_region != joined.outer_region) {
    again = {};
    again.subject = joined.subject;
    again.outer_region = joined.outer_region;
    again.row = forker.row(joined.subject, metric::region, forker.id(), joined.outer_region);
    region = &again;
  }
  ticks most_work = 0, all_work = 0, forkers_work = 0;
  std::uint32_t threads = 0;
  for (std::uint32_t i = 0; i < joined.slot_count; ++i) {
    const member_slot* const found = part_of(state, joined, i);
    if (found == nullptr) break;
    const member_slot& slot = *found;
    const ticks inside = slot.end - slot.begin;
    const ticks idle = slot.idle < inside ? slot.idle : inside;
    const ticks work = inside - idle + slot.late_work;
    const ticks after = joined.end > slot.end ? joined.end - slot.end : 0;
    threads += 1;
    all_work += work;
    if (work > most_work) most_work = work;
    if (i == 0) forkers_work = work;
    profile_row* const row = member_row(forker, *region, slot.lane);
    if (row == nullptr) continue;
    lane::add(row, work);
    row->x[0] += after > slot.late_work ? after - slot.late_work : 0;
    row->x[1] += slot.begin > joined.forked_at ? slot.begin - joined.forked_at : 0;
    row->x[2] += idle;
  }
  if (profile_row* const row = region->row) {
    lane::add(row, joined.end - joined.forked_at);
    row->x[0] += threads;
    if (threads > row->x[1]) row->x[1] = threads;
    row->x[2] += most_work;
    row->x[3] += threads < 2 ? all_work : threads == 2 ? all_work / 2 : all_work / threads;  // a division is slow
  }
  // Unless the ring has come round.
  observe::event& end = *joined.end_event;
  if (end.kind == static_cast<std::uint16_t>(event_kind::region_end) && end.a == joined.instance) end.b = threads;
  return forkers_work;
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

std::uint32_t subject_at(lane_state& state, subject_kind kind, const void* place, bool is_call, std::uint16_t runtime,
                         std::uint32_t parent, const char* source) noexcept {
  // A call that became a jump: the construct ends its region's function, which is the best place there is.
  if (place == nullptr) {
    if (state.innermost != nullptr) place = state.innermost->outlined;
    is_call = false;
  }
  known_place& known = state.places[index_of(place)];
  const std::uint32_t generation = places_generation.load(std::memory_order_relaxed);
  if (known.place == place && known.kind == kind && known.generation == generation) [[likely]]
    return known.subject;
  const std::uint32_t subject = subject_with_source(kind, place, is_call, runtime, parent, source);
  if (subject != no_subject) known = {place, kind, generation, subject};
  return subject;
}

known_region* region_at(lane_state& state, runtime* of, const void* outlined, std::uint32_t outer_region,
                        const char* source) noexcept {
  known_region& known = state.regions[index_of(outlined)];
  const std::uint32_t generation = places_generation.load(std::memory_order_relaxed);
  if (known.outlined == outlined && known.of == of && known.outer_region == outer_region && known.generation == generation)
      [[likely]]
    return &known;
  const std::uint32_t subject = subject_at(state, subject_kind::region, outlined, false,
                                           of == nullptr ? std::uint16_t{0} : runtime_id(*of), outer_region, source);
  if (subject == no_subject) return nullptr;
  known = {};
  known.outlined = outlined;
  known.of = of;
  known.outer_region = outer_region;
  known.generation = generation;
  known.subject = subject;
  known.row = state.owner->row(subject, metric::region, state.owner->id(), outer_region);
  return &known;
}

void begin_region(const here& at, team& opened, const caller& from, const void* outlined, const known_region& region,
                  std::uint32_t level) noexcept {
  lane_state& state = *at.state;
  state.requested_threads = 0;
  opened.outer_ended = state.ended;
  state.ended = {};
  // Unique in the process without asking other lanes: lanes have less than 24 bits.
  const std::uint64_t instance = (std::uint64_t{at.on->id() + 1u} << 40) | ++state.instances;
  const ticks forked_at = base::now();
  // Before the stores to what members share: a locked instruction waits for all stores that stand before it.
  if (level == 1) the_recorder.parallel_enter(forked_at);
  at.on->record(event_kind::region_begin, region.subject, static_cast<std::uint16_t>(level), instance,
                state.innermost == nullptr ? 0 : state.innermost->instance, forked_at);
  opened.outlined = outlined;
  opened.of = from.of;
  opened.instance = instance;
  opened.subject = region.subject;
  opened.level = level;
  opened.is_gcc = false;
  opened.has_loop = false;
  opened.forker_state = &state;
  opened.forker = at.on;
  opened.forked_at = forked_at;
  opened.outer_region = state.region;
}

void end_region(team& joined, const member_slot* slots) noexcept {
  lane& forker = *joined.forker;
  lane_state& state = *joined.forker_state;
  state.ended = joined.outer_ended;
  // A child of a fork inside the region: its recorder is another, and the parent joins for the parent.
  if (observe::t_lane != &forker) return;
  const ticks end = base::now();
  const ticks wall = end - joined.forked_at;
  if (joined.level == 1) the_recorder.parallel_leave(end);
  forker.record(event_kind::region_end, joined.subject, static_cast<std::uint16_t>(joined.level), joined.instance, 0, end);
  forker.count_hook(2);
  account_joined(state);
  // Filled in place: copying what was just stored piece by piece would wait for the stores.
  joined_team& done = state.unaccounted;
  done.instance = joined.instance;
  done.outlined = joined.outlined;
  done.subject = joined.subject;
  done.slots = slots;
  done.slot_count = joined.slot_count;
  done.outer_region = joined.outer_region;
  done.forked_at = joined.forked_at;
  done.end = end;
  done.end_event = forker.last_event();
  if (slots == nullptr && wall < put_off_below) return;
  const ticks forkers_work = account(state, done);
  done.instance = 0;
  if (joined.level != 1) state.idle += wall > forkers_work ? wall - forkers_work : 0;
}

bool fork_team(team& opened, const caller& from, const void* outlined, std::uint32_t most, const char* source) noexcept {
  here at;
  if (!find_here(at)) return false;
  lane_state& state = *at.state;
  const known_region* const region = region_at(state, from.of, outlined, state.region, source);
  if (region == nullptr) return false;
  begin_region(at, opened, from, outlined, *region, state.innermost == nullptr ? 1 : state.innermost->level + 1);
  const std::uint32_t room = lane_state::max_slots - state.slots_used;
  opened.slots = state.slots + state.slots_used;
  opened.slot_count = most < room ? most : room;
  std::atomic_ref(state.slots_used).store(state.slots_used + opened.slot_count, std::memory_order_relaxed);
  return true;
}

void join_team(team& joined) noexcept {
  lane_state& state = *joined.forker_state;
  // Also frees the slots of inner teams that never joined.
  std::atomic_ref(state.slots_used).store(static_cast<std::uint32_t>(joined.slots - state.slots), std::memory_order_relaxed);
  end_region(joined, joined.slots);
}

void enter(member& mine, const here& at, team& of, runtime* with, std::uint32_t region, std::uint32_t number) noexcept {
  lane_state& state = *at.state;
  mine.on = at.on;
  mine.state = &state;
  mine.outer_team = state.innermost;
  mine.outer_region = state.region;
  mine.outer_number = state.number;
  mine.outer_idle = state.idle;
  mine.outer_loop.row = state.loop.row;
  if (state.loop.row != nullptr) [[unlikely]]
    mine.outer_loop = state.loop;
  state.innermost = &of;
  thread_uses(with);
  state.region = region;
  state.number = number;
  state.idle = 0;
  state.loop.row = nullptr;
}

void leave(member& mine) noexcept {
  lane_state& state = *mine.state;
  mine.on->count_hook(2);
  state.innermost = mine.outer_team;
  state.region = mine.outer_region;
  state.number = mine.outer_number;
  state.idle = mine.outer_idle;
  state.loop.row = nullptr;
  if (mine.outer_loop.row != nullptr) [[unlikely]]
    state.loop = mine.outer_loop;
  state.task_credit = 0;
}

void begin_member(member& mine, team& of, std::uint32_t number) noexcept {
  here at;
  mine.on = nullptr;
  if (!find_here(at)) return;
  at.state->ended = {};
  if (number >= of.slot_count) return;
  mine.slot = &of.slots[number];
  enter(mine, at, of, of.of, of.subject, number);
  mine.begin = base::now();
  at.on->record(event_kind::work_begin, of.subject, 0, of.instance, number, mine.begin);
  if (of.has_loop) begin_loop(at, of.loop);
}

void end_member(member& mine, team& of) noexcept {
  // A child that was forked inside the region has lanes of its own, and must not write into its parent's.
  if (mine.on == nullptr || observe::t_lane != mine.on) return;
  lane_state& state = *mine.state;
  end_loop({mine.on, &state});
  const ticks end = base::now();
  *mine.slot = {of.instance, mine.begin, end, state.idle, 0, mine.on->id()};
  mine.on->record(event_kind::work_end, of.subject, 0, of.instance, state.idle, end);
  leave(mine);
  state.ended = {mine.slot, &of, of.instance, end, of.forker_state};
}

void account_joined(lane_state& state) noexcept {
  if (state.unaccounted.instance == 0) return;
  account(state, state.unaccounted);
  state.unaccounted.instance = 0;
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
  const std::uint32_t subject = subject_at(state, m_kind, m_place, true, 0, state.region, m_source);
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
  loop.subject = subject_at(state, subject_kind::loop, what.place, is_call, 0, state.region, source);
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
    // Asked only now: the team is the forker's, and may be far away.
    if (at.state->innermost == nullptr || !at.state->innermost->is_gcc) return;
    const std::uint32_t region = at.state->region;
    const std::uint32_t subject = subject_at(*at.state, subject_kind::loop, place, true, 0, region, nullptr);
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
  const std::uint32_t subject = subject_at(state, kind, place, true, 0, state.region, nullptr);
  if (profile_row* const row = at.on->own_row(subject, metric::lock, state.region)) {
    lane::add(row, waited);
    row->x[0] += held;
    if (static_cast<double>(waited) > the_recorder.ticks_of_ns(contended_ticks_ns)) row->x[1] += 1;
  }
  at.on->record(event_kind::lock, subject, 0, held, waited, taken);
  at.on->count_hook(1);
}

void single_passed(const here& at, const void* place, bool is_executed) noexcept {
  const std::uint32_t subject = subject_at(*at.state, subject_kind::single, place, true, 0, at.state->region, nullptr);
  if (profile_row* const row = at.on->own_row(subject, metric::single, at.state->region)) {
    row->count += 1;
    if (is_executed) row->x[0] += 1;
  }
  if (!the_recorder.traces()) return;
  at.on->record(event_kind::single, subject, is_executed ? 1 : 0, 0, 0, base::now());
  at.on->count_hook(1);
}

void attach(ompt_use how) noexcept {
  if (how == ompt_use::leave_to_others) ompt_yield_to_libraries();
  put_off_below = static_cast<ticks>(the_recorder.ticks_of_ns(put_off_below_ns));
  is_recording.store(the_recorder.level() >= observe::record_level::profile, std::memory_order_release);
}

void settle() noexcept {
  if (t_state != nullptr && observe::t_lane != nullptr && t_state->owner == observe::t_lane) account_joined(*t_state);
}

void detach() noexcept {
  ompt_detach();
  for (std::uint32_t i = 0, n = the_recorder.lanes(); i < n; ++i) {
    lane* const each = the_recorder.lane_at(i);
    // Of lanes whose threads still run, what was put off stays so: it is theirs.
    if (each == nullptr || each->adapter == nullptr || (each->is_open() && each != observe::t_lane)) continue;
    account_joined(*static_cast<lane_state*>(each->adapter));
  }
  if (is_recording.load(std::memory_order_relaxed) && the_recorder.lanes() == 0 && is_any_runtime_loaded())
    the_recorder.unavailable("OpenMP regions",
                             "an OpenMP runtime is loaded but no region of it was seen: the program forms no team, "
                             "or reaches the runtime in a way that cannot be watched (RTLD_DEEPBIND, a static runtime)",
                             "link the runtime dynamically");
}

void after_fork() noexcept {
  runtimes_after_fork();
  outermost_after_fork();
}

}  // namespace trimtab::openmp
