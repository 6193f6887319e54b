#include "trimtab/diagnosis/replay.hpp"

#include <algorithm>
#include <queue>
#include <tuple>

namespace trimtab::diagnosis {

namespace {

enum class event_kind : std::uint8_t { ended = 0, ready = 1, free = 2 };  // in this order at equal times

struct event {
  std::int64_t time_ns;
  event_kind kind;
  std::uint32_t index;  // of the step, or of the lane
  bool operator>(const event& other) const {
    return std::tie(time_ns, kind, index) > std::tie(other.time_ns, other.kind, other.index);
  }
};

struct ready_step {
  std::int64_t recorded_begin_ns;
  step_index index;
  bool operator>(const ready_step& other) const {
    return std::tie(recorded_begin_ns, index) > std::tie(other.recorded_begin_ns, other.index);
  }
};

template <class entry>
using earliest_first = std::priority_queue<entry, std::vector<entry>, std::greater<>>;

class simulation {
 public:
  explicit simulation(const work& program)
      : m_program(program),
        m_steps(program.steps.size()),
        m_lanes(program.lanes.size()),
        m_pools(program.pools),
        m_first_link(program.steps.size() + 1, 0) {
    m_result.begin_ns.assign(program.steps.size(), 0);
    m_result.lane.assign(program.steps.size(), no_lane);
    sort_links();
    for (const step& item : program.steps)
      if (item.pool != no_pool) ++m_pools[item.pool].not_begun;
    for (lane_index lane = 0; lane < m_lanes.size(); ++lane) {
      for (const duty& item : program.lanes[lane])
        if (item.kind == duty_kind::own_step) m_steps[item.index].has_lane = true;
      m_events.push({0, event_kind::free, lane});
    }
    for (step_index at = 0; at < m_steps.size(); ++at)
      if (m_steps[at].missing == 0) m_events.push({0, event_kind::ready, at});
  }

  void run() {
    while (!m_events.empty()) {
      const event next = m_events.top();
      m_events.pop();
      m_now_ns = next.time_ns;
      if (next.kind == event_kind::ended) end(next.index);
      if (next.kind == event_kind::ready) make_ready(next.index);
      if (next.kind == event_kind::free) go_on(next.index);
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
    std::int64_t ready_ns = 0;
    bool is_ready = false, has_begun = false, has_lane = false;
    lane_index waiting_lane = no_lane;
  };
  struct lane_state {
    std::size_t next_duty = 0;
  };
  struct pool_state {
    earliest_first<ready_step> ready;
    std::vector<lane_index> idle_lanes;
    std::size_t not_begun = 0;
  };

  void sort_links() {
    m_links.resize(m_program.links.size());
    for (const link& item : m_program.links) {
      ++m_first_link[item.from + 1];
      ++m_steps[item.to].missing;
    }
    for (std::size_t at = 0; at < m_program.steps.size(); ++at) m_first_link[at + 1] += m_first_link[at];
    std::vector<std::size_t> next(m_first_link.begin(), m_first_link.end() - 1);
    for (const link& item : m_program.links) m_links[next[item.from]++] = item;
  }

  void begin(step_index at, lane_index lane) {
    const step& item = m_program.steps[at];
    progress& state = m_steps[at];
    state.has_begun = true;
    const std::int64_t begin_ns = m_now_ns + item.lead_ns;
    m_result.begin_ns[at] = begin_ns;
    m_result.lane[at] = lane;
    m_events.push({begin_ns + item.duration_ns, event_kind::ended, at});
    follow_links(at, link_base::begin, begin_ns);
  }

  void end(step_index at) {
    m_result.end_ns = std::max(m_result.end_ns, m_now_ns);
    follow_links(at, link_base::end, m_now_ns);
    if (const lane_index lane = m_result.lane[at]; lane != no_lane) m_events.push({m_now_ns, event_kind::free, lane});
  }

  void follow_links(step_index at, link_base base, std::int64_t time_ns) {
    for (std::size_t place = m_first_link[at]; place < m_first_link[at + 1]; ++place) {
      const link& item = m_links[place];
      if (item.base != base) continue;
      progress& later = m_steps[item.to];
      later.ready_ns = std::max(later.ready_ns, time_ns + item.latency_ns);
      if (--later.missing == 0) m_events.push({later.ready_ns, event_kind::ready, item.to});
    }
  }

  void make_ready(step_index at) {
    progress& state = m_steps[at];
    state.is_ready = true;
    const pool_index pool_number = m_program.steps[at].pool;
    if (pool_number != no_pool) {
      pool_state& pool = m_pools[pool_number];
      pool.ready.push({m_program.steps[at].recorded_begin_ns, at});
      wake(pool, 1);
    } else if (state.waiting_lane != no_lane) {
      m_events.push({m_now_ns, event_kind::free, state.waiting_lane});
    } else if (!state.has_lane) {
      begin(at, no_lane);
    }
  }

  // Those that have been idle for longest.
  void wake(pool_state& pool, std::size_t count) {
    const std::size_t woken = std::min(count, pool.idle_lanes.size());
    for (std::size_t at = 0; at < woken; ++at) m_events.push({m_now_ns, event_kind::free, pool.idle_lanes[at]});
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
      const step_index taken = pool.ready.top().index;
      pool.ready.pop();
      if (--pool.not_begun == 0) wake(pool, pool.idle_lanes.size());
      return begin(taken, lane);
    }
  }

  const work& m_program;
  std::vector<progress> m_steps;
  std::vector<lane_state> m_lanes;
  std::vector<pool_state> m_pools;
  std::vector<std::size_t> m_first_link;
  std::vector<link> m_links;
  earliest_first<event> m_events;
  std::int64_t m_now_ns = 0;
  replayed m_result;
};

}  // namespace

std::optional<replayed> replay(const work& program, std::string* problem) {
  simulation run(program);
  run.run();
  return run.result(problem);
}

}  // namespace trimtab::diagnosis
