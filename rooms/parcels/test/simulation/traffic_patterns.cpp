#include "simulation/traffic_patterns.hpp"

#include <algorithm>
#include <cstring>

namespace trimtab::parcels::simulation {

namespace {

// The first byte of a parcel says what it is.
constexpr std::byte call_mark{1}, post_mark{2};
constexpr std::size_t parcel_bytes = 16;

class two_localities {
 public:
  explicit two_localities(const job_parameters& parameters) : m_job(parameters) {
    receiver().set_on_parcel([this](locality_number, bytes_view content) {
      ++m_handled;
      std::uint64_t sent_ns = 0;
      std::memcpy(&sent_ns, content.data() + 8, sizeof sent_ns);
      const nanoseconds latency = m_job.now() - sent_ns;
      m_latency += latency;
      m_longest = std::max(m_longest, latency);
      // A task as in a real job, which also wakes a worker that sleeps.
      receiver().add_task(content[0] == call_mark ? task{send(0, 1, parcel_bytes)} : task{});
    });
  }

  simulated_locality& sender() { return m_job.at(0); }
  simulated_locality& receiver() { return m_job.at(1); }

  // Adds steps to the sender's task.
  void post(std::uint64_t count) { add_parcels(post_mark, count); }
  void call_and_wait(std::uint64_t under_way) {
    add_parcels(call_mark, 1);
    ++m_calls;
    wait_for_answers(m_calls - std::min(m_calls, under_way - 1));
  }
  void wait_for_answers(std::uint64_t count) {
    m_steps.push_back(wait_until([this, count] { return sender().received() >= count; }));
  }
  void wait_for_all_handled() {
    // Such as by a call that is handled last.
    m_sent += 1;
    add_parcels(call_mark, 1, false);
    ++m_calls;
    wait_for_answers(m_calls);
  }
  void compute_for(nanoseconds duration) { m_steps.push_back(compute(duration)); }

  // ns a step.
  traffic_result run(double steps) {
    bool is_over = false;
    m_steps.push_back(call([&is_over] { is_over = true; }));
    const nanoseconds begin = m_job.now();
    sender().add_task(std::move(m_steps));
    const bool is_right = m_job.run_until([&] { return is_over && m_handled == m_sent; });
    traffic_result result;
    if (is_right) result.ns = static_cast<double>(m_job.now() - begin) / steps;
    result.longest_ns = static_cast<double>(m_longest);
    for (std::size_t i = 0; i < flush_reasons; ++i) {
      const auto reason = static_cast<flush_reason>(i);
      const std::uint64_t count = sender().traffic().to(1).flushes(reason);
      if (count != 0) result.sent_because += std::string(text_of(reason)) + " " + std::to_string(count) + ", ";
    }
    result.messages = m_job.network().messages();
    return result;
  }
  double mean_latency() const { return static_cast<double>(m_latency) / static_cast<double>(m_handled); }

 private:
  void add_parcels(std::byte mark, std::uint64_t count, bool counts = true) {
    if (counts) m_sent += count;
    m_steps.push_back([this, mark, left = count](simulated_locality& self, simulated_thread&) mutable {
      std::byte content[parcel_bytes] = {mark};
      const nanoseconds current_ns = m_job.now();
      std::memcpy(content + 8, &current_ns, sizeof current_ns);
      self.send_parcel(1, content);
      return --left == 0 ? progress::done : progress::again;
    });
  }

  std::uint64_t m_sent = 0, m_handled = 0, m_calls = 0;
  nanoseconds m_latency = 0, m_longest = 0;
  task m_steps;
  simulated_job m_job;
};

void add_window(two_localities& both, int calls, std::uint64_t& all_calls) {
  for (int i = 0; i < calls; ++i) both.call_and_wait(32);
  both.wait_for_answers(all_calls += static_cast<std::uint64_t>(calls));
}

}  // namespace

traffic_result run_ping(const job_parameters& parameters) {
  two_localities both(parameters);
  for (int i = 0; i < 1000; ++i) both.call_and_wait(1);
  return both.run(1000);
}

traffic_result run_burst(const job_parameters& parameters) {
  two_localities both(parameters);
  both.post(10'000);
  both.wait_for_all_handled();
  return both.run(10'000);
}

traffic_result run_window(const job_parameters& parameters) {
  two_localities both(parameters);
  std::uint64_t calls = 0;
  add_window(both, 5000, calls);
  return both.run(5000);
}

traffic_result run_stream(const job_parameters& parameters) {
  two_localities both(parameters);
  for (int round = 0; round < 300; ++round) {
    both.post(32);
    both.call_and_wait(1);
  }
  return both.run(300);
}

traffic_result run_paced(const job_parameters& parameters) {
  two_localities both(parameters);
  for (int i = 0; i < 500; ++i) {
    both.post(1);
    both.compute_for(20'000);
  }
  traffic_result result = both.run(500);
  if (result.ns >= 0) result.ns = both.mean_latency();
  return result;
}

traffic_result run_changing(const job_parameters& parameters) {
  two_localities both(parameters);
  std::uint64_t calls = 0;
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 20; ++i) both.call_and_wait(1);
    both.post(1000);
    both.wait_for_all_handled();
    calls += 21;
    add_window(both, 200, calls);
  }
  return both.run(5);
}

const std::vector<traffic_pattern>& traffic_patterns() {
  static const std::vector<traffic_pattern> patterns{
      {"ping", "ns a call", run_ping},      {"burst", "ns a parcel", run_burst}, {"window", "ns a call", run_window},
      {"stream", "ns a round", run_stream}, {"paced", "ns latency", run_paced},  {"changing", "ns a round", run_changing}};
  return patterns;
}

}  // namespace trimtab::parcels::simulation
