#include "trimtab/parcels/view/job_view.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "trimtab/parcels/archive/archive.hpp"

namespace trimtab::parcels {

namespace {

// Of a message: the mark, values of each entry, entries.
constexpr std::uint32_t view_mark = 0x77656976;
constexpr std::size_t view_head_bytes = 3 * sizeof(std::uint32_t);

constexpr std::size_t bytes_of_entry(std::uint32_t values) noexcept {
  return sizeof(locality_number) + 2 * sizeof(std::uint64_t) + sizeof(std::uint32_t) + values * sizeof(double);
}

std::uint32_t older(std::uint32_t age, std::uint64_t periods) noexcept {
  constexpr std::uint32_t oldest = std::numeric_limits<std::uint32_t>::max();
  return periods >= oldest - age ? oldest : age + static_cast<std::uint32_t>(periods);
}

bool are_finite(std::span<const double> values) noexcept {
  return std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
}

}  // namespace

struct job_view::received_entry {
  locality_number owner = 0;
  entry content = {};
};

job_view::job_view(const view_shape& shape) : m_shape(shape), m_entries(shape.localities), m_known_there(shape.localities) {
  if (shape.self >= shape.localities || shape.most_entries == 0)
    throw std::invalid_argument("trimtab: a view needs its own locality among all, and room for one entry in a message");
  for (entry& one : m_entries) one.values.resize(shape.values);
}

void job_view::pass_periods(std::uint64_t count) noexcept {
  m_period += count;
  for (entry& one : m_entries)
    if (one.version != 0) one.age = older(one.age, count);
}

void job_view::set_own(std::span<const double> values) {
  if (values.size() != m_shape.values || !are_finite(values))
    throw std::invalid_argument("trimtab: a view expects " + std::to_string(m_shape.values) + " finite values");
  entry& own = m_entries[m_shape.self];
  own.version += 1;
  own.made = m_period;
  own.age = 0;
  std::copy(values.begin(), values.end(), own.values.begin());
}

// In increasing order of their owners, so that a message has each entry once.
std::vector<job_view::received_entry> job_view::read(bytes_view content) const {
  reader bytes(content);
  if (bytes.read<std::uint32_t>() != view_mark) bytes.fail("the mark of a view", "something else");
  if (bytes.read<std::uint32_t>() != m_shape.values) bytes.fail("entries with as many values as here", "another number");
  const auto count = bytes.read<std::uint32_t>();
  if (count > m_shape.localities) bytes.fail("at most one entry for each locality", "more");
  std::vector<received_entry> entries;
  for (std::uint32_t i = 0; i < count; ++i) {
    received_entry& added = entries.emplace_back();
    entry& one = added.content;
    bytes(added.owner, one.version, one.made, one.age);
    if (added.owner >= m_shape.localities || (i != 0 && added.owner <= entries[i - 1].owner))
      bytes.fail("the number of a locality, in increasing order", "another one");
    if (one.version == 0) bytes.fail("a version from 1", "0");
    for (std::uint32_t k = 0; k < m_shape.values; ++k) one.values.push_back(bytes.read<double>());
    if (!are_finite(one.values)) bytes.fail("finite values", "others");
  }
  bytes.must_be_at_end();
  return entries;
}

std::vector<std::uint64_t>& job_view::versions_at(locality_number peer) {
  std::vector<std::uint64_t>& versions = m_known_there.at(peer);
  if (versions.empty()) versions.resize(m_shape.localities);
  return versions;
}

std::uint32_t job_view::merge(bytes_view content, locality_number from) {
  std::vector<received_entry> entries = read(content);
  std::vector<std::uint64_t>& known = versions_at(from);
  // From here on nothing throws.
  std::uint32_t newer = 0;
  for (received_entry& received : entries) {
    if (received.owner == m_shape.self) continue;
    known[received.owner] = std::max(known[received.owner], received.content.version);
    entry& own = m_entries[received.owner];
    if (received.content.version > own.version) {
      std::swap(own, received.content);
      newer += 1;
    } else if (received.content.version == own.version) {
      own.age = std::max(own.age, received.content.age);
    }
  }
  return newer;
}

// The peer knows its own entry best.
bool job_view::is_news(locality_number owner, locality_number peer) const {
  if (owner == peer) return false;
  const std::vector<std::uint64_t>& known = m_known_there.at(peer);
  return m_entries[owner].version > (known.empty() ? 0 : known[owner]);
}

bool job_view::has_news_for(locality_number peer) const {
  for (locality_number owner = 0; owner < m_shape.localities; ++owner)
    if (is_news(owner, peer)) return true;
  return false;
}

std::vector<locality_number> job_view::unknown_to(locality_number peer) const {
  std::vector<locality_number> owners;
  for (locality_number owner = 0; owner < m_shape.localities; ++owner)
    if (is_news(owner, peer)) owners.push_back(owner);
  if (owners.size() <= m_shape.most_entries) return owners;
  const auto comes_first = [&](locality_number a, locality_number b) {
    if ((a == m_shape.self) != (b == m_shape.self)) return a == m_shape.self;
    return m_entries[a].age != m_entries[b].age ? m_entries[a].age < m_entries[b].age : a < b;
  };
  std::sort(owners.begin(), owners.end(), comes_first);
  owners.resize(m_shape.most_entries);
  std::sort(owners.begin(), owners.end());
  return owners;
}

std::vector<job_view::written_entry> job_view::write(byte_buffer& into, locality_number peer) const {
  const std::vector<locality_number> owners = unknown_to(peer);
  const auto count = static_cast<std::uint32_t>(owners.size());
  into.reserve(into.size() + view_head_bytes + count * bytes_of_entry(m_shape.values));
  writer bytes(into);
  bytes(view_mark, m_shape.values, count);
  std::vector<written_entry> written;
  written.reserve(count);
  for (const locality_number owner : owners) {
    const entry& one = m_entries[owner];
    bytes(owner, one.version, one.made, one.age);
    for (const double value : one.values) bytes(value);
    written.push_back({owner, one.version});
  }
  return written;
}

void job_view::note_sent(locality_number peer, std::span<const written_entry> entries) {
  std::vector<std::uint64_t>& known = versions_at(peer);
  for (const written_entry& one : entries) known[one.owner] = std::max(known[one.owner], one.version);
}

std::uint32_t job_view::entries_within(std::size_t bytes, std::uint32_t values) noexcept {
  const std::size_t left = bytes > view_head_bytes ? bytes - view_head_bytes : 0;
  return static_cast<std::uint32_t>(std::max<std::size_t>(left / bytes_of_entry(values), 1));
}

std::optional<std::uint32_t> job_view::age_percentile(double share, const std::vector<bool>& ignored) const {
  std::vector<std::uint32_t> ages;
  for (locality_number owner = 0; owner < m_shape.localities; ++owner) {
    if (owner == m_shape.self || (!ignored.empty() && ignored.at(owner))) continue;
    // What is unknown is older than all that is known.
    const entry& one = m_entries[owner];
    ages.push_back(one.version == 0 ? std::numeric_limits<std::uint32_t>::max() : one.age);
  }
  if (ages.empty()) return std::nullopt;
  std::sort(ages.begin(), ages.end());
  const auto rank = static_cast<std::size_t>(std::ceil(std::clamp(share, 0.0, 1.0) * static_cast<double>(ages.size())));
  const std::uint32_t age = ages[rank == 0 ? 0 : rank - 1];
  return age == std::numeric_limits<std::uint32_t>::max() ? std::nullopt : std::optional(age);
}

}  // namespace trimtab::parcels
