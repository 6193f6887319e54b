// Takes the connections that come in, and finds the members among them. Strangers can neither delay these nor use up
// descriptors: several guests prove themselves at a time, each has a deadline, few bytes and no thread, and where there are
// too many, the one that has waited longest goes. A member to which that happens calls again.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <string>

#include "transport/tcp_guest.hpp"
#include "transport/tcp_poll_set.hpp"

namespace trimtab::parcels::tcp {

class reception {
 public:
  // A guest that is proven, which must be welcomed or refused, or that conflicts.
  using guest_handler = std::function<void(guest&)>;

  explicit reception(const identity& self) noexcept : m_self(self) {}

  void open(descriptor listener) noexcept { m_listener = std::move(listener); }
  void add_to(poll_set& set) const;
  // When the first guest's time is over; ~0: never.
  std::uint64_t next_deadline_ns() const noexcept;
  void advance(std::uint64_t now_ns, const guest_handler& handler);

  // "; 2 connections were turned away: 1 with another secret of the job, 1 that spoke another protocol or ...", or nothing.
  std::string report() const;
  std::size_t guests() const noexcept { return m_guests.size(); }
  // Of accepting connections, where it cannot go on; 0: none.
  int error() const noexcept { return m_error; }

  static constexpr std::size_t most_guests = 64;

 private:
  void accept_waiting(std::uint64_t now_ns, const guest_handler& handler);
  void note_error(int error) noexcept;
  void make_room();
  // False: the guest is done with.
  bool advance_guest(guest& visitor, std::uint64_t now_ns, const guest_handler& handler);

  const identity& m_self;
  descriptor m_listener;
  std::list<guest> m_guests;  // by the time they came
  std::uint64_t m_strangers = 0;
  std::uint64_t m_wrong_secrets = 0;
  int m_error = 0;
};

}  // namespace trimtab::parcels::tcp
