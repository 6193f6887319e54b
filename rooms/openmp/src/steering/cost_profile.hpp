// Where along its iterations a loop's time goes: the share of the time that the iterations up to a point take, piecewise
// linear. Learnt from how long the threads took for their blocks; from it follow blocks that take equally long.
// Whole numbers throughout, so that its text stands for exactly the same blocks.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trimtab::openmp {

class cost_profile {
 public:
  // Every iteration costs the same.
  cost_profile();

  // First iteration of block `part` of `parts`; the trip for part == parts. trip >= parts: no block is empty.
  std::uint64_t cut(std::uint32_t part, std::uint32_t parts, std::uint64_t trip) const noexcept;

  // seconds: what the blocks took that cut() makes of so many parts; all above 0, otherwise nothing is learnt.
  // weight: of what is new, 0 to 1.
  void learn(std::span<const double> seconds, double weight);

  std::string text() const;  // "0.5/0.25,0.75/0.5"; "even"
  static std::optional<cost_profile> from_text(std::string_view text);

  bool operator==(const cost_profile&) const = default;

 private:
  // In parts of a thousand million; both rise, from 0/0 to one/one.
  static constexpr std::uint64_t one = 1'000'000'000;
  static constexpr std::size_t most_knots = 130;
  struct knot {
    std::uint64_t at, cost;
    bool operator==(const knot&) const = default;
  };
  std::uint64_t at_of(std::uint64_t cost) const noexcept;
  void thin_out();

  std::vector<knot> m_knots;
};

// Of how many instances it is to be learnt next, after so many times: the first weights soon, later ones from more instances
// each, since what is learnt of few of them is chance.
std::uint64_t learning_window(std::uint32_t learnt) noexcept;
// Whether blocks of such an imbalance (1: none) are to be learnt from: what chance adds falls with the root of the
// instances.
bool is_uneven(double imbalance, std::uint64_t window) noexcept;

}  // namespace trimtab::openmp
