#include "job/arrival_report.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>

namespace trimtab::parcels {

arrival_report::arrival_report(std::optional<int> descriptor, locality_number own) noexcept
    : m_descriptor(descriptor.value_or(-1)), m_own(own) {
  tell("waits");
}

arrival_report::~arrival_report() {
  if (m_descriptor >= 0) close(m_descriptor);
}

void arrival_report::tell(const char* what) const noexcept {
  if (m_descriptor < 0) return;
  char text[32];
  const int length = std::snprintf(text, sizeof text, "%s %u", what, m_own);
  send(m_descriptor, text, static_cast<std::size_t>(length), MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace trimtab::parcels
