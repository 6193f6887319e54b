// One more record in a file of a process's directory, which comes into being with the first and grows as it has to.
#pragma once

#include <atomic>
#include <mutex>

#include "trimtab/observe/recorder.hpp"

namespace trimtab::observe {

template <class record_type>
void recorder::append(base::mapped_file& file, const char* name, file_kind kind, std::size_t first_bytes,
                      std::size_t reserve, const record_type& record) noexcept {
  if (!is_on()) return;
  const std::lock_guard guard(m_sample_lock);
  if (!file && create_file(file, name, kind, sizeof record, header_bytes + first_bytes, reserve) != 0) return;
  auto& head = *reinterpret_cast<file_header*>(file.data());
  if (head.written == head.capacity) {
    if (file.grow(file.size() * 2) != 0) {
      head.dropped += 1;
      return;
    }
    head.capacity = (file.size() - header_bytes) / sizeof record;
  }
  reinterpret_cast<record_type*>(file.data() + header_bytes)[head.written] = record;
  std::atomic_ref(head.written).store(head.written + 1, std::memory_order_release);
}

}  // namespace trimtab::observe
