// Localities that share load in simulated time, by the rules of real jobs (load_sharing), and programs whose tasks differ in
// how long they run.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "simulation/simulated_job.hpp"
#include "trimtab/parcels/view/load_sharing.hpp"

namespace trimtab::parcels::simulation {

// A job whose localities spread their load, as load_gossip does in a real one.
class sharing_job {
 public:
  // Each locality begins its periods at a random time.
  sharing_job(const job_parameters& parameters, const load_sharing_options& settings);
  sharing_job(const sharing_job&) = delete;
  sharing_job& operator=(const sharing_job&) = delete;

  simulated_job& job() noexcept { return m_job; }
  // From a step. The bytes must begin with a mark that is not of views.
  void send_parcel(locality_number from, locality_number to, bytes_view content);
  // What comes that is no view.
  void set_on_parcel(std::function<void(locality_number to, locality_number from, bytes_view content)> handler) {
    m_on_parcel = std::move(handler);
  }
  locality_number choose(locality_number from);
  // How old what `viewer` knows of `owner` is, in ns since its owner made it; ~0: nothing is known.
  nanoseconds age_of(locality_number viewer, locality_number owner) const;
  std::uint64_t views_sent() const noexcept { return m_views_sent; }

  static constexpr std::size_t mark_bytes = 8;
  static constexpr std::byte first_free_mark{10};

 private:
  struct member {
    member(std::uint32_t localities, locality_number self, const load_sharing_options& settings)
        : rules(localities, self, settings, std::size_t{16} << 10), counted(localities) {}
    load_sharing rules;
    std::uint32_t round = 0;
    std::vector<std::uint64_t> counted;  // messages by locality, when the view was sent there last
    std::vector<nanoseconds> made_at;    // by version of the own entry
  };

  void begin_round(locality_number self, nanoseconds due);
  void send_view(locality_number from, locality_number to, std::byte mark);
  void on_parcel(locality_number to, locality_number from, bytes_view content);

  const load_sharing_options m_settings;
  const nanoseconds m_round_ns;
  std::vector<std::unique_ptr<member>> m_members;
  std::function<void(locality_number to, locality_number from, bytes_view content)> m_on_parcel;
  std::uint64_t m_views_sent = 0;
  simulated_job m_job;  // the first to be destroyed
};

// Ages of what is known, in periods, while all localities are busy: by share of all pairs of localities and all times.
struct staleness {
  double half = 0, p90 = 0, p99 = 0, most = 0;
  double views_a_period = 0;  // that each locality sends
};
// program_messages: that each locality sends to random others in a period.
staleness staleness_of(const job_parameters& parameters, const load_sharing_options& settings, double periods,
                       std::uint32_t program_messages = 0);

// Whose tasks take how long. In steps: a step begins when all tasks of the one before have ended.
enum class imbalance : std::uint8_t {
  none,       // all tasks are equal
  front,      // a mesh, refined around a moving front: a quarter of all tasks, of neighbouring localities, take ten times as
              // long
  one_heavy,  // all tasks of one locality take four times as long
  drawn       // at random: some tasks take far longer (Pareto, shape 1.5)
};
const char* name_of(imbalance pattern) noexcept;

enum class placing : std::uint8_t {
  fixed,     // a task runs where it was made
  balanced,  // as async_balanced places it
  ideal      // where the least work is left, which is known at once
};

struct sharing_program {
  imbalance pattern = imbalance::front;
  std::uint32_t tasks = 32;  // of each locality in a step
  std::uint32_t steps = 20;
  nanoseconds task_ns = 200'000;   // of a task that is not longer than others
  std::size_t task_bytes = 4'096;  // that travel with a task, and back
};
// ns of all steps; negative: the job did not come to its end.
double run_placed(const sharing_program& program, placing how, const job_parameters& parameters,
                  const load_sharing_options& settings);

}  // namespace trimtab::parcels::simulation
