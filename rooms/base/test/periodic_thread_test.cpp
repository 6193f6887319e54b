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

periodic_thread::work counting(const std::shared_ptr<log>& into, double period_s) {
  return {[period_s] { return period_s; },
          [into](bool is_last) {
            sigset_t held;
            pthread_sigmask(SIG_SETMASK, nullptr, &held);
            into->takes_signals = into->takes_signals || sigismember(&held, SIGUSR1) == 0;
            into->last += is_last;
            if (++into->times == 3) into->third.set_value();
          },
          [into](const char*) { into->failures += 1; }};
}

TEST(periodic_thread, goes_on_until_it_is_ended_and_then_once_more) {
  const auto done = std::make_shared<log>();
  periodic_thread thread;
  EXPECT_TRUE(thread.end(0)) << "there is none";
  ASSERT_TRUE(thread.start("test", counting(done, short_s)));
  done->third.get_future().wait();
  EXPECT_EQ(done->last, 0);
  EXPECT_TRUE(thread.end(long_s));
  EXPECT_EQ(done->last, 1);
  const int times = done->times;
  EXPECT_TRUE(thread.end(long_s)) << "it is over";
  EXPECT_EQ(done->times, times);
  EXPECT_FALSE(done->takes_signals);
  EXPECT_EQ(done.use_count(), 1) << "and has let go of what it worked on";
}

TEST(periodic_thread, does_not_wait_for_its_time_when_it_is_ended) {
  const auto done = std::make_shared<log>();
  periodic_thread thread;
  ASSERT_TRUE(thread.start("test", counting(done, 1e6)));
  EXPECT_TRUE(thread.end(long_s));
  EXPECT_EQ(done->times, 1);
}

TEST(periodic_thread, ends_by_what_is_thrown) {
  const auto told = std::make_shared<std::promise<std::string>>();
  periodic_thread thread;
  ASSERT_TRUE(thread.start("test", {[] { return short_s; }, [](bool) { throw std::runtime_error("no more"); },
                                    [told](const char* what) { told->set_value(what); }}));
  EXPECT_EQ(told->get_future().get(), "no more");
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
  const auto seen = std::make_shared<found>();
  periodic_thread thread;
  EXPECT_TRUE(thread.start("test", {[] { return long_s; },
                                    [seen](bool) {
                                      seen->rounding = std::fegetround();
                                      seen->has_locale_of_its_own = uselocale(nullptr) != LC_GLOBAL_LOCALE;
                                    },
                                    [](const char*) {}}));
  std::fesetround(before);
  ASSERT_TRUE(thread.end(long_s));
  EXPECT_EQ(seen->rounding, FE_TONEAREST);
  EXPECT_TRUE(seen->has_locale_of_its_own);
}

TEST(periodic_thread, is_left_behind_where_it_hangs) {
  const auto begun = std::make_shared<std::promise<void>>(), goes_on = std::make_shared<std::promise<void>>();
  const auto over = std::make_shared<std::promise<void>>();
  {
    periodic_thread thread;
    ASSERT_TRUE(thread.start("test", {[] { return short_s; },
                                      [=, is_first = true](bool is_last) mutable {
                                        if (std::exchange(is_first, false)) {
                                          begun->set_value();
                                          goes_on->get_future().wait();
                                        }
                                        if (is_last) over->set_value();
                                      },
                                      [](const char*) {}}));
    begun->get_future().wait();
    EXPECT_FALSE(thread.end(0));
  }
  goes_on->set_value();
  over->get_future().wait();
}

}  // namespace
}  // namespace trimtab::base
