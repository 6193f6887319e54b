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
void use_at_random(job& this_job, const std::vector<block_of_numbers>& blocks, std::uint64_t seed) {
  test_random random(seed + this_job.here().number());
  for (int round = 0; round < 10; ++round) {
    std::vector<std::pair<std::uint32_t, tasks::future<std::vector<std::uint32_t>>>> fetches;
    std::vector<tasks::future<void>> others;
    for (int i = 0; i < 12; ++i) {
      const auto number = static_cast<std::uint32_t>(random.below(blocks.size()));
      const auto target = static_cast<locality_number>(random.below(this_job.size()));
      switch (random.below(4)) {
        case 0:
        case 1:
          fetches.emplace_back(number, blocks[number].fetch());
          break;
        case 2:
          others.push_back(blocks[number].move_to(this_job.at(target)));
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
  run([](job& this_job) {
    const auto local_handle = global_data<std::vector<double>>::create(this_job, long_values());
    const auto far = handle_of(this_job, local_handle, this_job.size() - 1);
    for (locality_number owner = 0; owner < this_job.size(); ++owner) {
      if (this_job.here().number() == 0) far.move_to(this_job.at(owner)).get();
      this_job.wait_until_quiet();  // the old owner has dropped it
      EXPECT_EQ(this_job.objects().kept(far.id()) != nullptr, this_job.here().number() == owner);
      far.ready().get();
      EXPECT_EQ(far.fetch().get(), long_values());
      this_job.barrier();
    }
    EXPECT_THROW(far.move_to(locality(this_job, this_job.size())).get(), std::out_of_range);
    this_job.barrier();
    if (this_job.here().number() == 0) far.destroy().get();
    this_job.barrier();
    EXPECT_THROW(far.fetch().get(), no_such_object);
    EXPECT_THROW(far.ready().get(), no_such_object);
    this_job.wait_until_quiet();
    EXPECT_EQ(this_job.objects().kept_count(), this_job.here().number() == this_job.size() - 1 ? 0u : 1u);
    this_job.barrier();
  });
}

TEST_P(global_data_blocks, may_be_promised) {
  run([](job& this_job) {
    const auto local_handle = remote_promise<std::string>::create(this_job);
    auto ready = local_handle.data().ready();
    auto moved = local_handle.data().move_to(this_job.at(this_job.size() - 1));
    auto content = async(
        this_job.at(this_job.size() - 1), [](global_data<std::string> data) { return data.fetch(); }, local_handle.data());
    EXPECT_FALSE(ready.ready() || moved.ready() || content.ready());
    async(this_job.at(0), [](remote_promise<std::string> promise) { promise.set_value("kept").get(); }, local_handle).get();
    ready.get();
    moved.get();
    EXPECT_EQ(content.get(), "kept");
    EXPECT_THROW(local_handle.set_value("again").get(), std::future_error);
    EXPECT_THROW(local_handle.set_exception(std::make_exception_ptr(std::domain_error("late"))).get(), std::future_error);
    EXPECT_EQ(local_handle.data().fetch().get(), "kept");
  });
}

TEST_P(global_data_blocks, bring_the_exception_that_was_set) {
  run([](job& this_job) {
    const auto far = handle_of(this_job, remote_promise<int>::create(this_job), this_job.size() - 1);
    auto content = far.data().fetch();
    auto ready = far.data().ready();
    this_job.barrier();
    if (this_job.here().number() == 0) {
      far.set_exception(std::make_exception_ptr(std::domain_error("not today"))).get();
      EXPECT_THROW(far.set_exception(nullptr).get(), std::invalid_argument);
    }
    EXPECT_THROW(content.get(), std::domain_error);
    EXPECT_THROW(ready.get(), std::domain_error);
    EXPECT_THROW(far.data().move_to(this_job.here()).get(), std::domain_error);
    this_job.barrier();
    const auto never = remote_promise<int>::create(this_job);
    auto waiting = never.data().fetch();
    never.destroy().get();
    EXPECT_THROW(waiting.get(), no_such_object);
  });
}

TEST_P(global_data_blocks, stay_where_they_are_if_a_move_fails) {
  run([](job& this_job) {
    if (this_job.size() == 1) return;
    const auto far = handle_of(this_job, global_data<unreadable_at_one>::create(this_job, {5}), 0);
    if (this_job.here().number() == 0) {
      EXPECT_THROW(far.move_to(this_job.at(1)).get(), std::domain_error);
      EXPECT_EQ(far.fetch().get().number, 5);
      far.move_to(this_job.at(this_job.size() - 1 == 1 ? 0 : this_job.size() - 1)).get();
      EXPECT_EQ(far.fetch().get().number, 5);
    }
    this_job.barrier();
  });
}

TEST_P(global_data_blocks, survive_random_moves_and_fetches) {
  constexpr std::uint32_t count = 6;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    run([&](job& this_job) {
      std::vector<block_of_numbers> blocks;
      for (std::uint32_t number = 0; number < count; ++number)
        blocks.push_back(
            handle_of(this_job, block_of_numbers::create(this_job, values_of_block(number)), number % this_job.size()));
      this_job.barrier();
      use_at_random(this_job, blocks, 1000 * seed);
      this_job.barrier();
      this_job.wait_until_quiet();
      // Each block is at exactly one locality.
      for (const block_of_numbers& block : blocks) {
        const std::uint32_t copies = this_job.objects().kept(block.id()) != nullptr ? 1 : 0;
        EXPECT_EQ(this_job.all_reduce(copies, std::plus<>()), 1u);
      }
      EXPECT_EQ(this_job.objects().failed_posts(), 0u);
      this_job.barrier();
    });
  }
}

TEST(global_data, says_that_its_owner_or_its_home_was_lost) {
  std::barrier<> both_have_looked(2);
  run_with_a_loss(3, [&](job& this_job) {
    const auto local_handle = global_data<int>::create(this_job, static_cast<int>(this_job.here().number()));
    const auto moved = handle_of(this_job, local_handle, 0), homeless = handle_of(this_job, local_handle, 2);
    const auto promised = handle_of(this_job, remote_promise<int>::create(this_job), 2).data();
    if (this_job.here().number() == 1) moved.move_to(this_job.at(2)).get();
    auto waiting = promised.ready();
    auto waiting_fetch = promised.fetch();
    this_job.barrier();
    EXPECT_EQ(moved.fetch().get(), 0);
    this_job.barrier();
    if (this_job.here().number() == 2) return;
    EXPECT_THROW(waiting.get(), locality_lost);
    EXPECT_THROW(waiting_fetch.get(), locality_lost);
    EXPECT_THROW(homeless.fetch().get(), locality_lost);
    both_have_looked.arrive_and_wait();
    EXPECT_THROW(moved.fetch().get(), locality_lost);
    EXPECT_THROW(moved.ready().get(), locality_lost);
    EXPECT_THROW(moved.move_to(this_job.at(0)).get(), locality_lost);
    // A move to a locality that is lost changes nothing.
    const auto unmoved = global_data<int>::create(this_job, 8);
    EXPECT_THROW(unmoved.move_to(this_job.at(2)).get(), locality_lost);
    EXPECT_EQ(unmoved.fetch().get(), 8);
    both_have_looked.arrive_and_wait();
  });
}

// It would never tell the home that it has finished.
TEST(global_data, does_not_wait_for_the_fetch_of_a_locality_that_was_lost) {
  std::barrier<> both_have_looked(2);
  run_with_a_loss(3, [&](job& this_job) {
    const auto local_handle = global_data<int>::create(this_job, 7);
    const auto shared = handle_of(this_job, local_handle, 0);
    if (this_job.here().number() == 0) shared.move_to(this_job.at(1)).get();
    this_job.barrier();
    if (this_job.here().number() == 2) {
      using begin = object_call<&detail::data_object<int>::begin_fetch>;
      EXPECT_EQ(begin::call(this_job.objects(), shared.id()).get().owner, 1u);
    }
    this_job.barrier();
    if (this_job.here().number() == 2) return;
    if (this_job.here().number() == 0) shared.move_to(this_job.at(0)).get();
    both_have_looked.arrive_and_wait();
    EXPECT_EQ(shared.fetch().get(), 7);
    both_have_looked.arrive_and_wait();
  });
}

}  // namespace trimtab::parcels
