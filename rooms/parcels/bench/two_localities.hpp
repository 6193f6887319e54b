// This process and a child of it as two localities, over shared memory or TCP: for benches.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "trimtab/parcels/transport/shm_transport.hpp"
#include "trimtab/parcels/transport/tcp_transport.hpp"

namespace trimtab {

class two_localities {
 public:
  // name: shm or tcp. Forks: to be made while the process has one thread. Throws std::runtime_error.
  explicit two_localities(const std::string& name) {
    parcels::shm_options memory;
    parcels::tcp_options network;
    if (name == "shm")
      memory.path = "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(memfd_create("two_localities", 0));
    else
      network.meeting_socket = listening_socket(network.meeting_port);
    m_child = ::fork();  // that of the system, not of tasks
    if (!is_first()) network.meeting_socket = -1;
    const parcels::membership self{.number = is_first() ? 0u : 1u, .size = 2, .secret = "of this run"};
    parcels::opened_transport opened = name == "shm" ? parcels::open_shm(self, memory) : parcels::open_tcp(self, network);
    if (opened.link == nullptr) throw std::runtime_error(opened.error);
    m_link = std::move(opened.link);
  }

  bool is_first() const noexcept { return m_child != 0; }
  parcels::transport& link() noexcept { return *m_link; }
  std::unique_ptr<parcels::transport> take_link() noexcept { return std::move(m_link); }

  // Each on a CPU of its own, if this process may use two. Threads that are made later inherit it.
  void use_one_cpu_each() const noexcept {
    cpu_set_t allowed, own;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) < 2) return;
    int skipped = is_first() ? 0 : 1, cpu = 0;
    while (!CPU_ISSET(cpu, &allowed) || skipped-- > 0) ++cpu;
    CPU_ZERO(&own);
    CPU_SET(cpu, &own);
    sched_setaffinity(0, sizeof own, &own);
  }

  // The child's process ends here. The exit status of both, for the first one.
  int end() {
    if (!is_first()) std::_Exit(0);
    int status = 1;
    waitpid(m_child, &status, 0);
    return status == 0 ? 0 : 1;
  }

 private:
  static int listening_socket(std::uint16_t& port) {
    const int socket_number = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    if (bind(socket_number, reinterpret_cast<sockaddr*>(&address), length) != 0 || listen(socket_number, 16) != 0 ||
        getsockname(socket_number, reinterpret_cast<sockaddr*>(&address), &length) != 0)
      throw std::runtime_error(std::string("no listening socket: ") + std::strerror(errno));
    port = ntohs(address.sin_port);
    return socket_number;
  }

  pid_t m_child = 0;
  std::unique_ptr<parcels::transport> m_link;
};

}  // namespace trimtab
