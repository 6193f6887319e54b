// Decides to whom a view is sent, and when. Pure: no thread, no clock. One thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "trimtab/parcels/transport/transport.hpp"
#include "trimtab/steer/random.hpp"

namespace trimtab::parcels {

struct spreading {
  // Every so many messages to a locality, one takes the view along; 0: none does.
  std::uint32_t messages = 16;
  // Different random localities that get it in each round.
  std::uint32_t fan_out = 1;
  std::uint64_t seed = 1;
};

class view_spreader {
 public:
  // Throws std::invalid_argument.
  view_spreader(std::uint32_t localities, locality_number self, const spreading& settings);

  // So many messages to that locality have been sent. True: the next one takes the view along.
  bool on_messages(locality_number to, std::uint64_t count = 1);
  // The view went there for another reason: the messages are counted anew.
  void on_view_sent(locality_number to) { m_messages.at(to) = 0; }
  // A round begins: who gets the view, of those for which wants_it holds. Fewer than fan_out if there are no more.
  std::vector<locality_number> begin_round(const std::function<bool(locality_number)>& wants_it = {});
  // It has left or is lost: it gets nothing any more.
  void set_gone(locality_number which);
  bool is_gone(locality_number which) const { return m_is_gone.at(which); }
  const std::vector<bool>& all_gone() const noexcept { return m_is_gone; }

 private:
  spreading m_settings;
  locality_number m_self;
  steer::random_source m_random;
  std::vector<std::uint64_t> m_messages;  // by locality, since it got the view
  std::vector<bool> m_is_gone;
  std::vector<locality_number> m_peers;  // others that have not gone
};

}  // namespace trimtab::parcels
