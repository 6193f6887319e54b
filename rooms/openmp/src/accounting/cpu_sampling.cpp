#include "accounting/cpu_sampling.hpp"

#include "trimtab/base/hash.hpp"
#include "trimtab/observe/recorder.hpp"

namespace trimtab::openmp {

// The gap is drawn from 0 to twice its mean, so that no pattern of the program's falls in step with it.
base::ticks cpu_sampling::begins_sampled(base::ticks now) noexcept {
  const double share = static_cast<double>(base::mix_fast(++m_drawn) >> 11) * 0x1p-53;
  m_next = now + static_cast<base::ticks>(observe::the_recorder.ticks_of_ns(2 * mean_gap_ns * share));
  m_before = observe::usage_of_thread();
  // What the question took is no part of the work.
  return m_sampled = base::now();
}

void cpu_sampling::ends_sampled(observe::lane& on, std::uint32_t subject, base::ticks end) noexcept {
  namespace fields = observe::cpu_use_fields;
  const observe::cpu_usage used = observe::usage_of_thread().since(m_before);
  const base::ticks begin = m_sampled;
  m_sampled = 0;
  // Nothing at all: no system calls are permitted any more.
  if (used.program_ns + used.kernel_ns + used.minor_faults == 0 && m_before.program_ns + m_before.kernel_ns == 0) return;
  observe::profile_row* const row = on.own_row(subject, observe::metric::cpu_use);
  if (row == nullptr) return;
  observe::lane::add(row, end - begin);
  row->x[fields::program_time] += used.program_ns;
  row->x[fields::kernel_time] += used.kernel_ns;
  row->x[fields::minor_faults] += used.minor_faults;
  row->x[fields::major_faults] += used.major_faults;
}

}  // namespace trimtab::openmp
