// What is recorded when traced parcels leave the queue of their sender: which ones, why, with which message, and when.
#include <gtest/gtest.h>
#include <trimtab.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
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
std::vector<leaving> all_leavings;

trimtab_api& leaving_recorder() {
  static trimtab_api api{};
  api.bytes = sizeof api;
  api.level = [] { return std::uint32_t{TRIMTAB_TRACE}; };
  api.clock = [] { return std::uint32_t{TRIMTAB_CLOCK_MONOTONIC_NS}; };
  api.runtime = [](const char*) { return 1u; };
  api.path_counter = [](const char*, const char*, std::uint32_t) { return 0u; };
  api.parcels_left = [](const std::uint64_t* parcels, std::uint32_t count, std::uint32_t why, std::uint64_t message,
                        std::uint64_t ticks) { all_leavings.push_back({{parcels, parcels + count}, why, message, ticks}); };
  return api;
}

class silent_sink final : public parcel_sink {
 public:
  void on_parcel(locality_number, const parcel_header&, bytes_view) noexcept override {}
  void on_gone(locality_number, std::string_view) noexcept override {}
};

void receive_nothing(const arrival&) {}
constexpr parcel_kind traced_kind{.signature = 31, .receive = receive_nothing, .label = "traced"};

// Two localities in one process and one thread, of which the first sends.
class traced_pair {
 public:
  explicit traced_pair(const coalescing& settings) {
    trimtab_attached_api = &leaving_recorder();
    tasks::recording::attach("test");
    for (memory_job::member_state& member : m_job->members) member.state = memory_job::presence::member;
    for (locality_number number = 0; number < 2; ++number) {
      m_ends[number] = std::make_unique<exchange>(std::make_unique<memory_transport>(m_job, number), m_sink,
                                                  tasks::runtime::ns_per_tick(), settings, 1 << 22);
      m_ends[number]->start();
    }
  }
  void send(std::uint64_t trace, std::size_t bytes = 8) {
    const std::vector<std::byte> arguments(bytes);
    const action& what = action_registry::of_process().find_or_add(traced_kind, nullptr);
    m_ends[0]->send(1, {.what = what, .arguments = arguments, .trace = trace});
  }
  void flush() { m_ends[0]->flush(1); }
  void let_receive() { m_ends[1]->advance(); }
  void let_send() { m_ends[0]->advance(); }

 private:
  std::shared_ptr<memory_job> m_job = std::make_shared<memory_job>(2);
  silent_sink m_sink;
  std::array<std::unique_ptr<exchange>, 2> m_ends;
};

// Each message is sent when it has so many parcels.
coalescing in_messages_of(std::uint32_t count) {
  return {.rules = coalescing::way::strict, .count = count, .most_bytes = 1 << 15};
}

std::string wrong_of_queue() {
  traced_pair pair(in_messages_of(3));
  pair.send(11);
  pair.send(0);  // not traced
  if (!all_leavings.empty()) return "parcels left that still wait";
  const std::uint64_t before = base::now();
  pair.send(13);
  const std::uint64_t after = base::now();
  if (all_leavings.size() != 1) return "messages: " + std::to_string(all_leavings.size());
  const leaving& first = all_leavings[0];
  if (first.parcels != std::vector<std::uint64_t>{11, 13}) return "which parcels";
  if (first.why != TRIMTAB_LEFT_COUNT) return "why: " + std::to_string(first.why);
  if (first.message != 1) return "message: " + std::to_string(first.message);
  if (first.ticks < before || first.ticks > after) return "when";
  pair.send(14);
  pair.flush();
  if (all_leavings.size() != 2) return "messages after a flush: " + std::to_string(all_leavings.size());
  const leaving& second = all_leavings[1];
  if (second.parcels != std::vector<std::uint64_t>{14}) return "a parcel left twice";
  return second.why == TRIMTAB_LEFT_ASKED && second.message == 2 ? "" : "why or with which message after a flush";
}

std::string wrong_without_traced_parcels() {
  traced_pair pair(in_messages_of(2));
  for (int i = 0; i < 4; ++i) pair.send(0);
  return all_leavings.empty() ? "" : "parcels that are not traced";
}

// A message that finds no room in the transport leaves when there is some.
std::string wrong_without_room() {
  traced_pair pair(in_messages_of(1));
  constexpr std::size_t bytes = 16 << 10, most_messages = memory_transport::queue_bytes / bytes;
  std::uint64_t sent = 0;
  while (all_leavings.size() == sent && sent <= most_messages) pair.send(++sent, bytes);
  if (sent > most_messages) return "the transport never refused";
  for (const leaving& item : all_leavings)
    if (item.why != TRIMTAB_LEFT_COUNT) return "why, while there was room: " + std::to_string(item.why);
  pair.let_receive();
  const std::uint64_t before = base::now();
  for (int i = 0; i < 100 && all_leavings.size() < sent; ++i) pair.let_send();
  if (all_leavings.size() != sent) return "it never left";
  const leaving& last = all_leavings.back();
  if (last.parcels != std::vector<std::uint64_t>{sent}) return "which parcel";
  if (last.ticks < before) return "it left before there was room";
  return last.why == TRIMTAB_LEFT_ROOM ? "" : "why, when there was room again: " + std::to_string(last.why);
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
