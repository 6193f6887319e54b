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
shared_span<value> with_size(job& this_job, const shared_span<value>& handle, std::uint64_t size) {
  byte_buffer bytes;
  writer{bytes}(handle.id(), size);
  reader in(bytes.view());
  auto forged = in.read<shared_span<value>>();
  forged.bind(this_job.objects());
  return forged;
}

}  // namespace

TEST_P(shared_spans, are_written_and_read_by_all) {
  run([](job& this_job) {
    const std::uint32_t self = this_job.here().number();
    std::vector<std::uint32_t> memory(100 * this_job.size(), ~0u);
    const auto spans = shared_span<std::uint32_t>::create_all(this_job, memory);
    ASSERT_EQ(spans.size(), this_job.size());
    for (const auto& part : spans) {
      EXPECT_EQ(part.size(), memory.size());
      for (std::uint32_t i = 0; i < 100; ++i) part.put(100 * self + i, 1000 * self + i);
    }
    fence(this_job).get();
    this_job.barrier();
    for (std::uint32_t from = 0; from < this_job.size(); ++from)
      for (std::uint32_t i = 0; i < 100; ++i) EXPECT_EQ(memory[100 * from + i], 1000 * from + i);
    for (const auto& part : spans) EXPECT_EQ(part.get(0, part.size()).get(), memory);
    std::vector<std::uint32_t> copy(50);
    spans.back().get(25, copy).get();
    EXPECT_TRUE(std::equal(copy.begin(), copy.end(), memory.begin() + 25));
    this_job.barrier();
    spans[self].destroy().get();
  });
}

TEST_P(shared_spans, keep_the_order_of_puts_and_gets) {
  run([](job& this_job) {
    std::vector<std::uint64_t> memory(this_job.size());
    const auto spans = shared_span<std::uint64_t>::create_all(this_job, memory);
    const auto& target = spans[(this_job.here().number() + 1) % this_job.size()];
    std::vector<tasks::future<std::vector<std::uint64_t>>> reads;
    for (std::uint64_t i = 1; i <= 500; ++i) {
      target.put(this_job.here().number(), i);
      reads.push_back(target.get(this_job.here().number(), 1));
    }
    for (std::uint64_t i = 1; i <= 500; ++i) EXPECT_EQ(reads[i - 1].get().front(), i);
    this_job.barrier();
    spans[this_job.here().number()].destroy().get();
  });
}

// Long ones do not wait in queues; short ones before and after them do.
TEST_P(shared_spans, take_long_puts_between_short_ones) {
  constexpr std::size_t count = 300'000;
  run([](job& this_job) {
    std::vector<point> memory(this_job.here().number() == 0 ? count : 0);
    const auto first = shared_span<point>::create_all(this_job, memory).front();
    std::vector<point> values(count, {1, 2});
    if (this_job.here().number() == this_job.size() - 1) {
      first.put(5, point{7, 7});
      first.put(0, values);
      first.put(6, point{8, 8});
      std::fill(values.begin(), values.end(), point{9, 9});  // they have been copied
      flush(this_job.at(0)).get();
      std::vector<point> expected(count, {1, 2});
      expected[6] = {8, 8};
      EXPECT_EQ(first.get(0, count).get(), expected);
    }
    this_job.barrier();
  });
}

TEST_P(shared_spans, report_puts_that_cannot_be_done) {
  run([](job& this_job) {
    std::vector<int> memory(10);
    const auto spans = shared_span<int>::create_all(this_job, memory);
    const auto& last = spans.back();
    EXPECT_THROW(last.put(10, 1), std::out_of_range);
    EXPECT_THROW(last.put(~std::uint64_t{0}, std::vector<int>(2)), std::out_of_range);
    EXPECT_THROW(last.get(5, 6), std::out_of_range);
    last.put(10, std::vector<int>());
    EXPECT_THROW(shared_span<int>().put(0, 1), std::out_of_range);
    EXPECT_THROW(shared_span<int>().put(0, std::vector<int>()), std::logic_error);
    const auto forged = with_size(this_job, last, 1'000'000);
    EXPECT_THROW(forged.get(8, 3).get(), std::out_of_range);
    const locality where = this_job.at(this_job.size() - 1);
    if (where.is_here()) {
      EXPECT_THROW(forged.put(10, 1), std::out_of_range);
    } else {
      forged.put(10, 1);
      forged.put(9, 1);
      EXPECT_THROW(flush(where).get(), std::out_of_range);
      forged.put(999'999, 1);
      EXPECT_THROW(fence(this_job).get(), std::out_of_range);
    }
    fence(this_job).get();  // an error is thrown once
    this_job.barrier();
    if (where.is_here()) last.destroy().get();
    this_job.barrier();
    if (!where.is_here()) {
      last.put(0, 1);
      EXPECT_THROW(flush(where).get(), no_such_object);
    }
    EXPECT_THROW(last.get(0, 1).get(), no_such_object);
    EXPECT_EQ(this_job.objects().failed_posts(), 0u);
    this_job.barrier();
  });
}

// What has been put has arrived when the job is quiet, without a flush.
TEST_P(shared_spans, are_part_of_what_a_job_waits_for) {
  run([](job& this_job) {
    std::vector<std::uint32_t> memory(this_job.size());
    const auto spans = shared_span<std::uint32_t>::create_all(this_job, memory);
    for (const auto& part : spans) part.put(this_job.here().number(), this_job.here().number() + 1);
    this_job.wait_until_quiet();
    const std::vector<std::uint32_t> values = spans[this_job.here().number()].get(0, this_job.size()).get();
    for (std::uint32_t i = 0; i < this_job.size(); ++i) EXPECT_EQ(values[i], i + 1);
    this_job.barrier();
  });
}

TEST(shared_span, says_that_its_locality_was_lost) {
  std::barrier<> both_have_looked(2);
  run_with_a_loss(3, [&](job& this_job) {
    std::vector<int> memory(4);
    const auto spans = shared_span<int>::create_all(this_job, memory);
    this_job.barrier();
    if (this_job.here().number() == 2) return;
    EXPECT_THROW(while (true) flush(this_job.at(2)).get(), locality_lost);
    spans[2].put(0, 1);
    EXPECT_THROW(flush(this_job.at(2)).get(), locality_lost);
    EXPECT_THROW(fence(this_job).get(), locality_lost);
    EXPECT_THROW(spans[2].get(0, 1).get(), locality_lost);
    spans[1].put(this_job.here().number(), 1);
    flush(this_job.at(1)).get();
    EXPECT_EQ(spans[1].get(this_job.here().number(), 1).get().front(), 1);
    both_have_looked.arrive_and_wait();
  });
}

}  // namespace trimtab::parcels
