#include "trimtab/parcels/view/view_spreader.hpp"

#include <algorithm>
#include <stdexcept>

namespace trimtab::parcels {

view_spreader::view_spreader(std::uint32_t localities, locality_number self, const spreading& settings)
    : m_settings(settings), m_self(self), m_random(settings.seed + self), m_messages(localities), m_is_gone(localities) {
  if (self >= localities) throw std::invalid_argument("trimtab: who spreads a view must be one of the localities");
  for (locality_number other = 0; other < localities; ++other)
    if (other != self) m_peers.push_back(other);
}

bool view_spreader::on_messages(locality_number to, std::uint64_t count) {
  if (m_settings.messages == 0 || to == m_self || m_is_gone.at(to)) return false;
  m_messages[to] += count;
  if (m_messages[to] < m_settings.messages) return false;
  m_messages[to] = 0;
  return true;
}

// The first of a shuffled list that want it: R. Durstenfeld, "Algorithm 235: Random permutation" (Comm. ACM 7, 1964).
std::vector<locality_number> view_spreader::begin_round(const std::function<bool(locality_number)>& wants_it) {
  std::vector<locality_number> chosen;
  for (std::size_t i = 0; i < m_peers.size() && chosen.size() < m_settings.fan_out; ++i) {
    std::swap(m_peers[i], m_peers[i + m_random.below(m_peers.size() - i)]);
    if (!wants_it || wants_it(m_peers[i])) chosen.push_back(m_peers[i]);
  }
  return chosen;
}

void view_spreader::set_gone(locality_number which) {
  m_is_gone.at(which) = true;
  std::erase(m_peers, which);
}

}  // namespace trimtab::parcels
