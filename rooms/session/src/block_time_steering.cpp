#include "block_time_steering.hpp"

#include <utility>

#include "trimtab/observe/recorder.hpp"
#include "trimtab/openmp/block_time.hpp"
#include "trimtab/steer/fitting/figures.hpp"
#include "trimtab/steer/wait_policy.hpp"

namespace trimtab::session {

namespace {

constexpr double window_s = 0.25;
constexpr double change_s = 1e-6;

}  // namespace

bool block_time_steering::make_known(steer::snapshot& now) {
  const std::int64_t own = openmp::programs_block_time();
  if (own < 0) return false;
  m_id = observe::the_recorder.named_subject(observe::subject_kind::scope, "threads that wait", "", 0);
  if (m_id == observe::no_subject) {
    m_is_ignored = true;
    return false;
  }
  const steer::subject_info info{m_id,
                                 "threads that wait",
                                 {{std::string(steer::knobs::block_time),
                                   steer::certain(steer::domain::set({0, 1, 10, 200, own})),
                                   own,
                                   change_s,
                                   steer::consent::safe,
                                   0,
                                   {}}}};
  // Without a key: what others did to this run is nothing for the next one to begin with.
  m_record.add(info, "");
  m_knobs.add(info, [](std::uint32_t, steer::knob_value to) { return openmp::want_block_time(to); });
  now.appeared.push_back(info);
  return true;
}

void block_time_steering::add_to(steer::snapshot& now) {
  if (m_is_ignored) return;
  if (!m_is_known) m_is_known = make_known(now);
  if (!m_is_known || now.time_s < m_next_s) return;
  m_next_s = now.time_s + window_s;
  const std::optional<observe::thread_times> times = observe::read_process_times("");
  const std::optional<observe::thread_times> before = std::exchange(m_before, times);
  // Less than before: threads have ended. None before: this is the first look.
  if (!times || !before || times->run_ns <= before->run_ns || times->run_delay_ns < before->run_delay_ns) return;
  const auto ran = static_cast<double>(times->run_ns - before->run_ns);
  const auto waited = static_cast<double>(times->run_delay_ns - before->run_delay_ns);
  m_windows += 1;
  now.subjects.push_back({m_id,
                          {},
                          {{std::string(steer::figures::run_delay_share), waited / (ran + waited)},
                           {std::string(steer::figures::windows), m_windows}}});
}

}  // namespace trimtab::session
