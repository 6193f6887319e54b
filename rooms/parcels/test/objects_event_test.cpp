#include <gtest/gtest.h>

#include <future>
#include <numeric>
#include <vector>

#include "objects_helpers.hpp"
#include "trimtab/parcels/objects/remote_event.hpp"

namespace trimtab::parcels {

namespace {

class remote_slots : public objects_test {};
INSTANTIATE_TEST_SUITE_P(all, remote_slots, ::testing::ValuesIn(objects_settings()), name_of_objects_setting);

void send_doubled(remote_event<double> target, std::vector<double> values) {
  for (double& value : values) value *= 2;
  target.satisfy(std::move(values)).get();
}

void say_done(remote_event<> target) { target.satisfy().get(); }

}  // namespace

TEST_P(remote_slots, are_satisfied_by_other_localities_with_data) {
  run([](job& this_job) {
    std::vector<double> values(300'000);
    std::iota(values.begin(), values.end(), 0.0);
    const locality next = this_job.at((this_job.here().number() + 1) % this_job.size());
    tasks::graph graph(this_job.home());
    remote_slot<double> slot(this_job, graph, "halo");
    const remote_slot<> go(this_job, graph, "go");
    double sum = 0, last = 0;
    const auto half = graph.make_block<double>(1, "half");
    const auto summed = graph.task(
        "sum", [&](std::span<const double> halo) { sum = std::accumulate(halo.begin(), halo.end(), 0.0); },
        tasks::read_only(slot.event()), tasks::after(go.event()));
    graph.task(
        "last", [&](std::span<double> to) { last = to[0] = sum / 2; }, tasks::exclusive_write(half), tasks::after(summed));
    post(next, send_doubled, slot.handle(), values);
    slot.satisfied().get();
    EXPECT_FALSE(go.satisfied().ready());
    post(next, say_done, go.handle());
    go.satisfied().get();
    graph.wait();
    EXPECT_EQ(sum, 299'999.0 * 300'000);
    EXPECT_EQ(last, 299'999.0 * 150'000);
  });
}

TEST_P(remote_slots, refuse_a_second_time_and_slots_that_are_gone) {
  run([](job& this_job) {
    const locality next = this_job.at((this_job.here().number() + 1) % this_job.size());
    tasks::graph graph(this_job.home());
    auto slot = std::make_unique<remote_slot<int>>(this_job, graph, "once");
    const remote_event<int> handle = slot->handle();
    const auto satisfy = [](remote_event<int> target, std::vector<int> values) { target.satisfy(std::move(values)).get(); };
    async(next, satisfy, handle, std::vector<int>{1, 2}).get();
    EXPECT_EQ(slot->event().result().values()[1], 2);
    EXPECT_THROW(async(next, satisfy, handle, std::vector<int>{3}).get(), tasks::graph_error);
    const auto waiting = std::make_unique<remote_slot<>>(this_job, graph);
    const auto satisfied = waiting->satisfied();
    waiting->handle().destroy().get();
    EXPECT_THROW(waiting->handle().satisfy().get(), no_such_object);
    slot.reset();
    EXPECT_THROW(async(next, satisfy, handle, std::vector<int>{1}).get(), no_such_object);
    EXPECT_FALSE(satisfied.ready());
  });
}

}  // namespace trimtab::parcels
