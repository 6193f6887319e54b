#include "events_file.hpp"

#include <atomic>
#include <cstring>

#include "new_file_header.hpp"
#include "trimtab/observe/format.hpp"

namespace trimtab::kernel {

int events_file::create(const std::string& path, std::uint64_t most_bytes) {
  if (const int problem = m_file.create(path.c_str(), observe::header_bytes); problem != 0) return problem;
  m_most = most_bytes / sizeof(observe::scheduler_event);
  const auto head = new_file_header(observe::file_kind::scheduler_events, sizeof(observe::scheduler_event));
  std::memcpy(m_file.data(), &head, sizeof head);
  return 0;
}

void events_file::append(const scheduler_event& happened) noexcept {
  if (!m_file.is_created() || happened.kind == event_kind::forked || happened.kind == event_kind::ran) return;
  auto& head = *reinterpret_cast<observe::file_header*>(m_file.data());
  constexpr std::size_t bytes = sizeof(observe::scheduler_event);
  std::byte* const place =
      head.written < m_most ? m_file.place(observe::header_bytes + head.written * bytes, bytes) : nullptr;
  if (place == nullptr) {
    head.dropped += 1;
    return;
  }
  head.capacity = (m_file.size() - observe::header_bytes) / bytes;
  *reinterpret_cast<observe::scheduler_event*>(place) = {.time_ns = happened.time_ns,
                                                         .thread = happened.thread,
                                                         .other = happened.other,
                                                         .cpu = happened.cpu,
                                                         .target_cpu = happened.target_cpu,
                                                         .kind = static_cast<observe::scheduler_event_kind>(happened.kind),
                                                         .can_run = happened.can_run};
  std::atomic_ref(head.written).store(head.written + 1, std::memory_order_release);
}

}  // namespace trimtab::kernel
