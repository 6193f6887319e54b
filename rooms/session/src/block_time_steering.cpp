#include "block_time_steering.hpp"

#include <dirent.h>

#include <cstdio>
#include <utility>

#include "trimtab/base/read_file.hpp"
#include "trimtab/observe/recorder.hpp"
#include "trimtab/openmp/block_time.hpp"
#include "trimtab/steer/fitting/figures.hpp"
#include "trimtab/steer/wait_policy.hpp"

namespace trimtab::session {

namespace {

constexpr double window_s = 0.25;
constexpr double change_s = 1e-6;

}  // namespace

cpu_times read_cpu_times(const char* root) noexcept {
  cpu_times sum;
  char path[512];
  std::snprintf(path, sizeof path, "%s/proc/self/task", root);
  DIR* const threads = opendir(path);
  if (threads == nullptr) return sum;
  while (const dirent* const each = readdir(threads)) {
    if (each->d_name[0] < '0' || each->d_name[0] > '9') continue;
    std::snprintf(path, sizeof path, "%s/proc/self/task/%.16s/schedstat", root, each->d_name);
    char text[96];
    unsigned long long ran = 0, waited = 0;
    if (base::read_file(path, text, sizeof text) <= 0 || std::sscanf(text, "%llu %llu", &ran, &waited) != 2) continue;
    sum.ran += ran;
    sum.waited += waited;
  }
  closedir(threads);
  return sum;
}

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
  const cpu_times times = read_cpu_times();
  const cpu_times before = std::exchange(m_before, times);
  // Less than before: threads have ended. None before: this is the first look.
  if (before.ran == 0 || times.ran <= before.ran || times.waited < before.waited) return;
  const auto ran = static_cast<double>(times.ran - before.ran);
  const auto waited = static_cast<double>(times.waited - before.waited);
  m_windows += 1;
  now.subjects.push_back({m_id,
                          {},
                          {{std::string(steer::figures::run_delay_share), waited / (ran + waited)},
                           {std::string(steer::figures::windows), m_windows}}});
}

}  // namespace trimtab::session
