// Where tasks wait to be run: the queues of all workers of a runtime, which the scheduling policies fill and search.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "trimtab/base/hash.hpp"
#include "trimtab/tasks/core/inbox.hpp"
#include "trimtab/tasks/core/task_deque.hpp"

namespace trimtab::tasks {

// A count with one writer: no locked instruction. Others may read it at any time.
class single_writer_count {
 public:
  void add(std::uint64_t count = 1) noexcept {
    m_value.store(m_value.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
  }
  // A thread that reads the new count sees everything done before.
  void add_released() noexcept { m_value.store(m_value.load(std::memory_order_relaxed) + 1, std::memory_order_release); }
  std::uint64_t get() const noexcept { return m_value.load(std::memory_order_acquire); }

 private:
  std::atomic<std::uint64_t> m_value{0};
};

// Counts of the worker that owns the queues. Exact.
struct queue_counts {
  single_writer_count accesses;  // looks into a queue for something to run
  single_writer_count misses;    // looks that found nothing
  single_writer_count stolen;    // tasks taken from other workers' queues
  single_writer_count steals;    // times that some were
};

struct alignas(64) worker_queues {
  worker_queues(task_deque::offering offers, std::uint32_t worker, std::uint32_t in_domain)
      : normal(offers), high(offers, 16), number(worker), domain(in_domain), random(base::mix(worker + 1)) {}

  task_deque normal;  // forks of `invoke` always lie here
  task_deque high;
  inbox incoming_high;  // from others
  inbox incoming;
  alignas(64) queue_counts counts;
  std::uint32_t number;
  std::uint32_t domain;  // of memory (NUMA)
  std::uint32_t looks = 0;
  // A limit of counts.steals. At it the worker first judges whether its last steals were worth their cost.
  std::uint64_t most_steals = ~std::uint64_t{0};
  std::uint64_t random;
  std::vector<std::uint32_t> victims;  // all others, those of the same domain first
  std::uint32_t near_victims = 0;      // how many of them are of the same domain

  // As task_deque::size(): never 0 too early, but counts holes.
  std::uint32_t length() const noexcept { return normal.size() + high.size() + incoming_high.size() + incoming.size(); }
  std::uint32_t tasks() const noexcept { return normal.tasks() + high.tasks() + incoming_high.size() + incoming.size(); }
};

// The queues of a runtime.
struct queues {
  // domains: the NUMA domain of each worker; empty: one domain.
  explicit queues(std::uint32_t workers, const std::vector<std::uint32_t>& domains = {},
                  task_deque::offering offers = task_deque::offering::on_demand);

  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(workers.size()); }
  worker_queues& operator[](std::uint32_t number) noexcept { return *workers[number]; }
  // For tasks without a hint: each active worker in turn.
  std::uint32_t next_in_turn() noexcept {
    return turn.fetch_add(1, std::memory_order_relaxed) % active.load(std::memory_order_relaxed);
  }
  std::uint32_t target_of(std::int32_t hint) noexcept {
    return hint < 0 ? next_in_turn() : static_cast<std::uint32_t>(hint) % active.load(std::memory_order_relaxed);
  }
  std::uint64_t length() const noexcept;  // as that of worker_queues
  std::uint64_t tasks() const noexcept;
  // True: a task has come from outside that this worker may take.
  bool has_incoming(const worker_queues& own_queues) const noexcept;

  std::vector<std::unique_ptr<worker_queues>> workers;
  inbox low;
  std::vector<std::unique_ptr<inbox>> shared;  // what else a policy needs
  std::atomic<std::uint32_t> active;           // workers above are to rest: the cap
  std::atomic<std::uint32_t> turn{0};
};

}  // namespace trimtab::tasks
