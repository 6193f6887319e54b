// Counted references, of futures and of graphs.
#include "trimtab/tasks/core/reference.hpp"

#include <gtest/gtest.h>

#include <type_traits>
#include <utility>

#include "trimtab/tasks/futures/future.hpp"
#include "trimtab/tasks/graph/graph.hpp"

namespace trimtab::tasks {
namespace {

struct counted {
  void retain() noexcept { count += 1; }
  void release() noexcept { count -= 1; }
  int count = 1;
};

TEST(reference, counts_who_has_one) {
  counted object;
  {
    reference<counted> first(object);
    EXPECT_EQ(first.get(), &object);
    EXPECT_EQ(first->count, 1);
    reference<counted> second = first;
    EXPECT_EQ(object.count, 2);
    const reference<counted> moved = std::move(first);
    EXPECT_EQ(object.count, 2);
    EXPECT_FALSE(first);
    EXPECT_TRUE(moved);
    second = *&second;
    EXPECT_EQ(object.count, 2);
    second = {};
    EXPECT_EQ(object.count, 1);
  }
  EXPECT_EQ(object.count, 0);
}

static_assert(sizeof(future<int>) == sizeof(void*) && sizeof(shared_future<int>) == sizeof(void*));
static_assert(sizeof(block<int>) == sizeof(void*) && sizeof(output<>) == sizeof(void*));
static_assert(std::is_nothrow_move_constructible_v<reference<counted>> &&
              std::is_nothrow_copy_constructible_v<reference<counted>>);

}  // namespace
}  // namespace trimtab::tasks
