// The program's memory in huge pages (MADV_HUGEPAGE), where the machine gives them to whoever asks. A program that asks, or
// asks for none, itself is left alone. By one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace trimtab::session {

struct memory_range {
  std::uintptr_t begin, end;
  bool operator==(const memory_range&) const = default;
};

// The machine gives huge pages to those who ask, and not to others. enabled: the text of
// /sys/kernel/mm/transparent_hugepage/enabled.
bool gives_on_advice(std::string_view enabled);
// Anonymous memory that may be written, of 2 MiB and more: neither stacks nor what is larger than `most_bytes`, most of
// which is not in use. maps: the text of /proc/self/maps.
std::vector<memory_range> advisable_memory(std::string_view maps, std::size_t most_bytes);
// The program has advised some memory of its own, for or against huge pages. smaps: the text of /proc/self/smaps.
bool has_advice(std::string_view smaps);

class huge_page_advice {
 public:
  // False: the program advises its memory itself, or it cannot be known.
  bool begin();
  // Some milliseconds of work; what there is already becomes huge piece by piece.
  void advance(double now_s, std::size_t resident_bytes);
  // All that is there already has been looked at.
  bool is_settled() const noexcept { return m_pieces.empty() && m_has_looked; }
  // The memory is as without advice for new pages; huge ones stay as long as the program has them.
  void end();

 private:
  void look(std::size_t resident_bytes);

  bool m_is_known = false, m_is_programs = false, m_has_looked = false;
  double m_begun_s = -1, m_looked_s = 0;
  std::vector<memory_range> m_pieces;  // that are still in small pages
};

}  // namespace trimtab::session
