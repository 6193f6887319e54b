#include "trimtab/base/periodic_thread.hpp"

#include <gtest/gtest.h>
#include <locale.h>
#include <signal.h>

#include <atomic>
#include <cfenv>
#include <future>
#include <stdexcept>
#include <string>
#include <utility>

namespace trimtab::base {
namespace {

constexpr double long_s = 60, short_s = 1e-4;

// What a thread has done; held by its functions.
struct log {
  std::atomic<int> times{0}, last{0}, failures{0};
  std::atomic<bool> takes_signals{false};
  std::promise<void> third;
};

periodic_thread::work counting(const std::shared_ptr<log>& target, double period_s) {
  return {[period_s] { return period_s; },
          [target](bool is_last) {
            sigset_t held;
            pthread_sigmask(SIG_SETMASK, nullptr, &held);
            target->takes_signals = target->takes_signals || sigismember(&held, SIGUSR1) == 0;
            target->last += is_last;
            if (++target->times == 3) target->third.set_value();
          },
          [target](const char*) { target->failures += 1; }};
}

TEST(periodic_thread, goes_on_until_it_is_ended_and_then_once_more) {
  const auto record = std::make_shared<log>();
  periodic_thread thread;
  EXPECT_TRUE(thread.end(0)) << "there is none";
  ASSERT_TRUE(thread.start("test", counting(record, short_s)));
  record->third.get_future().wait();
  EXPECT_EQ(record->last, 0);
  EXPECT_TRUE(thread.end(long_s));
  EXPECT_EQ(record->last, 1);
  const int times = record->times;
  EXPECT_TRUE(thread.end(long_s)) << "it is over";
  EXPECT_EQ(record->times, times);
  EXPECT_FALSE(record->takes_signals);
  EXPECT_EQ(record.use_count(), 1) << "and has let go of what it worked on";
}

TEST(periodic_thread, does_not_wait_for_its_time_when_it_is_ended) {
  const auto record = std::make_shared<log>();
  periodic_thread thread;
  ASSERT_TRUE(thread.start("test", counting(record, 1e6)));
  EXPECT_TRUE(thread.end(long_s));
  EXPECT_EQ(record->times, 1);
}

TEST(periodic_thread, ends_by_what_is_thrown) {
  const auto reported = std::make_shared<std::promise<std::string>>();
  periodic_thread thread;
  ASSERT_TRUE(thread.start("test", {[] { return short_s; }, [](bool) { throw std::runtime_error("no more"); },
                                    [reported](const char* what) { reported->set_value(what); }}));
  EXPECT_EQ(reported->get_future().get(), "no more");
  EXPECT_TRUE(thread.end(long_s));
}

// Whatever the program has made of them, and those that it inherits.
TEST(periodic_thread, computes_and_writes_figures_as_everywhere) {
  const int before = std::fegetround();
  std::fesetround(FE_UPWARD);
  struct found {
    int rounding = -1;
    bool has_locale_of_its_own = false;
  };
  const auto found_log = std::make_shared<found>();
  periodic_thread thread;
  EXPECT_TRUE(thread.start("test", {[] { return long_s; },
                                    [found_log](bool) {
                                      found_log->rounding = std::fegetround();
                                      found_log->has_locale_of_its_own = uselocale(nullptr) != LC_GLOBAL_LOCALE;
                                    },
                                    [](const char*) {}}));
  std::fesetround(before);
  ASSERT_TRUE(thread.end(long_s));
  EXPECT_EQ(found_log->rounding, FE_TONEAREST);
  EXPECT_TRUE(found_log->has_locale_of_its_own);
}

TEST(periodic_thread, is_left_behind_where_it_hangs) {
  const auto begun = std::make_shared<std::promise<void>>(), goes_on = std::make_shared<std::promise<void>>();
  const auto finished = std::make_shared<std::promise<void>>();
  {
    periodic_thread thread;
    ASSERT_TRUE(thread.start("test", {[] { return short_s; },
                                      [=, is_first = true](bool is_last) mutable {
                                        if (std::exchange(is_first, false)) {
                                          begun->set_value();
                                          goes_on->get_future().wait();
                                        }
                                        if (is_last) finished->set_value();
                                      },
                                      [](const char*) {}}));
    begun->get_future().wait();
    EXPECT_FALSE(thread.end(0));
  }
  goes_on->set_value();
  finished->get_future().wait();
}

}  // namespace
}  // namespace trimtab::base
