#include "trimtab/tasks/core/wait_reason.hpp"

#include <cstddef>

namespace trimtab::tasks {

namespace {

struct row {
  wait_reason reason;
  const char* text;
  recording::cause cause;
};

constexpr row table[] = {
    {wait_reason::not_waiting, "nothing", recording::cause::unknown},
    {wait_reason::future, "a future", recording::cause::future},
    {wait_reason::mutex, "a mutex", recording::cause::mutex},
    {wait_reason::shared_mutex, "a shared mutex", recording::cause::mutex},
    {wait_reason::condition, "a condition", recording::cause::condition},
    {wait_reason::semaphore, "a semaphore", recording::cause::semaphore},
    {wait_reason::latch, "a latch", recording::cause::latch},
    {wait_reason::barrier, "a barrier", recording::cause::barrier},
    {wait_reason::channel_room, "room in a channel", recording::cause::channel},
    {wait_reason::channel_value, "a value in a channel", recording::cause::channel},
    {wait_reason::fork, "a fork", recording::cause::children},
    {wait_reason::task_scope, "its task scope", recording::cause::children},
    {wait_reason::graph, "its graph", recording::cause::unknown},
    {wait_reason::time, "a time", recording::cause::time},
    {wait_reason::turn, "its turn", recording::cause::unknown},
    {wait_reason::run, "run", recording::cause::unknown},
};

constexpr bool is_in_order() noexcept {
  std::size_t number = 0;
  for (const row& entry : table)
    if (static_cast<std::size_t>(entry.reason) != number++) return false;
  return number == static_cast<std::size_t>(wait_reason::run) + 1;
}
static_assert(is_in_order(), "a row for each enumerator, in their order");

constexpr const row& row_of(wait_reason reason) noexcept { return table[static_cast<std::size_t>(reason)]; }

}  // namespace

const char* text_of(wait_reason reason) noexcept { return row_of(reason).text; }

recording::cause cause_of(wait_reason reason) noexcept { return row_of(reason).cause; }

}  // namespace trimtab::tasks
