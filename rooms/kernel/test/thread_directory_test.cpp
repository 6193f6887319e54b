#include "trimtab/kernel/thread_directory.hpp"

#include <gtest/gtest.h>

#include <string>

namespace trimtab::kernel {

namespace {

constexpr process_number launcher = 500;

scheduler_event forked(thread_number child, thread_number parent, process_number process) {
  return {
      .time_ns = 10, .thread = child, .other = parent, .process = process, .own_number = parent, .kind = event_kind::forked};
}
scheduler_event left(thread_number who, process_number process, thread_number next) {
  return {.time_ns = 20, .thread = who, .other = next, .process = process, .own_number = who};
}
std::string text_of(const thread_name& name) { return name.data(); }

}  // namespace

TEST(thread_directory, numbers_threads_in_the_order_in_which_they_are_seen) {
  thread_directory directory(launcher);
  scheduler_event first = left(70, 70, 0), second = left(80, 75, 70);
  directory.enter(first);
  directory.enter(second);
  EXPECT_EQ(first.thread, 1u);
  EXPECT_EQ(first.other, 0u) << "nobody stays nobody";
  EXPECT_EQ(second.thread, 2u);
  EXPECT_EQ(second.other, 1u);
  ASSERT_EQ(directory.threads().size(), 2u);
  EXPECT_EQ(directory.threads()[1].process, 75u);
  EXPECT_EQ(directory.threads()[1].own_number, 80u);
}

TEST(thread_directory, descendants_of_the_watched_process_are_marked) {
  thread_directory directory(launcher);
  scheduler_event child = forked(600, launcher, launcher), grandchild = forked(601, 600, 600), other = forked(700, 90, 90);
  for (scheduler_event* const one : {&child, &grandchild, &other}) directory.enter(*one);
  ASSERT_EQ(directory.threads().size(), 5u);
  EXPECT_FALSE(directory.threads()[0].is_watched) << "the launcher itself is not the program";
  EXPECT_TRUE(directory.threads()[child.thread - 1].is_watched);
  EXPECT_TRUE(directory.threads()[grandchild.thread - 1].is_watched);
  EXPECT_FALSE(directory.threads()[other.thread - 1].is_watched);
  EXPECT_EQ(directory.threads()[grandchild.thread - 1].parent, child.thread);
}

TEST(thread_directory, a_number_that_is_used_again_is_another_thread) {
  thread_directory directory(0);
  scheduler_event first = left(600, 600, 0);
  directory.enter(first);
  directory.rename(600, name_from("earlier"), 20);
  scheduler_event made = forked(600, 90, 90), later = left(600, 600, 0);
  directory.enter(made);
  directory.enter(later);
  EXPECT_NE(first.thread, later.thread);
  EXPECT_EQ(made.thread, later.thread);
  EXPECT_EQ(text_of(directory.threads()[first.thread - 1].name), "earlier");
  EXPECT_EQ(text_of(directory.threads()[later.thread - 1].name), "") << "that of who made it";
}

TEST(thread_directory, a_process_has_the_name_of_its_first_thread) {
  thread_directory directory(0);
  scheduler_event worker = left(11, 10, 0), first = left(10, 10, 0), unknown = left(21, 20, 0);
  for (scheduler_event* const one : {&worker, &first, &unknown}) directory.enter(*one);
  directory.rename(10, name_from("program"), 0);
  directory.rename(11, name_from("worker of it"), 0);
  const auto names = directory.names_of_processes();
  EXPECT_EQ(text_of(names[0]), "program");
  EXPECT_EQ(text_of(names[1]), "program");
  EXPECT_EQ(text_of(names[2]), "");
  EXPECT_EQ(text_of(name_from("a name that is much too long")), "a name that is ");
}

// A container sees its own numbers of processes; the tracepoints have those of the whole system.
TEST(thread_directory, threads_outside_of_the_recorders_container_have_no_process) {
  thread_directory directory(7);
  scheduler_event inside = left(9'007, 7, 9'050);
  inside.own_number = 7;
  scheduler_event outside = left(9'050, 0xffffffffu, 0);
  outside.own_number = 0xffffffffu;
  directory.enter(inside);
  directory.enter(outside);
  EXPECT_EQ(directory.threads()[0].system_number, 9'007u);
  EXPECT_EQ(directory.threads()[0].own_number, 7u);
  EXPECT_EQ(directory.threads()[1].process, 0u);
  scheduler_event made = forked(9'100, 9'007, 7);
  made.own_number = 7;
  directory.enter(made);
  EXPECT_TRUE(directory.threads()[made.thread - 1].is_watched);
}

}  // namespace trimtab::kernel
