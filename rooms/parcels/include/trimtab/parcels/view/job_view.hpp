// What one locality knows of the values of all: for each the newest version that it has heard of, and how old that is.
//
// Pure: it has no thread, no lock and no clock. A period passes when its owner says so. One thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "trimtab/parcels/archive/byte_buffer.hpp"
#include "trimtab/parcels/transport/transport.hpp"

namespace trimtab::parcels {

struct view_shape {
  std::uint32_t localities = 1;
  locality_number self = 0;
  std::uint32_t values = 1;  // of each locality
  // Entries of one message, at most. What does not fit travels with a later one, the own entry and the youngest first.
  std::uint32_t most_entries = 256;
};

class job_view {
 public:
  struct entry {
    std::uint64_t version = 0;  // 0: nothing is known
    std::uint64_t made = 0;     // in periods of its locality, which begin at 0
    // Periods of this view in which it was not replaced, and those of others on its way here. Time on the wire is not in it.
    std::uint32_t age = 0;
    std::vector<double> values = {};
    bool operator==(const entry&) const = default;
  };

  // Throws std::invalid_argument.
  explicit job_view(const view_shape& shape);

  std::uint32_t size() const noexcept { return m_shape.localities; }
  locality_number self() const noexcept { return m_shape.self; }
  const entry& of(locality_number owner) const { return m_entries.at(owner); }
  // Periods that have passed.
  std::uint64_t period() const noexcept { return m_period; }

  // Makes all entries so many periods older.
  void pass_periods(std::uint64_t count) noexcept;
  void pass_period() noexcept { pass_periods(1); }
  // A new version of the own entry. Throws std::invalid_argument unless there are so many finite values.
  void set_own(std::span<const double> values);

  // Takes over what another locality knows: of each entry the higher version stays, and of two equal ones the greater age.
  // Its own entry it knows best itself. Returns the number of newer entries. Throws malformed_message, and has then changed
  // nothing.
  std::uint32_t merge(bytes_view content, locality_number from);
  // Versions that a message contains.
  struct written_entry {
    locality_number owner = 0;
    std::uint64_t version = 0;
  };
  // Appends what `peer` may not know yet, at most most_entries, and returns what that is. Once the message has been sent,
  // call note_sent: the transport loses nothing, so that the peer then counts as knowing the entries.
  std::vector<written_entry> write(byte_buffer& into, locality_number peer) const;
  void note_sent(locality_number peer, std::span<const written_entry> entries);
  // Entries that fit into so many bytes, at least 1.
  static std::uint32_t entries_within(std::size_t bytes, std::uint32_t values) noexcept;
  // Whether there is something that `peer` may not know.
  bool has_news_for(locality_number peer) const;

  // So that at least `share` (0 to 1) of the other localities' entries are not older; nullopt: of these, one is unknown, or
  // there is no other. ignored: localities that do not count; empty: none.
  std::optional<std::uint32_t> age_percentile(double share, const std::vector<bool>& ignored = {}) const;

 private:
  struct received_entry;
  std::vector<received_entry> read(bytes_view content) const;
  std::vector<std::uint64_t>& versions_at(locality_number peer);
  bool is_news(locality_number owner, locality_number peer) const;
  std::vector<locality_number> unknown_to(locality_number peer) const;

  view_shape m_shape;
  std::uint64_t m_period = 0;
  std::vector<entry> m_entries;
  // By peer: the versions that it is known to have. A row is made with the first message.
  std::vector<std::vector<std::uint64_t>> m_known_there;
};

}  // namespace trimtab::parcels
