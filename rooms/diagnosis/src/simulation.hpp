// Steps that run again: one event after the other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "least_first.hpp"
#include "trimtab/diagnosis/replay.hpp"

namespace trimtab::diagnosis {

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

// `owner` of a step that a lane does by itself; others have a pool, or none.
constexpr pool_index of_a_lane = no_pool - 1;
// `missing` of a step that has begun.
constexpr std::uint32_t has_begun = ~std::uint32_t{0};

// All of a step that is looked at while it is replayed: half a line of a cache.
struct progress {
  std::int64_t duration_ns = 0, lead_ns = 0;
  std::uint32_t first_link = 0;  // those up to the next step's
  std::uint32_t missing = 0;     // steps that it waits for
  pool_index owner = no_pool;
  // Before it begins: its place in the recorded order of its pool, or the lane that waits for it. Then the lane that does
  // it.
  std::uint32_t where = no_lane;
};

// The steps of each pool in their recorded order. Of each step `number_of` says what it is in order of, and `owner_of` which
// pool it is of.
template <class Number, class Owner>
std::vector<std::vector<step_index>> in_recorded_order(std::size_t count, pool_index pools, const Number& number_of,
                                                       const Owner& owner_of) {
  constexpr step_index nothing = ~step_index{0};
  std::vector<std::vector<step_index>> steps(pools);
  const auto is_pooled = [&](step_index at) { return owner_of(at) < of_a_lane; };
  // Where steps are numbered and not timed, nothing need be sorted.
  std::vector<step_index> order(count, nothing);
  bool are_numbers = true;
  for (step_index at = 0; at < count && are_numbers; ++at) {
    if (!is_pooled(at)) continue;
    const auto number = static_cast<std::size_t>(number_of(at));
    are_numbers = number < count && order[number] == nothing;
    if (are_numbers) order[number] = at;
  }
  if (!are_numbers) {
    order.clear();
    for (step_index at = 0; at < count; ++at)
      if (is_pooled(at)) order.push_back(at);
    std::ranges::sort(order, {}, [&](step_index at) { return std::pair(number_of(at), at); });
  }
  for (const step_index at : order)
    if (at != nothing) steps[owner_of(at)].push_back(at);
  return steps;
}

// Links as `link` has them.
struct link_columns {
  std::size_t count = 0;
  const step_index *from = nullptr, *to = nullptr;
  const std::int64_t* latency_ns = nullptr;
  const link_base* base = nullptr;

  // In the order of the step that they come from, those from its begin first, and the shortest first.
  bool is_before(std::size_t at, std::size_t other) const {
    if (from[at] != from[other]) return from[at] < from[other];
    return base[at] != base[other] ? base[at] == link_base::begin : latency_ns[at] < latency_ns[other];
  }
};

// Links that are kept here.
class kept_links {
 public:
  kept_links() = default;
  template <class Order>
  kept_links(const link_columns& all, const Order& order) {
    for (const auto at : order) {
      m_from.push_back(all.from[at]);
      m_to.push_back(all.to[at]);
      m_latency_ns.push_back(all.latency_ns[at]);
      m_base.push_back(all.base[at]);
    }
  }
  explicit kept_links(std::span<const link> links) {
    for (const link& item : links) {
      m_from.push_back(item.from);
      m_to.push_back(item.to);
      m_latency_ns.push_back(item.latency_ns);
      m_base.push_back(item.base);
    }
  }
  link_columns columns() const { return {m_from.size(), m_from.data(), m_to.data(), m_latency_ns.data(), m_base.data()}; }

 private:
  std::vector<step_index> m_from, m_to;
  std::vector<std::int64_t> m_latency_ns;
  std::vector<link_base> m_base;
};

class simulation {
 public:
  // `step_of`: a step by its number.
  template <class Step>
  simulation(std::size_t count, const Step& step_of, const std::vector<std::vector<duty>>& lanes, pool_index pools,
             const link_columns& links)
      : m_duties(lanes), m_steps(count + 1), m_next_duty(lanes.size(), 0), m_links(links) {
    for (std::size_t at = 0; at < count; ++at) {
      const step& item = step_of(at);
      m_steps[at].duration_ns = item.duration_ns;
      m_steps[at].lead_ns = item.lead_ns;
      m_steps[at].owner = item.pool;
    }
    for (const std::vector<duty>& own : lanes)
      for (const duty& item : own)
        if (item.kind == duty_kind::own_step) m_steps[item.index].owner = of_a_lane;
    m_of_pool = in_recorded_order(
        count, pools, [&](step_index at) { return step_of(at).recorded_begin_ns; },
        [&](step_index at) { return m_steps[at].owner; });
    for (const std::vector<step_index>& own : m_of_pool) {
      m_pools.emplace_back(own.size());
      for (std::size_t place = 0; place < own.size(); ++place) m_steps[own[place]].where = static_cast<std::uint32_t>(place);
    }
    sort_links();
  }

  // It has pointers into itself.
  simulation(const simulation&) = delete;
  simulation& operator=(const simulation&) = delete;

  // Puts down when each step begins, and where.
  void keep_begins() {
    m_result.begin_ns.assign(count(), 0);
    m_result.lane.assign(count(), no_lane);
  }

  // False where some steps never begin.
  bool run(std::string* problem) {
    for (lane_index lane = 0; lane < m_next_duty.size(); ++lane) m_events.emplace(0, event_kind::free, lane);
    for (step_index at = 0; at < count(); ++at)
      if (m_steps[at].missing == 0) has_all(at);
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
    return has_ended(problem);
  }

  replayed& result() { return m_result; }

 private:
  struct pool_state {
    explicit pool_state(std::size_t steps) : ready(steps), not_begun(steps) {}
    least_first ready;  // by their place in the recorded order
    std::vector<lane_index> idle_lanes;
    std::size_t not_begun;
  };

  std::size_t count() const { return m_steps.size() - 1; }

  bool has_ended(std::string* problem) const {
    if (m_begun == count()) return true;
    if (problem != nullptr) {
      const auto stuck = std::ranges::find_if(m_steps, [](const progress& item) { return item.missing != has_begun; });
      *problem = std::to_string(count() - m_begun) + " of " + std::to_string(count()) +
                 " steps can never begin: they wait for each other, or no lane serves their pool; the first is step " +
                 std::to_string(stuck - m_steps.begin());
    }
    return false;
  }

  // Callers that have sorted the links save time.
  void sort_links() {
    bool is_sorted = true;
    for (std::size_t at = 0; at < m_links.count; ++at) {
      ++m_steps[m_links.from[at] + std::size_t{1}].first_link;
      ++m_steps[m_links.to[at]].missing;
      is_sorted = is_sorted && (at == 0 || !m_links.is_before(at, at - 1));
    }
    for (std::size_t at = 0; at < count(); ++at) m_steps[at + 1].first_link += m_steps[at].first_link;
    if (is_sorted) return;
    std::vector<std::uint32_t> order(m_links.count), next(count());
    for (std::size_t at = 0; at < count(); ++at) next[at] = m_steps[at].first_link;
    for (std::uint32_t at = 0; at < m_links.count; ++at) order[next[m_links.from[at]]++] = at;
    const auto is_before = [&](std::uint32_t at, std::uint32_t other) { return m_links.is_before(at, other); };
    for (std::size_t at = 0; at < count(); ++at) {
      const std::uint32_t first = m_steps[at].first_link;
      const auto own = std::span(order).subspan(first, m_steps[at + 1].first_link - first);
      if (!std::ranges::is_sorted(own, is_before)) std::ranges::sort(own, is_before);
    }
    m_sorted_links = kept_links(m_links, order);
    m_links = m_sorted_links.columns();
  }

  void begin(step_index at, lane_index lane) {
    progress& item = m_steps[at];
    item.missing = has_begun;
    item.where = lane;
    ++m_begun;
    const std::int64_t begin_ns = m_now_ns + item.lead_ns;
    if (!m_result.begin_ns.empty()) {
      m_result.begin_ns[at] = begin_ns;
      m_result.lane[at] = lane;
    }
    m_events.emplace(begin_ns + item.duration_ns, event_kind::ended, at);
    const std::uint32_t first = item.first_link;
    if (first < m_steps[at + 1].first_link && m_links.base[first] == link_base::begin) follow_from(first, begin_ns);
  }

  void end(step_index at) {
    m_result.end_ns = std::max(m_result.end_ns, m_now_ns);
    const std::uint32_t last = m_steps[at + 1].first_link;
    std::uint32_t place = m_steps[at].first_link;
    while (place < last && m_links.base[place] == link_base::begin) ++place;
    if (place < last) follow_from(place, m_now_ns);
    const lane_index lane = m_steps[at].where;
    if (lane == no_lane) return;
    // Nothing else happens now that would come before it: most events need not be queued.
    if (m_events.empty() || m_events.top().time_ns() > m_now_ns)
      go_on(lane);
    else
      m_events.emplace(m_now_ns, event_kind::free, lane);
  }

  void come_to(std::uint32_t place) { follow_from(place, m_now_ns - m_links.latency_ns[place]); }

  // Links of one step and base from `place` on, whose latencies count from `base_ns`. What comes now is done at once. Only
  // the next link is among the events, so that these are few: a step may have links to all others.
  void follow_from(std::uint32_t place, std::int64_t base_ns) {
    const std::uint32_t end = m_steps[m_links.from[place] + std::size_t{1}].first_link;
    const link_base base = m_links.base[place];
    for (; place < end && m_links.base[place] == base; ++place) {
      const std::int64_t comes_ns = base_ns + m_links.latency_ns[place];
      if (comes_ns != m_now_ns) {
        m_events.emplace(comes_ns, event_kind::came_so_far, place);
        return;
      }
      const step_index to = m_links.to[place];
      if (--m_steps[to].missing == 0) has_all(to);
    }
  }

  // A step waits for no other any more. Lanes look for steps when all that happens at this moment has happened, so that it
  // does not matter when the step joins its pool. A step without a lane begins at once, and may have links that come now,
  // too: it is queued.
  void has_all(step_index at) {
    if (m_steps[at].owner == no_pool)
      m_events.emplace(m_now_ns, event_kind::ready, at);
    else
      make_ready(at);
  }

  void make_ready(step_index at) {
    const progress& item = m_steps[at];
    if (item.owner == no_pool) {
      begin(at, no_lane);
    } else if (item.owner != of_a_lane) {
      pool_state& pool = m_pools[item.owner];
      pool.ready.insert(item.where);
      wake(pool, 1);
    } else if (item.where != no_lane) {
      m_events.emplace(m_now_ns, event_kind::free, item.where);
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
    std::size_t& next_duty = m_next_duty[lane];
    const std::vector<duty>& duties = m_duties[lane];
    while (next_duty < duties.size()) {
      const duty& next = duties[next_duty];
      if (next.kind == duty_kind::own_step) {
        progress& wanted = m_steps[next.index];
        if (wanted.missing != 0) {
          wanted.where = lane;
          return;
        }
        ++next_duty;
        return begin(next.index, lane);
      }
      pool_state& pool = m_pools[next.index];
      if (pool.not_begun == 0 || m_now_ns >= next.until_ns) {
        // It may have been woken for a step that it leaves to others.
        if (!pool.ready.empty()) wake(pool, 1);
        ++next_duty;
        continue;
      }
      if (pool.ready.empty()) {
        pool.idle_lanes.push_back(lane);
        return;
      }
      const step_index taken = m_of_pool[next.index][pool.ready.take()];
      if (--pool.not_begun == 0) wake(pool, pool.idle_lanes.size());
      return begin(taken, lane);
    }
  }

  const std::vector<std::vector<duty>>& m_duties;  // of each lane
  std::vector<progress> m_steps;                   // and one behind them
  std::vector<std::size_t> m_next_duty;            // of each lane
  std::vector<std::vector<step_index>> m_of_pool;  // the steps of each, in the recorded order
  std::vector<pool_state> m_pools;
  link_columns m_links;
  kept_links m_sorted_links;
  std::priority_queue<event, std::vector<event>, std::greater<>> m_events;
  std::int64_t m_now_ns = 0;
  std::size_t m_begun = 0;
  replayed m_result;
};

}  // namespace trimtab::diagnosis
