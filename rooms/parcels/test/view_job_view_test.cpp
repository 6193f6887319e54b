#include <gtest/gtest.h>

#include <array>

#include "trimtab/parcels/archive/archive.hpp"
#include "trimtab/parcels/view/job_view.hpp"
#include "trimtab/parcels/view/view_spreader.hpp"

namespace trimtab::parcels {

namespace {

constexpr std::uint32_t view_size = 5, view_values = 2;

job_view new_view(locality_number self) { return job_view({.localities = view_size, .self = self, .values = view_values}); }

void set_view(job_view& view, double value) { view.set_own(std::array{value, -value}); }

// As many entries as were written, which count as sent.
std::size_t send(job_view& view, byte_buffer& bytes, locality_number peer) {
  const auto entries = view.write(bytes, peer);
  view.note_sent(peer, entries);
  return entries.size();
}

std::vector<std::byte> written(const job_view& view, locality_number peer) {
  byte_buffer bytes;
  view.write(bytes, peer);
  return {bytes.view().begin(), bytes.view().end()};
}

std::vector<job_view::entry> entries_of(const job_view& view) {
  std::vector<job_view::entry> entries;
  for (locality_number owner = 0; owner < view.size(); ++owner) entries.push_back(view.of(owner));
  return entries;
}

// What a locality may have heard by chance. Localities 1 to 4 make the same versions in every view that they are in.
std::vector<std::byte> random_message(steer::random_source& random) {
  job_view carrier = new_view(1 + static_cast<locality_number>(random.below(4)));
  for (locality_number owner = 1; owner < view_size; ++owner) {
    job_view source = new_view(owner);
    for (std::uint64_t made = random.below(4); made != 0; --made) {
      set_view(source, static_cast<double>(source.of(owner).version + 10 * owner));
      source.pass_period();
    }
    if (owner == carrier.self())
      carrier = source;
    else if (source.of(owner).version != 0)
      carrier.merge(written(source, carrier.self()), owner);
  }
  for (std::uint64_t passed = random.below(3); passed != 0; --passed) carrier.pass_period();
  return written(carrier, 0);
}

}  // namespace

TEST(view, merges_in_any_order_and_any_number_of_times) {
  steer::random_source random(11);
  for (int round = 0; round < 300; ++round) {
    const auto a = random_message(random), b = random_message(random), c = random_message(random);
    job_view forward = new_view(0), backward = new_view(0), repeated = new_view(0);
    for (const auto* const message : {&a, &b, &c}) forward.merge(*message, 1);
    for (const auto* const message : {&c, &b, &a}) backward.merge(*message, 2);
    for (const auto* const message : {&b, &a, &b, &c, &a, &c}) repeated.merge(*message, 3);
    EXPECT_EQ(entries_of(forward), entries_of(backward));
    EXPECT_EQ(entries_of(forward), entries_of(repeated));
    // Grouped: a third locality has merged b and c before.
    job_view between = new_view(0), grouped = new_view(0);
    between.merge(b, 1);
    between.merge(c, 1);
    grouped.merge(a, 1);
    grouped.merge(written(between, 4), 2);  // locality 4's entry is not sent to itself
    grouped.merge(b, 1);
    EXPECT_EQ(grouped.of(2), forward.of(2));
    EXPECT_EQ(grouped.of(3), forward.of(3));
  }
}

TEST(view, never_goes_back_to_an_older_version) {
  steer::random_source random(12);
  job_view view = new_view(0);
  std::array<std::uint64_t, view_size> last{};
  for (int round = 0; round < 500; ++round) {
    view.merge(random_message(random), 1);
    for (locality_number owner = 0; owner < view_size; ++owner) {
      EXPECT_GE(view.of(owner).version, last[owner]);
      last[owner] = view.of(owner).version;
    }
  }
  EXPECT_EQ(last[4], 3u);
}

TEST(view, writes_only_what_the_peer_does_not_know) {
  job_view view = new_view(0), other = new_view(1);
  set_view(view, 1);
  set_view(other, 2);
  byte_buffer bytes;
  EXPECT_EQ(send(view, bytes, 1), 1u);
  other.merge(bytes.view(), 0);
  bytes.clear();
  EXPECT_EQ(send(view, bytes, 1), 0u);
  // Nor what has come from there.
  bytes.clear();
  EXPECT_EQ(send(other, bytes, 0), 1u);
  view.merge(bytes.view(), 1);
  bytes.clear();
  EXPECT_EQ(send(view, bytes, 1), 0u);
  EXPECT_EQ(send(view, bytes, 2), 2u);
  set_view(view, 3);
  EXPECT_EQ(send(view, bytes, 2), 1u);
}

TEST(view, sends_its_own_entry_and_the_youngest_first) {
  job_view view({.localities = view_size, .self = 4, .values = view_values, .most_entries = 2});
  for (locality_number owner = 1; owner < 4; ++owner) {
    job_view source = new_view(owner);
    set_view(source, owner);
    view.merge(written(source, 4), owner);
    view.pass_period();
  }
  set_view(view, 4);
  job_view receiver = new_view(0);
  receiver.merge(written(view, 0), 4);
  EXPECT_EQ(receiver.of(4).version, 1u);
  EXPECT_EQ(receiver.of(3).age, 1u);
  EXPECT_EQ(receiver.of(2).version, 0u);
  byte_buffer first, second;
  EXPECT_EQ(send(view, first, 0), 2u);
  EXPECT_EQ(send(view, second, 0), 2u);
}

TEST(view, grows_older_at_each_locality) {
  job_view first = new_view(0), second = new_view(1), third = new_view(2);
  set_view(first, 1);
  first.pass_period();
  second.merge(written(first, 1), 0);
  second.pass_period();
  third.merge(written(second, 2), 1);
  EXPECT_EQ(third.of(0).age, 2u);
  EXPECT_EQ(third.age_percentile(0.25), 2u);
  EXPECT_EQ(third.age_percentile(1), std::nullopt);
  EXPECT_EQ(third.age_percentile(1, {false, true, false, true, true}), 2u);
}

TEST(view, refuses_what_is_malformed_and_stays_as_it_was) {
  steer::random_source random(13);
  job_view view = new_view(0);
  view.merge(random_message(random), 1);
  std::uint64_t refused = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::vector<std::byte> bytes = random_message(random);
    if (round % 3 == 0) bytes.resize(random.below(bytes.size()));
    for (std::uint64_t flips = random.below(4); flips != 0 && !bytes.empty(); --flips)
      bytes[random.below(bytes.size())] = static_cast<std::byte>(random.next());
    const auto before = entries_of(view);
    try {
      view.merge(bytes, 1);
    } catch (const malformed_message&) {
      refused += 1;
      EXPECT_EQ(entries_of(view), before);
    }
    EXPECT_EQ(view.of(0).version, 0u);
  }
  EXPECT_GT(refused, 6'000u);
}

TEST(view, of_values_that_are_no_numbers_is_refused) {
  job_view view = new_view(0);
  EXPECT_THROW(view.set_own(std::array{1.0}), std::invalid_argument);
  EXPECT_THROW(set_view(view, std::numeric_limits<double>::infinity()), std::invalid_argument);
  EXPECT_EQ(view.of(0).version, 0u);
}

TEST(view_spreader, lets_every_so_many_messages_take_the_view_along) {
  view_spreader spreader(3, 0, {.messages = 4});
  std::uint32_t taken = 0;
  for (int message = 1; message <= 12; ++message) {
    const bool takes = spreader.on_messages(1);
    EXPECT_EQ(takes, message % 4 == 0);
    taken += takes;
    EXPECT_FALSE(spreader.on_messages(0));
  }
  EXPECT_EQ(taken, 3u);
  spreader.set_gone(1);
  for (int message = 0; message < 8; ++message) EXPECT_FALSE(spreader.on_messages(1));
}

TEST(view_spreader, chooses_other_localities_that_are_there_evenly) {
  view_spreader spreader(6, 2, {.fan_out = 2, .seed = 5});
  spreader.set_gone(4);
  std::array<int, 6> chosen{};
  for (int period = 0; period < 4000; ++period) {
    const auto peers = spreader.begin_round();
    ASSERT_EQ(peers.size(), 2u);
    EXPECT_NE(peers[0], peers[1]);
    for (const locality_number peer : peers) chosen[peer] += 1;
  }
  EXPECT_EQ(chosen[2] + chosen[4], 0);
  for (const locality_number peer : {0u, 1u, 3u, 5u}) EXPECT_NEAR(chosen[peer], 2000, 120);
  for (const locality_number peer : {0u, 1u, 3u}) spreader.set_gone(peer);
  EXPECT_EQ(spreader.begin_round(), std::vector<locality_number>{5});
}

}  // namespace trimtab::parcels
