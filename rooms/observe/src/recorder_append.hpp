// One more record in a file of a process's directory that grows as it has to. Under the lock of its file.
#pragma once

#include <atomic>

#include "trimtab/base/mapped_file.hpp"
#include "trimtab/observe/format.hpp"

namespace trimtab::observe {

template <class record_type>
void append(base::mapped_file& file, const record_type& record) noexcept {
  auto& head = *reinterpret_cast<file_header*>(file.data());
  if (head.written == head.capacity) {
    if (file.grow(file.size() * 2) != 0) {
      head.dropped += 1;
      return;
    }
    head.capacity = (file.size() - header_bytes) / sizeof(record_type);
  }
  reinterpret_cast<record_type*>(file.data() + header_bytes)[head.written] = record;
  std::atomic_ref(head.written).store(head.written + 1, std::memory_order_release);
}

}  // namespace trimtab::observe
