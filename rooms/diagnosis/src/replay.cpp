#include "trimtab/diagnosis/replay.hpp"

#include <algorithm>
#include <bit>
#include <queue>
#include <ranges>
#include <span>
#include <tuple>
#include <utility>

namespace trimtab::diagnosis {

namespace {

// In this order at equal times.
enum class event_kind : std::uint32_t { came_so_far = 0, ended = 1, ready = 2, free = 3 };

class event {
 public:
  // `index`: of the link, the step, or the lane.
  event(std::int64_t time_ns, event_kind kind, std::uint32_t index)
      : m_time_ns(time_ns), m_rank(std::uint64_t{static_cast<std::uint32_t>(kind)} << 32 | index) {}
  std::int64_t time_ns() const { return m_time_ns; }
  event_kind kind() const { return static_cast<event_kind>(m_rank >> 32); }
  std::uint32_t index() const { return static_cast<std::uint32_t>(m_rank); }
  bool operator>(const event& other) const {
    return m_time_ns != other.m_time_ns ? m_time_ns > other.m_time_ns : m_rank > other.m_rank;
  }

 private:
  std::int64_t m_time_ns;
  std::uint64_t m_rank;  // first the kind: compared at once
};

// A set of numbers below a limit, of which the least is taken: a bit for each, and a bit for each 64 of these, and so on.
class least_first {
 public:
  explicit least_first(std::size_t limit) {
    do {
      limit = std::max<std::size_t>((limit + 63) / 64, 1);
      m_levels.emplace_back(limit, 0);
    } while (limit > 1);
  }
  bool empty() const { return m_levels.back()[0] == 0; }
  void insert(std::size_t number) {
    for (std::vector<std::uint64_t>& level : m_levels) {
      level[number / 64] |= std::uint64_t{1} << number % 64;
      number /= 64;
    }
  }
  std::size_t take() {
    std::size_t number = 0;
    for (const std::vector<std::uint64_t>& level : std::views::reverse(m_levels))
      number = number * 64 + static_cast<std::size_t>(std::countr_zero(level[number]));
    std::size_t place = number;
    for (std::vector<std::uint64_t>& level : m_levels) {
      level[place / 64] &= ~(std::uint64_t{1} << place % 64);
      if (level[place / 64] != 0) break;
      place /= 64;
    }
    return number;
  }

 private:
  std::vector<std::vector<std::uint64_t>> m_levels;
};

// Where each step of a pool comes in the recorded order of its pool, and back.
struct recorded_order {
  std::vector<std::uint32_t> place;              // within its pool
  std::vector<std::vector<step_index>> of_pool;  // its steps

  recorded_order(std::span<const step> all, pool_index pools) : of_pool(pools) {
    if (!take_numbers(all)) sort(all);
    place.resize(all.size());
    for (const step_index at : steps) {
      std::vector<step_index>& own = of_pool[all[at].pool];
      place[at] = static_cast<std::uint32_t>(own.size());
      own.push_back(at);
    }
    steps = {};
  }

 private:
  // Where steps are numbered and not timed, nothing need be sorted.
  bool take_numbers(std::span<const step> all) {
    constexpr step_index nothing = ~step_index{0};
    std::vector<step_index> by_number(all.size(), nothing);
    for (step_index at = 0; at < all.size(); ++at) {
      if (all[at].pool == no_pool) continue;
      const auto number = static_cast<std::size_t>(all[at].recorded_begin_ns);
      if (number >= by_number.size() || by_number[number] != nothing) return false;
      by_number[number] = at;
    }
    std::erase(by_number, nothing);
    steps = std::move(by_number);
    return true;
  }
  void sort(std::span<const step> all) {
    for (step_index at = 0; at < all.size(); ++at)
      if (all[at].pool != no_pool) steps.push_back(at);
    std::ranges::sort(steps, {}, [&](step_index at) { return std::pair(all[at].recorded_begin_ns, at); });
  }

  std::vector<step_index> steps;  // of all pools
};

class simulation {
 public:
  simulation(const work& program, std::span<const link> links)
      : m_program(program),
        m_steps(program.steps.size()),
        m_lanes(program.lanes.size()),
        m_order(program.steps, program.pools),
        m_first_link(program.steps.size() + 1, 0),
        m_links(links) {
    m_result.begin_ns.assign(program.steps.size(), 0);
    m_result.lane.assign(program.steps.size(), no_lane);
    sort_links();
    m_pools.reserve(program.pools);
    for (const std::vector<step_index>& own : m_order.of_pool) m_pools.emplace_back(own.size());
    for (lane_index lane = 0; lane < m_lanes.size(); ++lane) {
      for (const duty& item : program.lanes[lane])
        if (item.kind == duty_kind::own_step) m_steps[item.index].has_lane = true;
      m_events.emplace(0, event_kind::free, lane);
    }
    for (step_index at = 0; at < m_steps.size(); ++at)
      if (m_steps[at].missing == 0) has_all(at);
  }

  void run() {
    while (!m_events.empty()) {
      const event next = m_events.top();
      m_events.pop();
      m_now_ns = next.time_ns();
      switch (next.kind()) {
        case event_kind::came_so_far:
          come_to(next.index());
          break;
        case event_kind::ended:
          end(next.index());
          break;
        case event_kind::ready:
          make_ready(next.index());
          break;
        case event_kind::free:
          go_on(next.index());
          break;
      }
    }
  }

  std::optional<replayed> result(std::string* problem) {
    const auto stuck = std::ranges::find_if(m_steps, [](const progress& item) { return !item.has_begun; });
    if (stuck == m_steps.end()) return std::move(m_result);
    if (problem != nullptr) {
      const auto count = std::ranges::count_if(m_steps, [](const progress& item) { return !item.has_begun; });
      *problem = std::to_string(count) + " of " + std::to_string(m_steps.size()) +
                 " steps can never begin: they wait for each other, or no lane serves their pool; the first is step " +
                 std::to_string(stuck - m_steps.begin());
    }
    return std::nullopt;
  }

 private:
  struct progress {
    std::uint32_t missing = 0;  // steps that it waits for
    lane_index waiting_lane = no_lane;
    bool is_ready = false, has_begun = false, has_lane = false;
  };
  struct lane_state {
    std::size_t next_duty = 0;
  };
  struct pool_state {
    explicit pool_state(std::size_t steps) : ready(steps), not_begun(steps) {}
    least_first ready;  // by their place in the recorded order
    std::vector<lane_index> idle_lanes;
    std::size_t not_begun;
  };

  // The links of each step, those from its begin first, and the shortest first: callers that have sorted them save time.
  void sort_links() {
    for (const link& item : m_links) {
      ++m_first_link[item.from + 1];
      ++m_steps[item.to].missing;
    }
    for (std::size_t at = 0; at < m_program.steps.size(); ++at) m_first_link[at + 1] += m_first_link[at];
    const auto key = [](const link& item) { return std::tuple(item.from, item.base == link_base::end, item.latency_ns); };
    if (std::ranges::is_sorted(m_links, {}, key)) return;
    m_sorted_links.resize(m_links.size());
    std::vector<std::uint32_t> next(m_first_link.begin(), m_first_link.end() - 1);
    for (const link& item : m_links) m_sorted_links[next[item.from]++] = item;
    m_links = m_sorted_links;
    for (std::size_t at = 0; at < m_program.steps.size(); ++at) {
      const auto own = std::span(m_sorted_links).subspan(m_first_link[at], m_first_link[at + 1] - m_first_link[at]);
      if (!std::ranges::is_sorted(own, {}, key)) std::ranges::sort(own, {}, key);
    }
  }

  void begin(step_index at, lane_index lane) {
    const step& item = m_program.steps[at];
    progress& state = m_steps[at];
    state.has_begun = true;
    const std::int64_t begin_ns = m_now_ns + item.lead_ns;
    m_result.begin_ns[at] = begin_ns;
    m_result.lane[at] = lane;
    m_events.emplace(begin_ns + item.duration_ns, event_kind::ended, at);
    follow_links(at, link_base::begin, begin_ns);
  }

  void end(step_index at) {
    m_result.end_ns = std::max(m_result.end_ns, m_now_ns);
    follow_links(at, link_base::end, m_now_ns);
    const lane_index lane = m_result.lane[at];
    if (lane == no_lane) return;
    // Nothing else happens now that would come before it: most events need not be queued.
    if (m_events.empty() || m_events.top().time_ns() > m_now_ns)
      go_on(lane);
    else
      m_events.emplace(m_now_ns, event_kind::free, lane);
  }

  void follow_links(step_index at, link_base base, std::int64_t time_ns) {
    const std::uint32_t end = m_first_link[at + 1];
    std::uint32_t place = m_first_link[at];
    while (place < end && m_links[place].base != base) ++place;
    if (place < end) follow_from(place, time_ns);
  }

  void come_to(std::uint32_t place) { follow_from(place, m_now_ns - m_links[place].latency_ns); }

  // Links of one step and base from `place` on, whose latencies count from `base_ns`. What comes now is done at once. Only
  // the next link is among the events, so that these are few: a step may have links to all others.
  void follow_from(std::uint32_t place, std::int64_t base_ns) {
    const link& first = m_links[place];
    const std::uint32_t end = m_first_link[first.from + 1];
    for (; place < end && m_links[place].base == first.base; ++place) {
      const link& item = m_links[place];
      if (base_ns + item.latency_ns != m_now_ns) {
        m_events.emplace(base_ns + item.latency_ns, event_kind::came_so_far, place);
        return;
      }
      if (--m_steps[item.to].missing == 0) has_all(item.to);
    }
  }

  // A step waits for no other any more. Lanes look for steps when all that happens at this moment has happened, so that it
  // does not matter when the step joins its pool. A step without a lane begins at once, and may have links that come now,
  // too: it is queued.
  void has_all(step_index at) {
    if (m_program.steps[at].pool == no_pool && !m_steps[at].has_lane)
      m_events.emplace(m_now_ns, event_kind::ready, at);
    else
      make_ready(at);
  }

  void make_ready(step_index at) {
    progress& state = m_steps[at];
    state.is_ready = true;
    const pool_index pool_number = m_program.steps[at].pool;
    if (pool_number != no_pool) {
      pool_state& pool = m_pools[pool_number];
      pool.ready.insert(m_order.place[at]);
      wake(pool, 1);
    } else if (state.waiting_lane != no_lane) {
      m_events.emplace(m_now_ns, event_kind::free, state.waiting_lane);
    } else if (!state.has_lane) {
      begin(at, no_lane);
    }
  }

  // Those that have been idle for longest.
  void wake(pool_state& pool, std::size_t count) {
    const std::size_t woken = std::min(count, pool.idle_lanes.size());
    for (std::size_t at = 0; at < woken; ++at) m_events.emplace(m_now_ns, event_kind::free, pool.idle_lanes[at]);
    pool.idle_lanes.erase(pool.idle_lanes.begin(), pool.idle_lanes.begin() + static_cast<std::ptrdiff_t>(woken));
  }

  // The lane is free: on with its duties.
  void go_on(lane_index lane) {
    lane_state& state = m_lanes[lane];
    const std::vector<duty>& duties = m_program.lanes[lane];
    while (state.next_duty < duties.size()) {
      const duty& next = duties[state.next_duty];
      if (next.kind == duty_kind::own_step) {
        progress& wanted = m_steps[next.index];
        wanted.waiting_lane = lane;
        if (!wanted.is_ready) return;
        ++state.next_duty;
        return begin(next.index, lane);
      }
      pool_state& pool = m_pools[next.index];
      if (pool.not_begun == 0 || m_now_ns >= next.until_ns) {
        // It may have been woken for a step that it leaves to others.
        if (!pool.ready.empty()) wake(pool, 1);
        ++state.next_duty;
        continue;
      }
      if (pool.ready.empty()) {
        pool.idle_lanes.push_back(lane);
        return;
      }
      const step_index taken = m_order.of_pool[next.index][pool.ready.take()];
      if (--pool.not_begun == 0) wake(pool, pool.idle_lanes.size());
      return begin(taken, lane);
    }
  }

  const work& m_program;
  std::vector<progress> m_steps;
  std::vector<lane_state> m_lanes;
  recorded_order m_order;
  std::vector<pool_state> m_pools;
  std::vector<std::uint32_t> m_first_link;
  std::span<const link> m_links;
  std::vector<link> m_sorted_links;
  std::priority_queue<event, std::vector<event>, std::greater<>> m_events;
  std::int64_t m_now_ns = 0;
  replayed m_result;
};

}  // namespace

std::optional<replayed> replay(const work& program, std::string* problem) { return replay(program, program.links, problem); }

std::optional<replayed> replay(const work& program, std::span<const link> links, std::string* problem) {
  simulation run(program, links);
  run.run();
  return run.result(problem);
}

}  // namespace trimtab::diagnosis
