// What came over the network interfaces that the process can see, and what went out: of all processes there.
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "instances.hpp"
#include "proc_file.hpp"

namespace trimtab::observe {

namespace {

constexpr std::size_t most_bytes = 32768;
constinit char text[most_bytes] = {};

struct interface_bytes {
  std::uint64_t received = 0, sent = 0;
  interface_bytes& operator+=(const interface_bytes& more) noexcept {
    received += more.received;
    sent += more.sent;
    return *this;
  }
};

struct traffic {
  interface_bytes network;
  std::uint64_t loopback = 0;
};

class network_probe final : public probe {
 public:
  bool start(recorder& to, const char* root) noexcept override {
    m_root = root;
    if (!read(m_first)) {
      to.unavailable("network traffic", "/proc/net/dev cannot be read", "mount /proc");
      return false;
    }
    m_received = to.add_counter("network received", "B", "/proc/net/dev", true);
    m_sent = to.add_counter("network sent", "B", "/proc/net/dev", true);
    m_loopback = to.add_counter("loopback traffic", "B", "/proc/net/dev", true);
    return true;
  }

  void sample(recorder& to, base::ticks at) noexcept override {
    traffic now;
    if (!read(now)) return;
    const auto tell = [&](std::uint32_t counter, std::uint64_t bytes, std::uint64_t first) {
      // An interface that is taken away takes its count along.
      if (bytes >= first) to.sample(counter, no_lane, static_cast<double>(bytes - first), at);
    };
    tell(m_received, now.network.received, m_first.network.received);
    tell(m_sent, now.network.sent, m_first.network.sent);
    tell(m_loopback, now.loopback, m_first.loopback);
  }

 private:
  // Bridges, bonds and tunnels pass on what another interface has counted: where there are interfaces of devices, only these
  // count. A container often has none.
  bool read(traffic& bytes) const noexcept {
    char path[320];
    std::snprintf(path, sizeof path, "%s/proc/net/dev", m_root);
    if (read_file(path, text, sizeof text) <= 0) return false;
    interface_bytes of_devices, of_others;
    bool has_device = false;
    bytes.loopback = 0;
    for (const char* line = text; *line != '\0';) {
      char name[64];
      unsigned long long received = 0, sent = 0;
      // name: bytes packets errs drop fifo frame compressed multicast BYTES ...
      if (std::sscanf(line, " %63[^: ]: %llu %*u %*u %*u %*u %*u %*u %*u %llu", name, &received, &sent) == 3) {
        if (std::strcmp(name, "lo") == 0) {
          bytes.loopback = received;
        } else if (is_device(name)) {
          has_device = true;
          of_devices += {received, sent};
        } else {
          of_others += {received, sent};
        }
      }
      line = strchrnul(line, '\n');
      line += *line == '\n';
    }
    bytes.network = has_device ? of_devices : of_others;
    return true;
  }

  bool is_device(const char* name) const noexcept {
    char path[400];
    std::snprintf(path, sizeof path, "%s/sys/class/net/%s/device", m_root, name);
    return access(path, F_OK) == 0;
  }

  const char* m_root = nullptr;
  traffic m_first;
  std::uint32_t m_received = 0, m_sent = 0, m_loopback = 0;
};

constinit network_probe the_probe;

}  // namespace

probe* network_probe_instance() { return &the_probe; }

}  // namespace trimtab::observe
