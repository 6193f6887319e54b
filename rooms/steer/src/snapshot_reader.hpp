// Snapshots from their text form (log.hpp), one line at a time; what belongs together is put together by where it stands.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "log_words.hpp"
#include "trimtab/steer/snapshot.hpp"

namespace trimtab::steer {

class snapshot_reader {
 public:
  std::string take(std::string_view line);  // what was expected, if it is not there
  // Within a snapshot, whose end was not reached.
  bool is_open() const noexcept { return m_is_open; }
  std::size_t begun() const noexcept { return m_all.size(); }
  // Without the last one, where its end was not reached.
  std::vector<snapshot> whole() {
    if (m_is_open) m_all.pop_back();
    m_is_open = false;
    return std::move(m_all);
  }

 private:
  bool take_fact(std::string_view tag, words& rest);
  bool take_knob(words& rest);
  bool take_remedy(words& rest);
  bool take_of_subject(std::string_view tag, words& rest);

  std::vector<snapshot> m_all;
  bool m_is_open = false;
};

}  // namespace trimtab::steer
