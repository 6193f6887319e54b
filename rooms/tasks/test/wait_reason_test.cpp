// Every reason to wait has a text of its own for reports, and the cause that run directories store.
#include "trimtab/tasks/core/wait_reason.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

namespace trimtab::tasks {
namespace {

const std::map<wait_reason, recording::cause>& expected_causes() {
  using recording::cause;
  static const std::map<wait_reason, cause> causes{
      {wait_reason::not_waiting, cause::unknown},  {wait_reason::future, cause::future},
      {wait_reason::mutex, cause::mutex},          {wait_reason::shared_mutex, cause::mutex},
      {wait_reason::condition, cause::condition},  {wait_reason::semaphore, cause::semaphore},
      {wait_reason::latch, cause::latch},          {wait_reason::barrier, cause::barrier},
      {wait_reason::channel_room, cause::channel}, {wait_reason::channel_value, cause::channel},
      {wait_reason::fork, cause::children},        {wait_reason::task_scope, cause::children},
      {wait_reason::graph, cause::unknown},        {wait_reason::time, cause::time},
      {wait_reason::turn, cause::unknown},         {wait_reason::run, cause::unknown}};
  return causes;
}

TEST(wait_reasons, have_the_cause_that_is_recorded) {
  for (const auto& [reason, cause] : expected_causes()) EXPECT_EQ(cause_of(reason), cause) << text_of(reason);
}

TEST(wait_reasons, have_texts_that_differ) {
  std::set<std::string> texts;
  for (const auto& [reason, cause] : expected_causes()) texts.insert(text_of(reason));
  EXPECT_EQ(texts.size(), expected_causes().size());
}

}  // namespace
}  // namespace trimtab::tasks
