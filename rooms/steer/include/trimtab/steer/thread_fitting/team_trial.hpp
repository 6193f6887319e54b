// Whether regions take less time with another number of members: some of them with so many and some as they are, in pairs of
// blocks, by the time from one fork to the next, and so with all that the program does in between. It ends with the first
// pair that shows no gain. The first regions of a block are not counted: threads are made or ended for them, and a program
// that is told before each region how many it will have has them one region later.
//
// Pure: whoever forks says when. Times are of any unit, the same for all.
#pragma once

#include <cstdint>

namespace trimtab::steer {

struct team_trial_options {
  std::uint64_t least_block = 0, most_block = 0;  // time; a block that takes longer than the latter ends the trial
  std::uint32_t regions = 16;                     // of a block, at least
  std::uint32_t pairs = 5;                        // all of them must be won
  double ratio = 0.9;                             // by so much
};

class team_trial {
 public:
  team_trial() = default;
  explicit team_trial(const team_trial_options& options) : m_options(options), m_is_over(false) {}

  // A region begins. Whether it is to have the members on trial; false once the trial is over.
  bool begin_region(std::uint64_t now) noexcept;
  bool is_over() const noexcept { return m_is_over; }
  // The latest region counts, so it must have had the members that it was to have.
  bool is_counted() const noexcept { return m_forks > not_counted; }
  // Nothing can be learnt here.
  void give_up() noexcept;
  // When it is over: the worst pair's time with the members on trial, over that without. Above `ratio`: no gain.
  double ratio() const noexcept { return m_worst; }

 private:
  static constexpr std::uint32_t not_counted = 2;  // regions of a block
  bool is_on_trial() const noexcept { return (m_block % 2 == 1) != (m_block / 2 % 2 == 1); }
  void end_block(double per_region) noexcept;

  team_trial_options m_options;
  bool m_is_over = true;
  std::uint32_t m_block = 0, m_forks = 0;  // blocks: as it is, tried, tried, as it is, ...
  std::uint64_t m_began = 0;
  double m_usual = 0, m_tried = 0, m_worst = 0;
};

}  // namespace trimtab::steer
