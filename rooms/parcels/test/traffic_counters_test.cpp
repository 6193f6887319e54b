#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "counters/counter_printer.hpp"
#include "local_job.hpp"
#include "trimtab/parcels/counters/counters.hpp"

namespace trimtab::parcels {

namespace {

int half_of(int number) { return number / 2; }
std::size_t length_of(const std::string& text) { return text.size(); }

double value_of(job& own, const std::string& path, const traffic_snapshot& first = {}) {
  const auto counters = find_counters(own, path);
  EXPECT_EQ(counters.size(), 1u) << path;
  return counters.front().value(traffic_snapshot(own), first);
}

std::string error_of(job& own, const std::string& path) {
  try {
    find_counters(own, path);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

std::string name_of_half() {
  return name_of_action(decltype(detail::call_of(half_of))::kind, reinterpret_cast<void*>(half_of));
}

void call_halves(job& own, int calls) {
  for (int i = 0; i < calls; ++i) EXPECT_EQ(async(own.at(1), half_of, 2 * i).get(), i);
}

}  // namespace

TEST(traffic_counters, count_each_parcel_by_action_and_locality) {
  run_locally({.size = 3}, [](job& own) {
    own.barrier();
    if (own.here().number() == 0) {
      call_halves(own, 100);
      const std::string text(1000, 'x');
      EXPECT_EQ(async(own.at(2), length_of, text).get(), 1000u);
      const std::string half = "action#" + name_of_half();
      EXPECT_EQ(value_of(own, "/parcels{locality#0/" + half + "}/count/sent"), 100);
      EXPECT_EQ(value_of(own, "/parcels{locality#0/to#1/" + half + "}/count/sent"), 100);
      EXPECT_EQ(value_of(own, "/parcels{locality#0/to#2/" + half + "}/count/sent"), 0);
      EXPECT_EQ(value_of(own, "/parcels{locality#0/to#1/" + half + "}/bytes/sent"), 400);
      EXPECT_EQ(value_of(own, "/parcels{locality#0/to#1/" + half + "}/bytes/average"), 4);
      // Of 4 to 7 bytes, taken as 6.
      EXPECT_EQ(value_of(own, "/parcels{locality#0/to#1/" + half + "}/bytes/p99"), 6);
      EXPECT_EQ(value_of(own, "/parcels{locality#0/to#1/action#result}/count/received"), 100);
      EXPECT_GE(value_of(own, "/parcels{locality#0/to#2}/bytes/sent"), 1000);
      EXPECT_GT(value_of(own, "/parcels/count/sent"), 101);  // the barrier's, too
    }
    own.barrier();
    if (own.here().number() == 1) {
      EXPECT_EQ(value_of(own, "/parcels{locality#1/to#0/action#" + name_of_half() + "}/count/received"), 100);
      EXPECT_EQ(value_of(own, "/parcels/count/handled"), 100);
      EXPECT_GT(value_of(own, "/parcels{locality#1/action#" + name_of_half() + "}/arrival-interval/p50"), 0);
    }
    own.barrier();
  });
}

TEST(traffic_counters, of_messages_agree_with_each_other) {
  run_locally({.size = 2}, [](job& own) {
    own.barrier();
    if (own.here().number() == 0) {
      call_halves(own, 200);
      const traffic_snapshot counts(own);
      double flushed = 0;
      for (const auto& counter : find_counters(counts, "/messages/flushed/*")) flushed += counter.value(counts);
      const double sent = find_counters(counts, "/messages/count/sent").front().value(counts);
      EXPECT_EQ(flushed, sent);
      const double parcels = find_counters(counts, "/parcels/count/sent").front().value(counts);
      EXPECT_DOUBLE_EQ(find_counters(counts, "/messages/parcels/average").front().value(counts), parcels / sent);
    }
    own.barrier();
  });
}

TEST(traffic_counters, times_are_parts_of_the_background) {
  run_locally({.size = 2}, [](job& own) {
    own.barrier();
    if (own.here().number() == 0) {
      call_halves(own, 200);
      const traffic_snapshot counts(own);
      const auto value = [&](const char* path) { return find_counters(counts, path).front().value(counts); };
      EXPECT_GT(value("/parcels/time/send"), 0);
      EXPECT_GT(value("/parcels/time/serialization"), 0);
      EXPECT_GT(value("/parcels/time/receive"), 0);
      EXPECT_GE(value("/parcels/time/background"), value("/parcels/time/receive") + value("/parcels/time/serialization"));
      EXPECT_GT(value("/parcels/network-overhead"), 0);
      EXPECT_LE(value("/parcels/network-overhead"), 1);
      EXPECT_GE(value("/parcels/age/p99"), value("/parcels/age/p50"));
    }
    own.barrier();
  });
}

TEST(traffic_counters, of_an_interval_are_differences) {
  run_locally({.size = 2}, [](job& own) {
    own.barrier();
    if (own.here().number() == 0) {
      const std::string path = "/parcels{locality#0/to#1/action#" + name_of_half() + "}/count/sent";
      call_halves(own, 10);
      const traffic_snapshot before(own);
      call_halves(own, 7);
      EXPECT_EQ(value_of(own, path, before), 7);
      EXPECT_TRUE(std::isnan(value_of(own, "/messages/parcels/average", traffic_snapshot(own))));
    }
    own.barrier();
  });
}

TEST(traffic_counters, a_star_stands_for_each) {
  run_locally({.size = 3}, [](job& own) {
    own.barrier();
    const auto by_destination = find_counters(own, "/messages{locality#*/to#*}/count/sent");
    ASSERT_EQ(by_destination.size(), 2u);
    const std::string self = std::to_string(own.here().number());
    EXPECT_EQ(by_destination[0].path(), "/messages{locality#" + self + "/to#" + (self == "0" ? "1" : "0") + "}/count/sent");
    for (const auto& counter : find_counters(own, "/parcels{locality#*/to#*/action#*}/*"))
      EXPECT_EQ(counter.type().scope, counter_scope::action);
    EXPECT_EQ(find_counters(own, "/parcels{locality#*/action#collective operation}/count/sent").size(), 1u);
    own.barrier();
  });
}

TEST(traffic_counters, a_wrong_path_is_explained) {
  run_locally({.size = 2}, [](job& own) {
    const std::string self = std::to_string(own.here().number());
    const auto expect_text = [&](const std::string& path, const std::string& text) {
      EXPECT_NE(error_of(own, path).find(text), std::string::npos) << error_of(own, path);
    };
    expect_text("parcels", "begins with \"/\"");
    expect_text("/parcels/colour", "there is no such counter; there are /parcels/count/sent");
    expect_text("/parcels{locality#7/total}/count/sent", "\"locality#7\" where locality#" + self);
    expect_text("/parcels{locality#*/to#2}/count/sent", "locality \"2\" where 0 to 1 or * is expected");
    expect_text("/parcels{locality#*/thread#2}/count/sent", "\"thread#2\" where total, to#N");
    expect_text("/parcels{locality#*/total/count/sent", "\"{\" without \"}\"");
    expect_text("/parcels{locality#*/to#*}/network-overhead", "not counted by this instance");
  });
}

TEST(traffic_counters, a_job_of_one_locality_has_no_traffic) {
  job own(nullptr);
  EXPECT_EQ(value_of(own, "/parcels/count/sent"), 0);
  EXPECT_TRUE(find_counters(own, "/messages{locality#0/to#*}/count/sent").empty());
}

TEST(traffic_counters, of_communication_servers_are_by_server_and_in_total) {
  run_locally({.size = 2, .servers = all_served(2)}, [](job& own) {
    own.barrier();
    if (own.here().number() == 0) {
      call_halves(own, 100);
      ASSERT_TRUE(own.servers()->drain(60'000'000'000));
      const traffic_snapshot counts(own);
      const auto value = [&](const std::string& path) { return find_counters(counts, path).front().value(counts); };
      EXPECT_GT(value("/servers/count/messages"), 0);
      // Servers count a message after they have sent it, so they may be one behind.
      EXPECT_LE(value("/servers/count/messages"), value("/servers/count/handed-over"));
      for (const char* const counter : {"count/messages", "bytes/sent", "count/sleeps", "time/busy"}) {
        double sum = 0;
        const auto each = find_counters(counts, std::string("/servers{locality#0/server#*}/") + counter);
        EXPECT_EQ(each.size(), 2u);
        for (const auto& server : each) sum += server.value(counts);
        EXPECT_DOUBLE_EQ(sum, value(std::string("/servers/") + counter));
      }
      EXPECT_EQ(find_counters(counts, "/servers{locality#0/server#1}/busy-share").front().path(),
                "/servers{locality#0/server#1}/busy-share");
      EXPECT_LE(value("/servers/busy-share"), 1);
      EXPECT_NE(error_of(own, "/servers{locality#0/server#2}/busy-share").find("server \"2\" where 0 to 1 or *"),
                std::string::npos);
      EXPECT_NE(error_of(own, "/servers{locality#0/server#*}/count/handed-over").find("not counted by this instance"),
                std::string::npos);
    }
    own.barrier();
  });
}

TEST(traffic_counters, of_servers_that_are_not_there_are_explained) {
  run_locally({.size = 2}, [](job& own) {
    EXPECT_EQ(value_of(own, "/servers/count/messages"), 0);
    EXPECT_TRUE(std::isnan(value_of(own, "/servers/busy-share")));
    EXPECT_NE(error_of(own, "/servers{locality#*/server#0}/busy-share").find("has no communication servers"),
              std::string::npos);
  });
}

TEST(traffic_counters, are_printed_by_the_option_of_the_runtime) {
  std::vector<std::string> paths{"/threads/idle-rate", "/parcels/count/sent", "/parcels2/x", "/servers{locality#*/total}/*"};
  EXPECT_EQ(counter_printer::take_paths(paths),
            (std::vector<std::string>{"/parcels/count/sent", "/servers{locality#*/total}/*"}));
  EXPECT_EQ(paths, (std::vector<std::string>{"/threads/idle-rate", "/parcels2/x"}));
  job_options options;
  options.runtime.print_counters = {"/threads/count/cumulative", "/parcels{locality#*/to#*}/count/sent",
                                    "/parcels/bytes/average"};
  testing::internal::CaptureStderr();
  run_locally({.size = 2, .options = options}, [](job& own) {
    own.barrier();
    if (own.here().number() == 0) call_halves(own, 10);
    own.barrier();
  });
  const std::string printed = testing::internal::GetCapturedStderr();
  for (const char* const expected : {"/threads{locality#0/total}/count/cumulative,", "/parcels{locality#0/to#1}/count/sent,",
                                     "/parcels{locality#1/to#0}/count/sent,", "/parcels{locality#0/total}/bytes/average,"})
    EXPECT_NE(printed.find(expected), std::string::npos) << expected << " in\n" << printed;
}

TEST(traffic_counters, that_are_to_be_printed_now_and_then_are) {
  job_options options;
  options.runtime.print_counters = {"/messages/count/sent"};
  options.runtime.print_counters_ms = 1;
  testing::internal::CaptureStderr();
  const std::uint64_t end_ns = base::monotonic_ns() + 100'000'000;
  run_locally({.size = 2, .options = options}, [&](job& own) {
    // Until the clock says that it must have been printed at least twice.
    do own.barrier();
    while (own.all_reduce(base::monotonic_ns() < end_ns, [](bool one, bool other) { return one || other; }));
  });
  const std::string printed = testing::internal::GetCapturedStderr();
  std::size_t lines = 0;
  for (std::size_t at = printed.find("/messages{locality#0/total}/count/sent,"); at != std::string::npos;
       at = printed.find("/messages{locality#0/total}/count/sent,", at + 1))
    lines += 1;
  EXPECT_GE(lines, 2u) << printed;
}

TEST(traffic_counters, that_do_not_exist_are_refused_before_the_job_begins) {
  job_options options;
  options.runtime.print_counters = {"/parcels/colour"};
  EXPECT_THROW(job(nullptr, options), std::invalid_argument);
}

}  // namespace trimtab::parcels
