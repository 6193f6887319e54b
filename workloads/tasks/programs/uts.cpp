// Unbalanced tree search (after Olivier et al. 2006): a task for each node of a tree of which most subtrees are small and
// some are very large.
#include "program.hpp"

namespace programs::uts {

constexpr std::int64_t children = 8, permille = 124;

template <class how>
std::int64_t nodes(std::uint64_t state, std::int64_t limit) {
  random_numbers random(state);
  const auto deferred = [](std::uint64_t child) {
    return [child] { return nodes<how>(child, random_numbers(child).random_below(1000) < permille ? children : 0); };
  };
  std::vector<decltype(how::async(deferred(0)))> tasks;
  std::int64_t total = 1;
  for (std::int64_t i = 0; i < limit; ++i) tasks.push_back(how::async(deferred(random.next())));
  for (auto& element : tasks) total += element.get();
  return total;
}

template <class how>
std::int64_t answer(std::int64_t roots) {
  return nodes<how>(42, roots);
}

}  // namespace programs::uts

const programs::program programs::uts_program = {"uts", "children of the root", 20'000, uts::answer<by_tasks>,
                                                 uts::answer<serially>};
