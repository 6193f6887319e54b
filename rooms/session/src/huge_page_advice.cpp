#include "huge_page_advice.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <charconv>

#include "trimtab/base/read_file.hpp"
#include "trimtab/base/system_calls.hpp"

namespace trimtab::session {

namespace {

constexpr std::uintptr_t huge_bytes = 2u << 20;
constexpr std::uintptr_t arena_bytes = 64u << 20;  // heaps of glibc's arenas begin at a multiple of it
constexpr std::size_t piece_bytes = 16u << 20;     // which take some milliseconds to copy
constexpr std::size_t most_collapsed = std::size_t{4} << 30;
constexpr double soon_s = 2, look_soon_s = 0.1, look_later_s = 1;
constexpr int collapse = 25;  // MADV_COLLAPSE, of Linux 6.1; an older kernel refuses it

struct mapping {
  memory_range range{};
  std::string_view rights, name;
};

// False: not a line of /proc/self/maps.
bool read_mapping(std::string_view line, mapping& target) {
  const char *const begin = line.begin(), *const end = line.end();
  const auto first = std::from_chars(begin, end, target.range.begin, 16);
  if (first.ec != std::errc{} || first.ptr == end || *first.ptr != '-') return false;
  const auto last = std::from_chars(first.ptr + 1, end, target.range.end, 16);
  if (last.ec != std::errc{} || end - last.ptr < 5) return false;
  target.rights = {last.ptr + 1, 4};
  // Fields: range rights offset device inode [name].
  std::string_view rest(last.ptr + 1, static_cast<std::size_t>(end - last.ptr - 1));
  for (int field = 0; field < 4 && !rest.empty(); ++field) {
    rest.remove_prefix(std::min(rest.find(' '), rest.size()));
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  }
  target.name = rest;
  return true;
}

template <class callback>
void for_lines(std::string_view text, const callback& call) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    call(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

void advise(const memory_range& range, int advice) noexcept {
  madvise(reinterpret_cast<void*>(range.begin), range.end - range.begin, advice);
}

}  // namespace

bool gives_on_advice(std::string_view enabled) { return enabled.find("[madvise]") != enabled.npos; }

std::vector<memory_range> advisable_memory(std::string_view maps, std::size_t most_bytes) {
  std::vector<memory_range> ranges;
  mapping before;
  for_lines(maps, [&](std::string_view line) {
    mapping current;
    if (!read_mapping(line, current)) return;
    const memory_range& range = current.range;
    const bool is_anonymous = current.name.empty() || current.name == "[heap]";
    // A page that nobody may touch lies below each stack of a thread; below an arena's heap may lie another one's rest.
    const bool is_guarded =
        before.range.end == range.begin && before.rights.starts_with("---") && range.begin % arena_bytes != 0;
    if (is_anonymous && !is_guarded && current.rights == "rw-p" && range.end - range.begin >= huge_bytes &&
        range.end - range.begin <= most_bytes)
      ranges.push_back(range);
    before = current;
  });
  return ranges;
}

bool has_advice(std::string_view smaps) {
  bool is_advised = false;
  for_lines(smaps, [&](std::string_view line) {
    if (!line.starts_with("VmFlags:")) return;
    is_advised = is_advised || line.find(" hg") != line.npos || line.find(" nh") != line.npos;
  });
  return is_advised;
}

bool huge_page_advice::begin() {
  if (!base::may_call_system()) return false;
  if (!m_is_known) {
    std::string smaps;
    m_is_programs = base::read_whole_file("/proc/self/smaps", smaps) != 0 || has_advice(smaps);
    m_is_known = true;
  }
  m_begun_s = -1;
  m_has_looked = false;
  m_pieces.clear();
  return !m_is_programs;
}

void huge_page_advice::look(std::size_t resident_bytes) {
  std::string maps;
  if (base::read_whole_file("/proc/self/maps", maps) != 0) return;
  std::size_t bytes = 0;
  for (const memory_range& range : advisable_memory(maps, 4 * resident_bytes)) {
    advise(range, MADV_HUGEPAGE);
    if (m_has_looked) continue;
    const std::uintptr_t end = range.end / huge_bytes * huge_bytes;
    for (std::uintptr_t begin = (range.begin + huge_bytes - 1) / huge_bytes * huge_bytes;
         begin < end && bytes < most_collapsed; begin += piece_bytes) {
      m_pieces.push_back({begin, std::min(begin + piece_bytes, end)});
      bytes += piece_bytes;
    }
  }
  m_has_looked = true;
}

void huge_page_advice::advance(double now_s, std::size_t resident_bytes) {
  const base::system_call_section section;
  if (!section.is_permitted()) return;
  if (m_begun_s < 0) m_begun_s = now_s;
  if (!m_pieces.empty()) {
    advise(m_pieces.back(), collapse);
    m_pieces.pop_back();
  }
  if (m_has_looked && now_s - m_looked_s < (now_s - m_begun_s < soon_s ? look_soon_s : look_later_s)) return;
  m_looked_s = now_s;
  look(resident_bytes);
}

void huge_page_advice::end() {
  const base::system_call_section section;
  std::string maps;
  m_pieces.clear();
  if (!section.is_permitted() || base::read_whole_file("/proc/self/maps", maps) != 0) return;
  for (const memory_range& range : advisable_memory(maps, ~std::size_t{0})) advise(range, MADV_NOHUGEPAGE);
}

}  // namespace trimtab::session
