// What a lane knows: its state, made at its first region, and what it has found at places before.
#include "accounting/lane_state.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

#include "accounting/identified_tasks.hpp"
#include "trimtab/base/system_calls.hpp"

namespace trimtab::openmp {

using observe::metric;
using observe::subject_kind;
using observe::the_recorder;

std::atomic<bool> is_recording{false};
constinit thread_local lane_state* t_state = nullptr;
constinit thread_local bool t_is_runtimes_own = false;
constinit thread_local short_region_cache t_short_regions{};

namespace {

// Of this thread, for whose state there was no memory: it is not asked for again at each construct.
constinit thread_local bool t_was_refused = false;

lane_state* make_state(lane& target) noexcept {
  if (t_was_refused) return nullptr;
  const base::system_call_section section;
  if (!section.is_permitted()) return nullptr;
  void* const memory =
      mmap(nullptr, sizeof(lane_state), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    t_was_refused = true;
    return nullptr;
  }
  // Not constructed member by member: the slots are many pages that should stay untouched. All-zero bytes
  // are right for everything but the fields below.
  auto* const state = static_cast<lane_state*>(memory);
  state->owner = &target;
  target.adapter = state;
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
  state.late = 0;
  state.created_subject = no_subject;
  state.taskloop_subject = no_subject;
  state.scheduled_task = 0;
  state.left_task = 0;
  state.begun_task = 0;
  state.sampling = {};
  end_scope(state, {});
  state.teams_asked = 0;
  state.slots_used = 0;
  state.short_one.subject_1.store(0, std::memory_order_relaxed);
  state.is_outermost_open.store(false, std::memory_order_relaxed);
  state.has_large_teams.store(false, std::memory_order_relaxed);
}

// source: ";file;function;line;column;;", or what says nothing.
std::uint32_t subject_with_source(const construct& at_place) noexcept {
  const observe::code_subject code{at_place.kind, at_place.place, at_place.is_call, at_place.runtime, at_place.parent};
  const char* const source = at_place.source;
  if (source == nullptr || source[0] != ';' || std::strncmp(source, ";unknown;", 9) == 0)
    return the_recorder.subject_with_source(code, {});
  char file[512] = "", function[256] = "";
  const char* at = source + 1;
  const auto read_part = [&at](char* buffer, std::size_t bytes) {
    const char* const end = strchrnul(at, ';');
    const std::size_t length = static_cast<std::size_t>(end - at);
    if (length < bytes) std::memcpy(buffer, at, length);
    at = *end == '\0' ? end : end + 1;
  };
  read_part(file, sizeof file);
  read_part(function, sizeof function);
  return the_recorder.subject_with_source(code, {file, function, static_cast<std::uint32_t>(std::strtoul(at, nullptr, 10))});
}

}  // namespace

lane_context lookup_slowly() noexcept {
  lane* const target = observe::this_lane();
  if (target == nullptr) return {nullptr, nullptr};
  auto* state = static_cast<lane_state*>(target->adapter);
  if (state == nullptr) state = make_state(*target);
  if (state == nullptr) return {nullptr, nullptr};
  begin_thread(*state);
  t_short_regions = {};
  t_state = state;
  return {target, state};
}

namespace {
// An entry of another generation is free.
auto is_of_another(std::uint32_t generation) noexcept {
  return [generation](const auto& candidate) { return candidate.generation != generation; };
}

known_place* place_at(lane_state& state, construct at) noexcept {
  // A call that became a jump: the construct ends its region's function, which is the best place there is.
  if (at.place == nullptr) {
    if (state.innermost != nullptr) at.place = state.innermost->outlined;
    at.is_call = false;
  }
  const std::uint32_t generation = places_generation.load(std::memory_order_relaxed);
  const auto matches = [&](const known_place& place_entry) {
    return place_entry.place == at.place && place_entry.kind == at.kind && place_entry.generation == generation;
  };
  if (known_place* const entry = state.places.find(at.place, matches)) [[likely]]
    return entry;
  const std::uint32_t subject = subject_with_source(at);
  if (subject == no_subject) return nullptr;
  known_place& entry = state.places.free_for(at.place, is_of_another(generation));
  entry = {at.place, at.kind, generation, subject, no_subject, nullptr};
  return &entry;
}
}  // namespace

std::uint32_t subject_at(lane_state& state, const construct& at) noexcept {
  const known_place* const entry = place_at(state, at);
  return entry == nullptr ? no_subject : entry->subject;
}

observe::profile_row* row_of(const lane_context& context, const counted_rows& rows, const char* source) noexcept {
  known_place* const entry = place_at(*context.state, {rows.kind, rows.place, rows.parent, rows.is_call, 0, source});
  if (entry == nullptr) return nullptr;
  if (entry->row == nullptr || entry->row_region != rows.in_region) [[unlikely]] {
    entry->row = context.on->own_row(entry->subject, rows.what, rows.in_region, rows.flags);
    entry->row_region = rows.in_region;
  }
  return entry->row;
}

known_region* region_at(lane_state& state, runtime* library, const void* outlined, std::uint32_t outer_region,
                        const char* source) noexcept {
  const std::uint32_t generation = places_generation.load(std::memory_order_relaxed);
  const auto matches = [=](const known_region& candidate) {
    return candidate.outlined == outlined && candidate.of == library && candidate.outer_region == outer_region &&
           candidate.generation == generation;
  };
  if (known_region* const entry = state.regions.find(outlined, matches)) [[likely]]
    return entry;
  const std::uint16_t runtime_number = library == nullptr ? std::uint16_t{0} : runtime_id(*library);
  const std::uint32_t subject =
      subject_at(state, {subject_kind::region, outlined, outer_region, false, runtime_number, source});
  if (subject == no_subject) return nullptr;
  known_region& entry = state.regions.free_for(outlined, is_of_another(generation));
  entry = {};
  entry.outlined = outlined;
  entry.rule = &rule_at(outlined);
  entry.of = library;
  entry.outer_region = outer_region;
  entry.generation = generation;
  entry.subject = subject;
  return &entry;
}

}  // namespace trimtab::openmp
