// One more record in a file of a process's directory, which comes into being with the first and grows as it has to.
#pragma once

#include <atomic>
#include <mutex>

#include "file_refusal.hpp"
#include "trimtab/observe/recorder.hpp"

namespace trimtab::observe {

template <class record_type>
void recorder::append(base::appended_file& file, const char* name, file_kind kind, std::size_t first_bytes,
                      const record_type& record) noexcept {
  if (!is_on() || leave_list() != 0) return;
  bool is_first_failure = false;
  {
    const std::lock_guard guard(m_sample_lock);
    const bool had_failed = file.failure() != 0;
    is_first_failure = !append_under_lock(file, name, kind, first_bytes, record) && !had_failed && file.failure() != 0;
  }
  if (!is_first_failure) return;
  const file_refusal refusal = explain_file_error(file.failure());
  unavailable(name, refusal.why, refusal.remedy);
}

template <class record_type>
bool recorder::append_under_lock(base::appended_file& file, const char* name, file_kind kind, std::size_t first_bytes,
                                 const record_type& record) noexcept {
  if (!file.is_created()) {
    if (create_file(file, name, kind, sizeof record, header_bytes + first_bytes) != 0) return false;
    publish(file.data());
  }
  auto& head = *reinterpret_cast<file_header*>(file.data());
  std::byte* const place = file.place(header_bytes + head.written * sizeof record, sizeof record);
  if (place == nullptr) {
    head.dropped += 1;
    return false;
  }
  head.capacity = (file.size() - header_bytes) / sizeof record;
  *reinterpret_cast<record_type*>(place) = record;
  std::atomic_ref(head.written).store(head.written + 1, std::memory_order_release);
  return true;
}

}  // namespace trimtab::observe
