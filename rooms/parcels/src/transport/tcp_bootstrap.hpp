// The start of a job: all members meet at locality 0, and then each pair has one connection, which the one with the higher
// number has made. Either all start or all hear why not. One thread; blocks at most for the patience of the member that has
// least, and some seconds more to hear why others gave up.
//
//     locality 0   gathering --all are there--> linking --all have said `ready`--> starting
//     others       gathering --`members` of 0--> linking --all links, `ready`--> starting --`start` of 0--> done
#pragma once

#include <cstdint>
#include <list>
#include <string>
#include <vector>

#include "transport/tcp_call.hpp"
#include "transport/tcp_reception.hpp"
#include "trimtab/parcels/transport/tcp_transport.hpp"

namespace trimtab::parcels::tcp {

struct member {
  control_channel channel;  // not open: of this locality itself, or not there yet
  member_claim claim{};
  bool has_claim = false;
  bool is_ready = false;
};

class bootstrap {
 public:
  // meeting_socket: that of the options, or none.
  bootstrap(const membership& self, const tcp_options& options, descriptor meeting_socket);
  bootstrap(const bootstrap&) = delete;
  bootstrap& operator=(const bootstrap&) = delete;

  // Empty: the job has started, and all members are connected.
  std::string run();
  std::vector<member>& members() noexcept { return m_members; }

 private:
  enum class phase : std::uint8_t { gathering, linking, starting, started };

  bool is_first() const noexcept { return m_self.number == 0; }
  std::string open_listener();
  void step();
  void wait(std::uint64_t now_ns);
  std::uint64_t current_deadline_ns() const noexcept;

  void take_guest(guest& visitor, std::uint64_t now_ns);
  void take_member(guest& visitor, std::uint64_t now_ns);
  void advance_calls(std::uint64_t now_ns);
  void finish_call(call& outgoing);
  void read_members();
  void read_member(locality_number number);
  void take_frame(locality_number number);
  void take_members(const control_channel& channel);
  void call_lower();
  void advance_phase();
  void enter_linking();
  bool is_everybody(bool (*condition)(const member&)) const;
  void tell_all(frame_kind kind, std::span<const std::byte> body);
  bool has_unsent() const;

  void fail(std::string reason);
  void fail_for_time();
  std::string missing_text(bool (*condition)(const member&)) const;
  std::string unlinked_text() const;
  std::string patience_text() const;

  const tcp_options& m_options;
  std::uint64_t m_begin_ns;     // of CLOCK_MONOTONIC, as all times here
  std::uint64_t m_deadline_ns;  // of the member whose patience ends first, as far as it is known here
  identity m_self;
  reception m_reception;
  std::list<call> m_calls;
  std::vector<member> m_members;
  descriptor m_meeting_socket;
  phase m_phase = phase::gathering;
  poll_set m_polled;
  std::string m_error;
};

}  // namespace trimtab::parcels::tcp
