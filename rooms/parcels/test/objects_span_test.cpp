#include <gtest/gtest.h>

#include <barrier>
#include <numeric>
#include <vector>

#include "objects_helpers.hpp"
#include "trimtab/parcels/objects/shared_span.hpp"

namespace trimtab::parcels {

namespace {

class shared_spans : public objects_test {};
INSTANTIATE_TEST_SUITE_P(all, shared_spans, ::testing::ValuesIn(objects_settings()), name_of_objects_setting);

struct point {
  double x = 0, y = 0;
  bool operator==(const point&) const = default;
};

// A handle whose span seems to have another size: what a locality of another build could send.
template <class value>
shared_span<value> with_size(job& own, const shared_span<value>& handle, std::uint64_t size) {
  byte_buffer bytes;
  writer{bytes}(handle.id(), size);
  reader in(bytes.view());
  auto forged = in.read<shared_span<value>>();
  forged.bind(own.objects());
  return forged;
}

}  // namespace

TEST_P(shared_spans, are_written_and_read_by_all) {
  run([](job& own) {
    const std::uint32_t self = own.here().number();
    std::vector<std::uint32_t> memory(100 * own.size(), ~0u);
    const auto spans = shared_span<std::uint32_t>::create_all(own, memory);
    ASSERT_EQ(spans.size(), own.size());
    for (const auto& part : spans) {
      EXPECT_EQ(part.size(), memory.size());
      for (std::uint32_t i = 0; i < 100; ++i) part.put(100 * self + i, 1000 * self + i);
    }
    fence(own).get();
    own.barrier();
    for (std::uint32_t from = 0; from < own.size(); ++from)
      for (std::uint32_t i = 0; i < 100; ++i) EXPECT_EQ(memory[100 * from + i], 1000 * from + i);
    for (const auto& part : spans) EXPECT_EQ(part.get(0, part.size()).get(), memory);
    std::vector<std::uint32_t> copy(50);
    spans.back().get(25, copy).get();
    EXPECT_TRUE(std::equal(copy.begin(), copy.end(), memory.begin() + 25));
    own.barrier();
    spans[self].destroy().get();
  });
}

TEST_P(shared_spans, keep_the_order_of_puts_and_gets) {
  run([](job& own) {
    std::vector<std::uint64_t> memory(own.size());
    const auto spans = shared_span<std::uint64_t>::create_all(own, memory);
    const auto& target = spans[(own.here().number() + 1) % own.size()];
    std::vector<tasks::future<std::vector<std::uint64_t>>> reads;
    for (std::uint64_t i = 1; i <= 500; ++i) {
      target.put(own.here().number(), i);
      reads.push_back(target.get(own.here().number(), 1));
    }
    for (std::uint64_t i = 1; i <= 500; ++i) EXPECT_EQ(reads[i - 1].get().front(), i);
    own.barrier();
    spans[own.here().number()].destroy().get();
  });
}

// Long ones do not wait in queues; short ones before and after them do.
TEST_P(shared_spans, take_long_puts_between_short_ones) {
  constexpr std::size_t count = 300'000;
  run([](job& own) {
    std::vector<point> memory(own.here().number() == 0 ? count : 0);
    const auto first = shared_span<point>::create_all(own, memory).front();
    std::vector<point> values(count, {1, 2});
    if (own.here().number() == own.size() - 1) {
      first.put(5, point{7, 7});
      first.put(0, values);
      first.put(6, point{8, 8});
      std::fill(values.begin(), values.end(), point{9, 9});  // they have been copied
      flush(own.at(0)).get();
      std::vector<point> expected(count, {1, 2});
      expected[6] = {8, 8};
      EXPECT_EQ(first.get(0, count).get(), expected);
    }
    own.barrier();
  });
}

TEST_P(shared_spans, report_puts_that_cannot_be_done) {
  run([](job& own) {
    std::vector<int> memory(10);
    const auto spans = shared_span<int>::create_all(own, memory);
    const auto& last = spans.back();
    EXPECT_THROW(last.put(10, 1), std::out_of_range);
    EXPECT_THROW(last.put(~std::uint64_t{0}, std::vector<int>(2)), std::out_of_range);
    EXPECT_THROW(last.get(5, 6), std::out_of_range);
    last.put(10, std::vector<int>());
    EXPECT_THROW(shared_span<int>().put(0, 1), std::out_of_range);
    EXPECT_THROW(shared_span<int>().put(0, std::vector<int>()), std::logic_error);
    const auto forged = with_size(own, last, 1'000'000);
    EXPECT_THROW(forged.get(8, 3).get(), std::out_of_range);
    const locality where = own.at(own.size() - 1);
    if (where.is_here()) {
      EXPECT_THROW(forged.put(10, 1), std::out_of_range);
    } else {
      forged.put(10, 1);
      forged.put(9, 1);
      EXPECT_THROW(flush(where).get(), std::out_of_range);
      forged.put(999'999, 1);
      EXPECT_THROW(fence(own).get(), std::out_of_range);
    }
    fence(own).get();  // an error is thrown once
    own.barrier();
    if (where.is_here()) last.destroy().get();
    own.barrier();
    if (!where.is_here()) {
      last.put(0, 1);
      EXPECT_THROW(flush(where).get(), no_such_object);
    }
    EXPECT_THROW(last.get(0, 1).get(), no_such_object);
    EXPECT_EQ(own.objects().failed_posts(), 0u);
    own.barrier();
  });
}

// What has been put has arrived when the job is quiet, without a flush.
TEST_P(shared_spans, are_part_of_what_a_job_waits_for) {
  run([](job& own) {
    std::vector<std::uint32_t> memory(own.size());
    const auto spans = shared_span<std::uint32_t>::create_all(own, memory);
    for (const auto& part : spans) part.put(own.here().number(), own.here().number() + 1);
    own.wait_until_quiet();
    const std::vector<std::uint32_t> values = spans[own.here().number()].get(0, own.size()).get();
    for (std::uint32_t i = 0; i < own.size(); ++i) EXPECT_EQ(values[i], i + 1);
    own.barrier();
  });
}

TEST(shared_span, says_that_its_locality_was_lost) {
  std::barrier<> both_have_looked(2);
  run_with_a_loss(3, [&](job& own) {
    std::vector<int> memory(4);
    const auto spans = shared_span<int>::create_all(own, memory);
    own.barrier();
    if (own.here().number() == 2) return;
    EXPECT_THROW(while (true) flush(own.at(2)).get(), locality_lost);
    spans[2].put(0, 1);
    EXPECT_THROW(flush(own.at(2)).get(), locality_lost);
    EXPECT_THROW(fence(own).get(), locality_lost);
    EXPECT_THROW(spans[2].get(0, 1).get(), locality_lost);
    spans[1].put(own.here().number(), 1);
    flush(own.at(1)).get();
    EXPECT_EQ(spans[1].get(own.here().number(), 1).get().front(), 1);
    both_have_looked.arrive_and_wait();
  });
}

}  // namespace trimtab::parcels
