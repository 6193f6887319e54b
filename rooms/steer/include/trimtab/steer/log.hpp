// Snapshots as text, one line a fact, so that what an engine was told can be written down and replayed: the same snapshots,
// policies, options and seeds give the same decisions, bit by bit. Figures are written exactly (hexadecimal). Versioned by
// its first line.
//
//   trimtab-snapshots 1
//   time 0x1.4p+0 [last]          begins a snapshot; the lines below belong to it
//   appeared 7 mandel.c:48 [140]  its group, if it has one
//   knob threads 4 0x0p+0 safe 0 numbers 1 2 3 4
//                                 name, initial, cost of a change, consent, settle, values or categories' names
//   remedy imbalance 1 2          of the knob above
//   gone 7
//   refused 3
//   overdue tuner
//   figure idle_share 0x1p-1
//   event bell 7 0x0p+0
//   subject 7                     below: its measurements and figures
//   measured 3 0x1p-7 0x1p-7 [5]  the last one: beside which decision, if any
//   its imbalance 0x1p+0
// Words have no spaces: other bytes than letters, digits and -_.:/ are written %XX.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trimtab/steer/snapshot.hpp"

namespace trimtab::steer {

inline constexpr std::string_view log_head = "trimtab-snapshots 1\n";

std::string to_text(const snapshot& shared_state);  // without the head

struct parsed_log {
  std::vector<snapshot> snapshots;
  std::string error;  // "line 3: expected ..., found ..."; empty: none. What came before it is there.
};
// With the head. A last snapshot that was cut off (its writer was killed) is left out.
parsed_log from_text(std::string_view text);

std::string to_word(std::string_view text);
std::optional<std::string> from_word(std::string_view word);
// Hexadecimal, so that it is read back as it was, and whatever the program's locale.
std::string exactly(double value);

}  // namespace trimtab::steer
