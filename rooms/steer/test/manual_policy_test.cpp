// What the user sets while the program runs: through the mapped file, the engine and back.
#include "trimtab/steer/manual_policy.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

#include "scenario.hpp"
#include "scratch_folder.hpp"
#include "trimtab/steer/manual_panel.hpp"
#include "trimtab/steer/policy_factory.hpp"

namespace trimtab::steer::testing {
namespace {

using observe::knob_answer;
using observe::knob_request;

const subject_info region{7, "mandel.c:48", {numbers("threads", 1, 4, 4), kinds("schedule", {"static", "dynamic"})}};
knob with_consent(knob changed) {
  changed.asks = consent::needed;
  return changed;
}

// The other process: the file as it is mapped there.
class other_side {
 public:
  explicit other_side(const std::string& path) {
    const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
    EXPECT_GE(fd, 0);
    m_data = static_cast<std::byte*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
    close(fd);
  }
  ~other_side() { munmap(m_data, bytes); }
  other_side(const other_side&) = delete;
  other_side& operator=(const other_side&) = delete;
  const observe::file_header& head() const { return *reinterpret_cast<const observe::file_header*>(m_data); }
  observe::knob_slot& at(std::size_t slot) {
    return reinterpret_cast<observe::knob_slot*>(m_data + observe::header_bytes)[slot];
  }
  void request(std::size_t slot, knob_request kind, std::int64_t value = 0) {
    at(slot).request = kind;
    at(slot).request_value = value;
    std::atomic_ref(at(slot).request_number).fetch_add(1, std::memory_order_release);
  }
  bool is_answered(std::size_t slot) { return at(slot).answered_number == at(slot).request_number; }

 private:
  static constexpr std::size_t bytes = 8192;
  std::byte* m_data = nullptr;
};

// A program of one region with a panel, a manual policy, and what a test adds.
struct panel_program : scenario {
  explicit panel_program(subject_info info = region, std::unique_ptr<policy> rival = nullptr)
      : described(std::move(info)), panel({folder.path(), "", 1000}, knobs) {
    steering.add(make_policy({std::string(manual_policy::kind)}, {}).made);
    if (rival) steering.add(std::move(rival));
    add(described, [](const std::vector<knob_value>&, double) { return 0.01; });
    panel.add(described, 7, {1, 2});
    user = std::make_unique<other_side>(folder.path() + "/knobs.tt");
  }
  void step(bool is_last = false) {
    snapshot now;
    now.time_s = time_s += 0.01;
    now.is_last = is_last;
    now.appeared = std::exchange(fresh, {});
    now.gone = std::exchange(ended, {});
    panel.add_to(now);
    for (const decision& decided : tell(now)) panel.decided(decided, true);
  }
  knob_answer answer(std::size_t slot) {
    step();
    step();
    EXPECT_TRUE(user->is_answered(slot));
    return user->at(slot).answer;
  }
  knob_answer set(std::size_t slot, std::int64_t value) {
    user->request(slot, knob_request::set, value);
    return answer(slot);
  }
  knob_answer undo(std::size_t slot) {
    user->request(slot, knob_request::undo);
    return answer(slot);
  }

  scratch_folder folder;
  const subject_info described;
  manual_panel panel;
  std::unique_ptr<other_side> user;
  std::vector<subject_info> fresh{described};
  std::vector<subject_id> ended;
};

TEST(manual_policy, sets_a_knob_and_records_why) {
  panel_program program;
  EXPECT_EQ(program.user->head().written, 2u);
  EXPECT_STREQ(program.user->at(0).text, "1 2 3 4");
  EXPECT_STREQ(program.user->at(1).text, "static dynamic");
  EXPECT_EQ(program.set(0, 2), knob_answer::done);
  EXPECT_EQ(program.values(7)[0], 2);
  EXPECT_EQ(program.user->at(0).in_force, 2);
  EXPECT_EQ(program.user->at(0).accepted, 2);
  EXPECT_EQ(program.user->at(0).decision, 1001u);
  EXPECT_EQ(program.user->at(0).flags, observe::knob_flags::by_hand);
  ASSERT_EQ(program.log.size(), 1u);
  EXPECT_EQ(program.log[0].reason, "set by hand");
  EXPECT_EQ(program.log[0].policy, "by hand");
  EXPECT_EQ(program.log[0].what, outcome::set);
  EXPECT_EQ(program.log[0].changes, (std::vector<change>{{0, 4, 2}}));
}

TEST(manual_policy, brings_back_the_value_from_before_the_first_setting) {
  panel_program program;
  EXPECT_EQ(program.undo(0), knob_answer::no_change);
  program.set(0, 2);
  program.set(0, 3);
  EXPECT_EQ(program.undo(1), knob_answer::no_change);
  EXPECT_EQ(program.undo(0), knob_answer::done);
  EXPECT_EQ(program.values(7)[0], 4);
  EXPECT_EQ(program.log.back().reason, "undone by hand");
  EXPECT_EQ(program.user->at(0).flags, 0u);
  EXPECT_EQ(program.undo(0), knob_answer::no_change);
}

TEST(manual_policy, refuses_what_the_knob_cannot_be) {
  panel_program program;
  EXPECT_EQ(program.set(0, 5), knob_answer::outside_domain);
  EXPECT_EQ(program.set(1, 2), knob_answer::outside_domain);
  EXPECT_EQ(program.set(0, INT64_MIN), knob_answer::outside_domain);
  EXPECT_EQ(program.set(0, 4), knob_answer::no_change);
  program.user->request(0, static_cast<knob_request>(77), 2);
  EXPECT_EQ(program.answer(0), knob_answer::refused);
  EXPECT_TRUE(program.log.empty());
  panel_program strict({7, "loop", {with_consent(numbers("threads", 1, 4, 4)), numbers("chunk", 1, 4, 1)}});
  EXPECT_EQ(strict.user->at(0).flags, observe::knob_flags::needs_consent);
  EXPECT_EQ(strict.set(0, 2), knob_answer::without_consent);
  EXPECT_EQ(strict.set(1, 2), knob_answer::done);
}

TEST(manual_policy, takes_the_subject_from_a_search_and_gives_it_back) {
  panel_program program(region, std::make_unique<scripted>([](const view& now, std::vector<proposal>& out) {
                          for (const subject_view& subject : now.subjects)
                            if (!subject.is_others && subject.in_force[0] != 1) out.push_back(trial_of(7, {{0, 1}}));
                        }));
  program.fresh.clear();
  for (int i = 0; i < 200 && program.values(7)[0] != 1; ++i) program.run();
  ASSERT_EQ(program.values(7)[0], 1) << "on trial";
  EXPECT_EQ(program.set(0, 3), knob_answer::done);
  EXPECT_EQ(program.values(7)[0], 3);
  ASSERT_EQ(program.log.size(), 3u);
  EXPECT_EQ(program.log[1].what, outcome::undone);
  EXPECT_EQ(program.log[1].reason, "set by hand");
  EXPECT_EQ(program.log[2].changes, (std::vector<change>{{0, 4, 3}}));
  for (int i = 0; i < 20; ++i) program.run();
  EXPECT_EQ(program.log.size(), 3u) << "the search leaves it alone";
  EXPECT_EQ(program.undo(0), knob_answer::done);
  for (int i = 0; i < 200 && program.log.back().what == outcome::set; ++i) program.run();
  EXPECT_EQ(program.log.back().what, outcome::trial) << "the search goes on";
}

TEST(manual_policy, answers_for_subjects_that_have_gone) {
  panel_program program;
  program.set(0, 2);
  program.ended = {7};
  program.step();
  EXPECT_EQ(program.set(0, 3), knob_answer::subject_gone);
  EXPECT_EQ(program.user->at(0).flags, observe::knob_flags::gone);
}

TEST(manual_policy, makes_no_file_where_nothing_is_recorded) {
  const board knobs;
  manual_panel panel({""}, knobs);
  panel.add(region, 7, {1, 2});
  snapshot now;
  panel.add_to(now);
  EXPECT_TRUE(now.events.empty());
  EXPECT_EQ(panel.failure(), 0);
}

}  // namespace
}  // namespace trimtab::steer::testing
