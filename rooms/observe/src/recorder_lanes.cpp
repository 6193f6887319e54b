// Lanes of the recorder: opened at a thread's first event, given back at its end, taken over by a later thread.
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>

#include "file_refusal.hpp"
#include "trimtab/base/read_file.hpp"
#include "trimtab/base/system_calls.hpp"
#include "trimtab/observe/recorder.hpp"

namespace trimtab::observe {

constinit thread_local lane* t_lane = nullptr;

namespace {

constexpr std::size_t first_index_slots = 256;
constexpr std::size_t first_profile_rows = 48;
constexpr std::size_t profile_reserve = std::size_t{32} << 20;
// A trace stream starts with room for a burst that ends before the sampler comes by; those of many threads start
// small. It doubles, up to 4 MiB at a time.
constexpr std::uint64_t first_trace_events = 65536;
constexpr std::uint64_t least_trace_events = 8192;
constexpr std::uint32_t many_lanes = 32;
// Flight recorders of lanes from this one on are smaller: 4,096 events of each of 5,000 lanes would be 650 MB.
constexpr std::uint32_t very_many_lanes = 512;
constexpr std::uint64_t flight_events_of_many = 512;
// Of a lane: its memory, its events, the profile and what that may grow into. Half of what the kernel allows (by default
// 65,530 mappings in a process) is for the program.
constexpr std::uint32_t mappings_of_lane = 4;
constexpr std::uint32_t asked_from_lane = 1024;
constexpr std::uint64_t most_trace_growth = 131072;
constexpr std::uint64_t keep_ready_events = 262144;
// A period may be several times as long as it should be, where lanes have all CPUs.
constexpr std::uint64_t periods_ahead = 8;
constexpr std::uint64_t many_pages_events = 32768;
// How far ahead of a lane its pages are there already, at least. Making one takes 2 us, used or not.
constexpr std::uint64_t least_warm_events = 4096;
// The same of a flight recorder, once: a lane that comes further makes the rest of its pages itself, all of them then. One
// at a time each is a page fault of 5 to 10 us, and beside programs that want the CPUs more than that: whoever waits for
// this thread at a barrier may yield its CPU, for as long as the scheduler lets others have it.
constexpr std::uint64_t first_flight_events = 1024;
// Of a lane for whose usual file there is no room.
constexpr std::uint64_t least_events = 256;
// In a period: the room that there is lasts for tens of such periods.
constexpr std::uint64_t slow_events = 1024;

// Of a thread that was given no lane: the recorder's generation then, plus one.
constinit thread_local std::uint32_t t_refused = 0;

// True while this thread's destructors for the lane have run: it must not open another.
constinit thread_local bool t_ended = false;

pthread_key_t lane_key;
pthread_once_t lane_key_once = PTHREAD_ONCE_INIT;
bool lane_key_made = false;

void thread_ends(void* ended) noexcept {
  t_ended = true;
  auto* ending = static_cast<lane*>(ended);
  if (ending == t_lane) the_recorder.close_lane(*ending);
}

std::uint32_t this_tid() noexcept { return static_cast<std::uint32_t>(syscall(SYS_gettid)); }

void make_key() noexcept {
  lane_key_made = pthread_key_create(&lane_key, [](void* ended) { thread_ends(ended); }) == 0;
}

}  // namespace

lane* recorder::open_lane() noexcept {
  // What was refused once is not asked for at each event.
  if (t_ended || t_refused == generation + 1 || !base::may_call_system()) return nullptr;
  const base::system_call_section section;
  if (!section.is_permitted()) return nullptr;
  const int saved = errno;
  if (!is_on() && !open_in_child()) {
    errno = saved;
    return nullptr;
  }
  const setup_cost cost(*this);
  const base::ticks begin = base::now();
  pthread_once(&lane_key_once, make_key);
  lane* opened = nullptr;
  int error = 0;
  {
    const std::lock_guard guard(m_lock);
    opened = closed_thread_lane();
    if (opened == nullptr) opened = new_lane(error);
    if (opened != nullptr) give_to_this_thread(*opened, begin);
  }
  if (opened == nullptr) {
    t_refused = generation + 1;
    report_refused_lane(error);
  } else {
    t_lane = opened;
    opened->m_thread_start = begin;
    if (lane_key_made) pthread_setspecific(lane_key, opened);
    opened->record(event_kind::thread_begin, no_subject, 0, opened->m_header->tid, 0, begin);
    if (m_options.lane_opened != nullptr) m_options.lane_opened(*this, *opened);
  }
  errno = saved;
  return opened;
}

lane* recorder::closed_thread_lane() noexcept {
  for (std::uint32_t i = 0, n = lanes(); i < n; ++i) {
    lane* const candidate = m_lanes[i].load(std::memory_order_relaxed);
    if (candidate != nullptr && candidate->m_kind == lane_kind::thread && !candidate->is_open()) return candidate;
  }
  return nullptr;
}

void recorder::give_to_this_thread(lane& opened, base::ticks begin) noexcept {
  opened.m_open.store(true, std::memory_order_relaxed);
  lane_header& head = *opened.m_header;
  head.tid = this_tid();
  head.is_main = head.tid == static_cast<std::uint32_t>(getpid()) ? 1 : head.is_main;
  head.threads += 1;
  head.worker_of = 0;
  head.title[0] = '\0';
  head.end_ticks = 0;
  if (head.start_ticks == 0) head.start_ticks = begin;
  prctl(PR_GET_NAME, head.name);
}

lane* recorder::add_lane(lane_kind kind, std::uint32_t number, const char* title) noexcept {
  const base::system_call_section section;
  if (kind == lane_kind::thread || !section.is_permitted()) return nullptr;
  const int saved = errno;
  lane* added = nullptr;
  int error = 0;
  if (is_on() || open_in_child()) {
    const setup_cost cost(*this);
    const base::ticks begin = base::now();
    const std::lock_guard guard(m_lock);
    added = closed_lane(kind, number, title);
    if (added == nullptr) added = new_lane(error);
    if (added != nullptr) {
      lane_header& head = *added->m_header;
      added->m_kind = head.kind = kind;
      head.number = number;
      std::strncpy(head.title, title, sizeof head.title - 1);
      head.end_ticks = 0;
      if (head.start_ticks == 0) head.start_ticks = begin;
      added->m_thread_start = begin;
      added->m_open.store(true, std::memory_order_release);  // pairs with is_open: the header before
    }
  }
  if (error != 0) report_refused_lane(error);
  errno = saved;
  return added;
}

lane* recorder::closed_lane(lane_kind kind, std::uint32_t number, const char* title) noexcept {
  for (std::uint32_t i = 0, n = lanes(); i < n; ++i) {
    lane* const candidate = m_lanes[i].load(std::memory_order_relaxed);
    if (candidate == nullptr || candidate->m_kind != kind || candidate->is_open()) continue;
    const lane_header& head = *candidate->m_header;
    if (head.number == number && std::strncmp(head.title, title, sizeof head.title - 1) == 0) return candidate;
  }
  return nullptr;
}

void recorder::end_lane(lane& affected_lane) noexcept {
  const base::ticks at = base::now();
  affected_lane.worker_enters(worker_state::none, at);
  affected_lane.m_header->alive_ticks += at - affected_lane.m_thread_start;
  affected_lane.m_header->end_ticks = at;
  affected_lane.m_scope_depth = 0;
  affected_lane.m_task_depth = 0;
  affected_lane.m_open.store(false, std::memory_order_release);  // pairs with closed_lane: the next writer sees all of it
}

void recorder::report_refused_lane(int error) noexcept {
  if (m_has_refused_lanes.exchange(true, std::memory_order_relaxed)) return;
  const file_refusal refusal = explain_file_error(error);
  char text[160];
  const char* remedy = refusal.remedy;
  if (error != E2BIG) {
    std::snprintf(text, sizeof text, "%s", refusal.why);
  } else if (m_mapped_lanes != 0 && m_mapped_lanes < m_options.most_lanes) {
    std::snprintf(text, sizeof text, "expected at most %u lanes, found more: the kernel limits the mappings of a process",
                  m_mapped_lanes);
    remedy = "raise the limit (sysctl vm.max_map_count), or use fewer threads at a time";
  } else {
    std::snprintf(text, sizeof text, "expected at most %u lanes in a process, found more", m_options.most_lanes);
    remedy = "use fewer threads at a time";
  }
  unavailable("some threads", text, remedy);
}

bool recorder::open_in_child() noexcept {
  const std::lock_guard guard(m_open_lock);
  if (is_on()) return true;
  if (m_state.load(std::memory_order_relaxed) != state::forked) return false;
  recorder_options options_before = m_options;
  options_before.is_listed = false;  // a lane needs the folder
  if (open(options_before) == 0) return true;
  m_state.store(state::off, std::memory_order_relaxed);
  return false;
}

void recorder::close_lane(lane& affected_lane) noexcept {
  const base::system_call_section section;
  const int saved = errno;
  if (m_options.lane_closed != nullptr) m_options.lane_closed(*this, affected_lane);
  const base::ticks at = base::now();
  affected_lane.worker_enters(worker_state::none, at);
  affected_lane.record(event_kind::thread_end, no_subject, 0, affected_lane.m_header->tid, 0, at);
  affected_lane.m_header->alive_ticks += at - affected_lane.m_thread_start;
  affected_lane.m_header->end_ticks = at;
  affected_lane.m_scope_depth = 0;
  affected_lane.m_task_depth = 0;
  t_lane = nullptr;
  affected_lane.m_open.store(false, std::memory_order_release);  // pairs with open_lane: the next thread sees all of it
  errno = saved;
}

// The program must not lack the mappings that lanes have, for threads of its own among others.
bool recorder::has_room_for_lane() noexcept {
  const std::uint32_t lane_count = lanes();
  if (lane_count >= max_lanes || lane_count >= m_options.most_lanes) return false;
  if (lane_count < asked_from_lane) return true;
  if (m_mapped_lanes == 0) {
    char text[32] = {};
    const bool is_read = base::read_file("/proc/sys/vm/max_map_count", text, sizeof text) > 0;
    m_mapped_lanes =
        is_read ? static_cast<std::uint32_t>(std::strtoul(text, nullptr, 10)) / (2 * mappings_of_lane) : max_lanes;
    m_mapped_lanes = std::max(m_mapped_lanes, asked_from_lane);
  }
  return lane_count < m_mapped_lanes;
}

lane* recorder::new_lane(int& error) noexcept {
  const std::uint32_t id = lanes();
  error = E2BIG;
  if (!has_room_for_lane()) return nullptr;
  error = leave_list_under_lock();
  if (error != 0) return nullptr;
  error = ENOMEM;
  const std::size_t index_bytes = first_index_slots * sizeof(lane::index_entry);
  void* memory = mmap(nullptr, sizeof(lane), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  void* index = mmap(nullptr, index_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (index == MAP_FAILED) {
    munmap(memory, sizeof(lane));
    return nullptr;
  }
  lane* const fresh = new (memory) lane;
  fresh->m_owner = this;
  fresh->m_id = id;
  fresh->m_index = static_cast<lane::index_entry*>(index);
  fresh->m_index_mask = first_index_slots - 1;
  error = prepare_lane(*fresh);
  if (error != 0) {
    munmap(index, index_bytes);
    munmap(memory, sizeof(lane));
    return nullptr;
  }
  m_lanes[id].store(fresh, std::memory_order_release);
  m_lane_count.store(id + 1, std::memory_order_release);
  m_process->lanes = id + 1;
  return fresh;
}

int recorder::prepare_lane(lane& fresh) noexcept {
  char name[32];
  std::snprintf(name, sizeof name, "lane-%04u.profile", fresh.m_id);
  int error = create_file(fresh.m_profile_file, name, file_kind::profile, sizeof(profile_row),
                          header_bytes + first_profile_rows * sizeof(profile_row), profile_reserve);
  if (error == 0) error = create_events(fresh);
  if (error != 0) {
    fresh.m_profile_file.remove();
    return error;
  }
  fresh.m_profile_header = reinterpret_cast<file_header*>(fresh.m_profile_file.data());
  fresh.m_events_header = reinterpret_cast<file_header*>(fresh.m_events_file.data());
  const std::uint64_t room = (fresh.m_events_file.size() - header_bytes) / sizeof(event);
  fresh.m_warm = std::min(room, traces() ? least_warm_events : first_flight_events);
  fresh.m_events_file.populate(0, header_bytes + fresh.m_warm * sizeof(event));
  fresh.m_profile_file.populate(0, header_bytes + first_profile_rows * sizeof(profile_row));
  fresh.m_header = reinterpret_cast<lane_header*>(fresh.m_events_file.data() + sizeof(file_header));
  fresh.m_header->lane = fresh.m_id;
  fresh.m_header->migrations = unknown;
  auto* const twin = reinterpret_cast<lane_header*>(fresh.m_profile_file.data() + sizeof(file_header));
  twin->lane = fresh.m_id;
  fresh.m_events = reinterpret_cast<event*>(fresh.m_events_file.data() + header_bytes);
  fresh.m_is_ring = !traces();
  fresh.m_cursor = fresh.m_events;
  fresh.m_limit = fresh.m_events + (fresh.m_is_ring ? fresh.m_warm : room);
  fresh.m_ready.store(room, std::memory_order_release);
  m_trace_used.fetch_add(room * sizeof(event), std::memory_order_relaxed);
  // Readers take a lane for absent until both of its files have their magic.
  publish(fresh.m_profile_file.data());
  publish(fresh.m_events_file.data());
  return 0;
}

int recorder::create_events(lane& fresh) noexcept {
  const bool is_ample = fresh.m_id < many_lanes && m_options.max_trace_bytes / 16 > first_trace_events * sizeof(event);
  const std::uint64_t flight = fresh.m_id < very_many_lanes
                                   ? m_options.flight_events
                                   : std::min<std::uint64_t>(m_options.flight_events, flight_events_of_many);
  const std::uint64_t usual = !traces() ? flight : is_ample ? first_trace_events : least_trace_events;
  char name[32];
  std::snprintf(name, sizeof name, "lane-%04u.events", fresh.m_id);
  int error = 0;
  for (const std::uint64_t first : {usual, std::min(usual, least_events)}) {
    const std::size_t first_bytes = header_bytes + first * sizeof(event);
    const std::size_t reserve = traces() ? first_bytes + m_options.max_trace_bytes : first_bytes;
    error = create_file(fresh.m_events_file, name, file_kind::events, sizeof(event), first_bytes, reserve);
    if (error == 0) break;
  }
  return error;
}

// Called by the sampler thread: keeps each stream's room ahead of its lane by about one period at full speed, so that
// the lane makes no system call, and its pages by twice what the lane wrote in the last period, so that it takes no page
// fault unless it becomes faster than that all at once.
bool recorder::make_streams_ready() noexcept {
  if (!traces() || !is_on()) return true;
  bool are_slow = true;
  const std::uint32_t count = lanes();
  lengthen_all(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    lane* const lane_entry = lane_at(i);
    if (lane_entry == nullptr) continue;
    const auto written = written_of_stream(*lane_entry);
    if (!written) continue;
    are_slow &= *written - lane_entry->m_warmed_at < slow_events;
    // Making many pages takes milliseconds, in which other lanes write on.
    if (warm(*lane_entry, *written) >= many_pages_events) lengthen_all(count);
  }
  return are_slow;
}

void recorder::lengthen_all(std::uint32_t count) noexcept {
  for (std::uint32_t i = 0; i < count; ++i)
    if (lane* const lane_entry = lane_at(i))
      if (const auto written = written_of_stream(*lane_entry))
        while (lengthen(*lane_entry, *written)) continue;
}

// Events of a lane that still streams; none: it is closed, or wraps since the budget was spent before.
std::optional<std::uint64_t> recorder::written_of_stream(const lane& affected_lane) noexcept {
  if (!affected_lane.m_open.load(std::memory_order_acquire)) return std::nullopt;
  const std::uint64_t written = std::atomic_ref(affected_lane.m_events_header->written).load(std::memory_order_acquire);
  return written > affected_lane.m_ready.load(std::memory_order_relaxed) ? std::nullopt : std::optional(written);
}

// False: there is enough room for several periods, or no more can be had.
bool recorder::lengthen(lane& affected_lane, std::uint64_t written) noexcept {
  const std::uint64_t ready = affected_lane.m_ready.load(std::memory_order_relaxed);
  const std::uint64_t ahead =
      std::max(std::min(ready / 2, keep_ready_events), periods_ahead * (written - affected_lane.m_warmed_at));
  if (ready - written >= ahead) return false;
  const std::uint64_t growth = std::min(ready, most_trace_growth);
  if (!take_trace_budget(growth * sizeof(event))) return false;
  if (const int error = affected_lane.m_events_file.grow(affected_lane.m_events_file.size() + growth * sizeof(event));
      error != 0) {
    m_trace_full.store(true, std::memory_order_relaxed);
    const file_refusal refusal = explain_file_error(error);
    unavailable("rest of the trace", refusal.why, refusal.remedy);
    return false;
  }
  const std::uint64_t room = (affected_lane.m_events_file.size() - header_bytes) / sizeof(event);
  std::atomic_ref(affected_lane.m_events_header->capacity).store(room, std::memory_order_release);
  affected_lane.m_ready.store(room, std::memory_order_release);  // pairs with make_room
  return true;
}

// Returns how many events the new pages hold.
std::uint64_t recorder::warm(lane& affected_lane, std::uint64_t written) noexcept {
  const std::uint64_t written_since = written - affected_lane.m_warmed_at;
  affected_lane.m_warmed_at = written;
  const std::uint64_t ahead = 2 * written_since > least_warm_events ? 2 * written_since : least_warm_events;
  const std::uint64_t begin = written > affected_lane.m_warm ? written : affected_lane.m_warm;
  if (begin - written >= ahead / 2) return 0;
  const std::uint64_t ready = affected_lane.m_ready.load(std::memory_order_relaxed);
  affected_lane.m_warm = ready - written < ahead ? ready : written + ahead;
  affected_lane.m_events_file.populate(header_bytes + begin * sizeof(event), (affected_lane.m_warm - begin) * sizeof(event));
  return affected_lane.m_warm - begin;
}

void recorder::warm_rest(lane& affected_lane, std::uint64_t begin) noexcept {
  const int saved = errno;
  const setup_cost cost(*this);
  affected_lane.m_events_file.populate(header_bytes + begin * sizeof(event), affected_lane.m_events_file.size());
  errno = saved;
}

bool recorder::take_trace_budget(std::uint64_t bytes) noexcept {
  if (m_trace_full.load(std::memory_order_relaxed)) return false;
  if (m_trace_used.fetch_add(bytes, std::memory_order_relaxed) + bytes <= m_options.max_trace_bytes) return true;
  m_trace_full.store(true, std::memory_order_relaxed);
  return false;
}

}  // namespace trimtab::observe
