// The recorder's tables of names: subjects, modules, counters, what was unavailable. Cold: under the lock.
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <utility>

#include "file_refusal.hpp"
#include "trimtab/base/hash.hpp"
#include "trimtab/base/system_calls.hpp"
#include "trimtab/observe/recorder.hpp"

namespace trimtab::observe {

namespace {

constexpr std::size_t longest_name = 8192;

// Build id of a loaded object, in hex; "" if it carries none.
struct module_search {
  std::uint64_t address;
  std::uint64_t base, begin, end;
  char path[512];
  char build_id[72];
};

void read_build_id(const dl_phdr_info& object, module_search& search) noexcept {
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object.dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    const auto* at = reinterpret_cast<const char*>(object.dlpi_addr + segment.p_vaddr);
    const char* const end = at + segment.p_memsz;
    while (at + sizeof(ElfW(Nhdr)) <= end) {
      ElfW(Nhdr) note;
      std::memcpy(&note, at, sizeof note);
      const char* const name = at + sizeof note;
      const char* const data = name + ((note.n_namesz + 3u) & ~3u);
      if (data + note.n_descsz > end) break;
      if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0) {
        const std::size_t bytes = note.n_descsz < 32 ? note.n_descsz : 32;
        for (std::size_t b = 0; b < bytes; ++b) {
          constexpr char digits[] = "0123456789abcdef";
          const auto value = static_cast<unsigned char>(data[b]);
          search.build_id[2 * b] = digits[value >> 4];
          search.build_id[2 * b + 1] = digits[value & 15];
        }
        return;
      }
      at = data + ((note.n_descsz + 3u) & ~3u);
    }
  }
}

int match_module(dl_phdr_info* object, std::size_t, void* data) noexcept {
  auto& wanted = *static_cast<module_search*>(data);
  std::uint64_t begin = ~std::uint64_t{0}, end = 0;
  bool is_within = false;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    const std::uint64_t from = object->dlpi_addr + segment.p_vaddr;
    const std::uint64_t to = from + segment.p_memsz;
    if (from < begin) begin = from;
    if (to > end) end = to;
    is_within = is_within || (wanted.address >= from && wanted.address < to);
  }
  if (!is_within) return 0;
  wanted.base = object->dlpi_addr;
  wanted.begin = begin;
  wanted.end = end;
  const char* path = object->dlpi_name;
  if (path != nullptr && path[0] != '\0') {
    std::strncpy(wanted.path, path, sizeof wanted.path - 1);
  }
  read_build_id(*object, wanted);
  return 1;
}

// User addresses stay below 2^56: the kind makes the upper byte, so that a key is never 0 (an empty slot).
std::uint64_t key_of(subject_kind kind, std::uint64_t identity) noexcept {
  return (identity & ((std::uint64_t{1} << 56) - 1)) | (std::uint64_t{static_cast<std::uint16_t>(kind)} << 56);
}
std::uint64_t hash_of(const char* text) noexcept {
  std::uint64_t hash = 0;
  for (; text != nullptr && *text != '\0'; ++text) hash = base::mix(hash ^ static_cast<unsigned char>(*text));
  return hash;
}

// Where code stands in its module: the same at every load. Kinds stay below 64.
std::uint64_t key_in_module(subject_kind kind, std::uint32_t module, std::uint64_t offset) noexcept {
  return key_of(kind, base::mix(offset + base::mix(module + 1))) | (std::uint64_t{1} << 63);
}

// Subjects known by name alone: kinds stay below 64, so that no code address has such a key.
constexpr std::uint64_t named_key = std::uint64_t{1} << 62;

}  // namespace

bool recorder::place_of(const void* address, char* buffer, std::size_t room) noexcept {
  module_search search{};
  search.address = reinterpret_cast<std::uint64_t>(address);
  if (dl_iterate_phdr(match_module, &search) == 0) return false;
  const char* const last = std::strrchr(search.path, '/');
  const char* const name = last == nullptr ? search.path : last + 1;
  const char* const module_name = search.build_id[0] != '\0' ? search.build_id : name[0] != '\0' ? name : "program";
  std::snprintf(buffer, room, "%s+0x%llx", module_name, static_cast<unsigned long long>(search.address - search.base));
  return true;
}

std::uint32_t recorder::module_of(const void* address) noexcept {
  const auto value = reinterpret_cast<std::uint64_t>(address);
  for (std::uint32_t i = 0; i < m_module_count; ++i)
    if (value >= m_modules[i].begin && value < m_modules[i].end) return i;
  module_search search{};
  search.address = value;
  if (dl_iterate_phdr(match_module, &search) == 0) return no_subject;
  if (search.path[0] == '\0' && base::may_call_system()) {
    const ssize_t length = readlink("/proc/self/exe", search.path, sizeof search.path - 1);
    if (length > 0) search.path[length] = '\0';
  }
  const std::uint64_t identity = base::mix(hash_of(search.path)) ^ hash_of(search.build_id);
  for (std::uint32_t i = 0; i < m_module_count; ++i) {
    module& before = m_modules[i];
    if (before.begin != before.end || before.identity != identity) continue;
    before = {search.base, search.begin, search.end, identity};  // loaded again
    return i;
  }
  if (m_module_count == max_modules) {
    if (!std::exchange(m_has_refused_modules, true))
      append_unavailable("source places in some libraries", "expected at most 4096 loaded objects in a process, found more",
                         "none: work in the others is listed by its address");
    return no_subject;
  }
  const std::uint32_t id = m_module_count++;
  m_modules[id] = {search.base, search.begin, search.end, identity};
  name_module fixed{};
  fixed.head.tag = name_tag::module;
  fixed.id = id;
  fixed.base = search.base;
  fixed.end = search.end;
  const char* const strings[] = {search.path, search.build_id};
  append_name(&fixed.head, sizeof fixed, strings, 2);
  return id;
}

void recorder::append_name(name_record* fixed, std::size_t fixed_bytes, const char* const* strings, int count) noexcept {
  std::size_t lengths[4] = {};
  std::size_t bytes = fixed_bytes;
  for (int i = 0; i < count; ++i) {
    lengths[i] = strings[i] == nullptr ? 0 : strnlen(strings[i], longest_name);
    bytes += lengths[i] + 1;
  }
  bytes = (bytes + 7) / 8 * 8;
  auto* to = reinterpret_cast<char*>(place_of_name(bytes));
  auto& head = *reinterpret_cast<file_header*>(m_is_listed.load(std::memory_order_relaxed) ? m_page : m_names_file.data());
  if (to == nullptr) {
    head.dropped += 1;
    return;
  }
  fixed->bytes = static_cast<std::uint32_t>(bytes);
  std::memcpy(to, fixed, fixed_bytes);
  to += fixed_bytes;
  for (int i = 0; i < count; ++i) {
    if (lengths[i] != 0) std::memcpy(to, strings[i], lengths[i]);
    to += lengths[i] + 1;  // the file's bytes are zero already
  }
  std::atomic_ref(head.written).store(head.written + bytes, std::memory_order_release);
}

std::uint32_t recorder::find_or_add(std::uint64_t key, name_subject& fixed, const void* address,
                                    const char* const (&strings)[3]) noexcept {
  if (const std::uint32_t existing = m_subjects.find(key); existing != subject_table::absent) return existing;
  if (!is_on() || m_has_refused_subjects.load(std::memory_order_relaxed)) return no_subject;
  const setup_cost cost(*this);
  const std::lock_guard guard(m_lock);
  if (const std::uint32_t existing = m_subjects.find(key); existing != subject_table::absent) return existing;
  if (const int error = m_subjects.reserve(2); error != 0) {
    refuse_subjects(error);
    return no_subject;
  }
  fixed.module = address == nullptr ? no_subject : module_of(address);
  fixed.offset = reinterpret_cast<std::uint64_t>(address) - (fixed.module == no_subject ? 0 : m_modules[fixed.module].base);
  const std::uint64_t place = key_in_module(fixed.kind, fixed.module, fixed.offset);
  if (fixed.module != no_subject) {
    if (const std::uint32_t existing = m_subjects.find(place); existing != subject_table::absent) {
      m_subjects.add(key, existing);
      return existing;
    }
  }
  fixed.head.tag = name_tag::subject;
  fixed.id = m_subject_count++;
  append_name(&fixed.head, sizeof fixed, strings, 3);
  if (fixed.module != no_subject) m_subjects.add(place, fixed.id);
  m_subjects.add(key, fixed.id);
  return fixed.id;
}

void recorder::refuse_subjects(int error) noexcept {
  if (m_has_refused_subjects.exchange(true, std::memory_order_relaxed)) return;
  char text[160];
  if (error == E2BIG) {
    std::snprintf(text, sizeof text,
                  "expected at most %llu addresses and names of work in a process, found more after %u subjects",
                  static_cast<unsigned long long>(subject_table::most_keys), m_subject_count);
  } else {
    std::snprintf(text, sizeof text, "%s, for more than %u subjects", explain_file_error(error).why, m_subject_count);
  }
  append_unavailable("work of subjects that came later", text,
                     error == E2BIG ? "give pieces of work of one kind the same name" : explain_file_error(error).remedy);
}

void recorder::forget_code(std::uintptr_t begin, std::uintptr_t end) noexcept {
  if (!is_on()) return;
  const std::lock_guard guard(m_lock);
  for (std::uint32_t i = 0; i < m_module_count; ++i)
    if (m_modules[i].begin < end && m_modules[i].end > begin) m_modules[i].begin = m_modules[i].end = 0;
  m_subjects.forget([=](std::uint64_t key) {
    const std::uint64_t address = key & ((std::uint64_t{1} << 56) - 1);
    return key >> 62 == 0 && address >= begin && address < end;
  });
}

std::uint32_t recorder::subject(subject_kind kind, const void* address, bool is_call, std::uint16_t runtime,
                                std::uint32_t parent) noexcept {
  return subject_with_source({kind, address, is_call, runtime, parent}, {});
}

std::uint32_t recorder::subject_with_source(const code_subject& code, const source_place& from) noexcept {
  name_subject fixed{};
  fixed.kind = code.kind;
  fixed.runtime = code.runtime;
  fixed.parent = code.parent;
  fixed.line = from.line;
  fixed.is_call = code.is_call ? 1 : 0;
  const char* const strings[3] = {nullptr, from.file, from.function};
  return find_or_add(key_of(code.kind, reinterpret_cast<std::uint64_t>(code.address)), fixed, code.address, strings);
}

std::uint32_t recorder::named_subject(subject_kind kind, const char* name, const char* file, std::uint32_t line) noexcept {
  name_subject fixed{};
  fixed.kind = kind;
  fixed.parent = no_subject;
  fixed.line = line;
  const char* const strings[3] = {name, file, nullptr};
  const std::uint64_t identity = base::mix(hash_of(name) ^ base::mix(hash_of(file) + line));
  return find_or_add(key_of(kind, identity) | named_key, fixed, nullptr, strings);
}

std::uint32_t recorder::add_counter(const char* name, const char* unit, const char* source, bool is_cumulative) noexcept {
  if (!is_on()) return 0;
  const std::lock_guard guard(m_lock);
  name_counter fixed{};
  fixed.head.tag = name_tag::counter;
  fixed.id = ++m_counter_count;
  fixed.is_cumulative = is_cumulative ? 1 : 0;
  const char* const strings[] = {name, unit, source};
  append_name(&fixed.head, sizeof fixed, strings, 3);
  return fixed.id;
}

void recorder::unavailable(const char* feature, const char* reason, const char* remedy) noexcept {
  if (!is_on()) return;
  const std::lock_guard guard(m_lock);
  append_unavailable(feature, reason, remedy);
}

void recorder::append_unavailable(const char* feature, const char* reason, const char* remedy) noexcept {
  name_unavailable fixed{};
  fixed.head.tag = name_tag::unavailable;
  const char* const strings[] = {feature, reason, remedy};
  append_name(&fixed.head, sizeof fixed, strings, 3);
}

void recorder::fact(const char* key, const char* value) noexcept {
  if (!is_on()) return;
  const std::lock_guard guard(m_lock);
  append_fact(key, value);
}

void recorder::append_fact(const char* key, const char* value) noexcept {
  name_fact fixed{};
  fixed.head.tag = name_tag::fact;
  const char* const strings[] = {key, value};
  append_name(&fixed.head, sizeof fixed, strings, 2);
}

std::uint16_t recorder::add_runtime(const char* name, const char* path, const char* version) noexcept {
  if (!is_on()) return 0;
  const std::lock_guard guard(m_lock);
  name_runtime fixed{};
  fixed.head.tag = name_tag::runtime;
  fixed.id = ++m_runtime_count;
  const char* const strings[] = {name, path, version};
  append_name(&fixed.head, sizeof fixed, strings, 3);
  return fixed.id;
}

}  // namespace trimtab::observe
