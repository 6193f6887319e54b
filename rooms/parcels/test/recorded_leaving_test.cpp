// What is recorded when traced parcels leave the queue of their sender: which ones, why, with which message, and when.
#include <gtest/gtest.h>
#include <trimtab.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "memory_transport.hpp"
#include "trimtab/base/clock.hpp"
#include "trimtab/parcels/coalescing/exchange.hpp"
#include "trimtab/tasks/core/recording.hpp"
#include "trimtab/tasks/core/runtime.hpp"

namespace trimtab::parcels {
namespace {

struct leaving {
  std::vector<std::uint64_t> parcels;
  std::uint32_t why;
  std::uint64_t message, ticks;
};
// The thread of an exchange sends, too.
std::mutex leavings_lock;
std::vector<leaving> recorded_leavings;
std::vector<leaving> leavings_until_now() {
  const std::scoped_lock lock(leavings_lock);
  return recorded_leavings;
}

trimtab_api& leaving_recorder() {
  static trimtab_api api{};
  api.bytes = sizeof api;
  api.level = [] { return std::uint32_t{TRIMTAB_TRACE}; };
  api.clock = [] { return std::uint32_t{TRIMTAB_CLOCK_MONOTONIC_NS}; };
  api.runtime = [](const char*) { return 1u; };
  api.path_counter = [](const char*, const char*, std::uint32_t) { return 0u; };
  api.parcels_left = [](const std::uint64_t* parcels, std::uint32_t count, std::uint32_t why, std::uint64_t message,
                        std::uint64_t ticks) {
    const std::scoped_lock lock(leavings_lock);
    recorded_leavings.push_back({{parcels, parcels + count}, why, message, ticks});
  };
  return api;
}

class silent_sink final : public parcel_sink, public message_sink {
 public:
  void on_parcel(locality_number, const parcel_header&, bytes_view) noexcept override {}
  void on_message(locality_number, bytes_view) noexcept override {}
  void on_left(locality_number) noexcept override {}
  void on_lost(locality_number, std::string_view) noexcept override {}
  void on_gone(locality_number, std::string_view) noexcept override {}
};

void receive_nothing(const arrival&) {}
constexpr parcel_kind traced_kind{.signature = 31, .receive = receive_nothing, .label = "traced"};

// A locality that sends, and a transport that receives only when the test says so.
class traced_sender {
 public:
  explicit traced_sender(const coalescing& settings) {
    trimtab_attached_api = &leaving_recorder();
    tasks::recording::attach("test");
    for (memory_job::member_state& member : m_job->members) member.state = memory_job::presence::member;
    m_exchange = std::make_unique<exchange>(std::make_unique<memory_transport>(m_job, 0), m_sink,
                                            tasks::runtime::ns_per_tick(), settings, 1 << 22);
    m_exchange->start();
  }
  void send(std::uint64_t trace, std::size_t bytes = 8) {
    const std::vector<std::byte> arguments(bytes);
    const action& what = action_registry::of_process().find_or_add(traced_kind, nullptr);
    m_exchange->send(1, {.what = what, .arguments = arguments, .trace = trace});
  }
  void flush() { m_exchange->flush(1); }
  void send_what_waits() { m_exchange->advance(); }
  void receive_all() { m_receiver.receive(m_sink, ~std::size_t{0}); }

 private:
  std::shared_ptr<memory_job> m_job = std::make_shared<memory_job>(2);
  silent_sink m_sink;
  memory_transport m_receiver{m_job, 1};
  std::unique_ptr<exchange> m_exchange;
};

// Each message is sent when it has so many parcels.
coalescing in_messages_of(std::uint32_t count) {
  return {.rules = coalescing::way::strict, .count = count, .most_bytes = 1 << 15};
}

std::string wrong_of_queue() {
  traced_sender sender(in_messages_of(3));
  sender.send(11);
  sender.send(0);  // not traced
  if (!leavings_until_now().empty()) return "parcels left that still wait";
  const std::uint64_t before = base::now();
  sender.send(13);
  const std::uint64_t after = base::now();
  const std::vector<leaving> first = leavings_until_now();
  if (first.size() != 1) return "messages: " + std::to_string(first.size());
  if (first[0].parcels != std::vector<std::uint64_t>{11, 13}) return "which parcels";
  if (first[0].why != TRIMTAB_LEFT_COUNT) return "why: " + std::to_string(first[0].why);
  if (first[0].message != 1) return "message: " + std::to_string(first[0].message);
  if (first[0].ticks < before || first[0].ticks > after) return "when";
  sender.send(14);
  sender.flush();
  const std::vector<leaving> both = leavings_until_now();
  if (both.size() != 2) return "messages after a flush: " + std::to_string(both.size());
  if (both[1].parcels != std::vector<std::uint64_t>{14}) return "a parcel left twice";
  return both[1].why == TRIMTAB_LEFT_ASKED && both[1].message == 2 ? "" : "why or with which message after a flush";
}

std::string wrong_without_traced_parcels() {
  traced_sender sender(in_messages_of(2));
  for (int i = 0; i < 4; ++i) sender.send(0);
  return leavings_until_now().empty() ? "" : "parcels that are not traced";
}

// A message that finds no room in the transport leaves when there is some.
std::string wrong_without_room() {
  traced_sender sender(in_messages_of(1));
  constexpr std::size_t bytes = 16 << 10, most_messages = memory_transport::queue_bytes / bytes;
  std::uint64_t sent = 0;
  while (leavings_until_now().size() == sent && sent <= most_messages) sender.send(++sent, bytes);
  if (sent > most_messages) return "the transport never refused";
  for (const leaving& item : leavings_until_now())
    if (item.why != TRIMTAB_LEFT_COUNT) return "why, while there was room: " + std::to_string(item.why);
  const std::uint64_t before = base::now();
  sender.receive_all();
  for (int i = 0; i < 100 && leavings_until_now().size() < sent; ++i) sender.send_what_waits();
  const std::vector<leaving> all = leavings_until_now();
  if (all.size() != sent) return "it never left";
  if (all.back().parcels != std::vector<std::uint64_t>{sent}) return "which parcel";
  if (all.back().ticks < before) return "it left before there was room";
  return all.back().why == TRIMTAB_LEFT_ROOM ? "" : "why, when there was room again: " + std::to_string(all.back().why);
}

// A process has one recorder.
void expect_nothing_wrong(std::string (*check)()) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        const std::string wrong = check();
        std::fprintf(stderr, "wrong: %s.\n", wrong.c_str());
        std::_Exit(wrong.empty() ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "wrong: \\.");
}

TEST(recorded_leaving, says_which_parcels_why_and_with_which_message) { expect_nothing_wrong(wrong_of_queue); }
TEST(recorded_leaving, is_of_traced_parcels_alone) { expect_nothing_wrong(wrong_without_traced_parcels); }
TEST(recorded_leaving, is_later_without_room) { expect_nothing_wrong(wrong_without_room); }

}  // namespace
}  // namespace trimtab::parcels
