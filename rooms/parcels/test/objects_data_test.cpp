#include <gtest/gtest.h>

#include <barrier>
#include <future>
#include <numeric>
#include <vector>

#include "objects_helpers.hpp"
#include "trimtab/parcels/objects/global_data.hpp"

namespace trimtab::parcels {

namespace {

class global_data_blocks : public objects_test {};
INSTANTIATE_TEST_SUITE_P(all, global_data_blocks, ::testing::ValuesIn(objects_settings()), name_of_objects_setting);

std::vector<double> long_values() {
  std::vector<double> values(300'000);
  std::iota(values.begin(), values.end(), 0.0);
  return values;
}

// Values of different lengths, so that some are sent by themselves.
std::vector<std::uint32_t> values_of_block(std::uint32_t number) {
  return std::vector<std::uint32_t>(number * number * 97 % 9000 + 1, number);
}

struct unreadable_at_one {
  int number = 0;
  template <class archive>
  void serialize(archive& ar) {
    if constexpr (!archive::writes)
      if (object_table::current().number() == 1) throw std::domain_error("locality 1 cannot read this");
    ar(number);
  }
};

using block_of_numbers = global_data<std::vector<std::uint32_t>>;

// Fetches, waits for and moves blocks in random order, many at a time.
void use_at_random(job& own, const std::vector<block_of_numbers>& blocks, std::uint64_t seed) {
  test_random random(seed + own.here().number());
  for (int round = 0; round < 10; ++round) {
    std::vector<std::pair<std::uint32_t, tasks::future<std::vector<std::uint32_t>>>> fetches;
    std::vector<tasks::future<void>> others;
    for (int i = 0; i < 12; ++i) {
      const auto number = static_cast<std::uint32_t>(random.below(blocks.size()));
      const auto target = static_cast<locality_number>(random.below(own.size()));
      switch (random.below(4)) {
        case 0:
        case 1:
          fetches.emplace_back(number, blocks[number].fetch());
          break;
        case 2:
          others.push_back(blocks[number].move_to(own.at(target)));
          break;
        default:
          others.push_back(blocks[number].ready());
      }
    }
    for (auto& [number, content] : fetches) EXPECT_EQ(content.get(), values_of_block(number));
    for (auto& other : others) other.get();
  }
}

}  // namespace

TEST_P(global_data_blocks, are_fetched_wherever_they_are) {
  run([](job& own) {
    const auto mine = global_data<std::vector<double>>::create(own, long_values());
    const auto far = handle_of(own, mine, own.size() - 1);
    for (locality_number owner = 0; owner < own.size(); ++owner) {
      if (own.here().number() == 0) far.move_to(own.at(owner)).get();
      own.barrier();
      EXPECT_EQ(own.objects().kept(far.id()) != nullptr, own.here().number() == owner);
      far.ready().get();
      EXPECT_EQ(far.fetch().get(), long_values());
      own.barrier();
    }
    EXPECT_THROW(far.move_to(locality(own, own.size())).get(), std::out_of_range);
    own.barrier();
    if (own.here().number() == 0) far.destroy().get();
    own.barrier();
    EXPECT_THROW(far.fetch().get(), no_such_object);
    EXPECT_THROW(far.ready().get(), no_such_object);
    own.wait_until_quiet();
    EXPECT_EQ(own.objects().kept_count(), own.here().number() == own.size() - 1 ? 0u : 1u);
    own.barrier();
  });
}

TEST_P(global_data_blocks, may_be_promised) {
  run([](job& own) {
    const auto mine = remote_promise<std::string>::create(own);
    auto ready = mine.data().ready();
    auto moved = mine.data().move_to(own.at(own.size() - 1));
    auto content = async(own.at(own.size() - 1), [](global_data<std::string> data) { return data.fetch(); }, mine.data());
    EXPECT_FALSE(ready.ready() || moved.ready() || content.ready());
    async(own.at(0), [](remote_promise<std::string> promise) { promise.set_value("kept").get(); }, mine).get();
    ready.get();
    moved.get();
    EXPECT_EQ(content.get(), "kept");
    EXPECT_THROW(mine.set_value("again").get(), std::future_error);
    EXPECT_THROW(mine.set_exception(std::make_exception_ptr(std::domain_error("late"))).get(), std::future_error);
    EXPECT_EQ(mine.data().fetch().get(), "kept");
  });
}

TEST_P(global_data_blocks, bring_the_exception_that_was_set) {
  run([](job& own) {
    const auto far = handle_of(own, remote_promise<int>::create(own), own.size() - 1);
    auto content = far.data().fetch();
    auto ready = far.data().ready();
    own.barrier();
    if (own.here().number() == 0) {
      far.set_exception(std::make_exception_ptr(std::domain_error("not today"))).get();
      EXPECT_THROW(far.set_exception(nullptr).get(), std::invalid_argument);
    }
    EXPECT_THROW(content.get(), std::domain_error);
    EXPECT_THROW(ready.get(), std::domain_error);
    EXPECT_THROW(far.data().move_to(own.here()).get(), std::domain_error);
    own.barrier();
    const auto never = remote_promise<int>::create(own);
    auto waiting = never.data().fetch();
    never.destroy().get();
    EXPECT_THROW(waiting.get(), no_such_object);
  });
}

TEST_P(global_data_blocks, stay_where_they_are_if_a_move_fails) {
  run([](job& own) {
    if (own.size() == 1) return;
    const auto far = handle_of(own, global_data<unreadable_at_one>::create(own, {5}), 0);
    if (own.here().number() == 0) {
      EXPECT_THROW(far.move_to(own.at(1)).get(), std::domain_error);
      EXPECT_EQ(far.fetch().get().number, 5);
      far.move_to(own.at(own.size() - 1 == 1 ? 0 : own.size() - 1)).get();
      EXPECT_EQ(far.fetch().get().number, 5);
    }
    own.barrier();
  });
}

TEST_P(global_data_blocks, survive_random_moves_and_fetches) {
  constexpr std::uint32_t count = 6;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    run([&](job& own) {
      std::vector<block_of_numbers> blocks;
      for (std::uint32_t number = 0; number < count; ++number)
        blocks.push_back(handle_of(own, block_of_numbers::create(own, values_of_block(number)), number % own.size()));
      own.barrier();
      use_at_random(own, blocks, 1000 * seed);
      own.barrier();
      own.wait_until_quiet();
      // Each block is at exactly one locality.
      for (const block_of_numbers& block : blocks) {
        const std::uint32_t copies = own.objects().kept(block.id()) != nullptr ? 1 : 0;
        EXPECT_EQ(own.all_reduce(copies, std::plus<>()), 1u);
      }
      EXPECT_EQ(own.objects().failed_posts(), 0u);
      own.barrier();
    });
  }
}

TEST(global_data, says_that_its_owner_or_its_home_was_lost) {
  std::barrier<> both_have_looked(2);
  run_with_a_loss(3, [&](job& own) {
    const auto mine = global_data<int>::create(own, static_cast<int>(own.here().number()));
    const auto moved = handle_of(own, mine, 0), homeless = handle_of(own, mine, 2);
    const auto promised = handle_of(own, remote_promise<int>::create(own), 2).data();
    if (own.here().number() == 1) moved.move_to(own.at(2)).get();
    auto waiting = promised.ready();
    auto waiting_fetch = promised.fetch();
    own.barrier();
    EXPECT_EQ(moved.fetch().get(), 0);
    own.barrier();
    if (own.here().number() == 2) return;
    EXPECT_THROW(waiting.get(), locality_lost);
    EXPECT_THROW(waiting_fetch.get(), locality_lost);
    EXPECT_THROW(homeless.fetch().get(), locality_lost);
    both_have_looked.arrive_and_wait();
    EXPECT_THROW(moved.fetch().get(), locality_lost);
    EXPECT_THROW(moved.ready().get(), locality_lost);
    EXPECT_THROW(moved.move_to(own.at(0)).get(), locality_lost);
    // A move to a locality that is lost changes nothing.
    const auto unmoved = global_data<int>::create(own, 8);
    EXPECT_THROW(unmoved.move_to(own.at(2)).get(), locality_lost);
    EXPECT_EQ(unmoved.fetch().get(), 8);
    both_have_looked.arrive_and_wait();
  });
}

// It would never tell the home that it has finished.
TEST(global_data, does_not_wait_for_the_fetch_of_a_locality_that_was_lost) {
  std::barrier<> both_have_looked(2);
  run_with_a_loss(3, [&](job& own) {
    const auto mine = global_data<int>::create(own, 7);
    const auto shared = handle_of(own, mine, 0);
    if (own.here().number() == 0) shared.move_to(own.at(1)).get();
    own.barrier();
    if (own.here().number() == 2) {
      using begin = object_call<&detail::data_object<int>::begin_fetch>;
      EXPECT_EQ(begin::call(own.objects(), shared.id()).get().owner, 1u);
    }
    own.barrier();
    if (own.here().number() == 2) return;
    if (own.here().number() == 0) shared.move_to(own.at(0)).get();
    both_have_looked.arrive_and_wait();
    EXPECT_EQ(shared.fetch().get(), 7);
    both_have_looked.arrive_and_wait();
  });
}

}  // namespace trimtab::parcels
