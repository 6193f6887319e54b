#include "trimtab/parcels/calls/function_address.hpp"

#include <elf.h>
#include <link.h>

#include <cstring>
#include <string_view>

namespace trimtab::parcels {

namespace {

// FNV-1a: Fowler, Noll, Vo.
std::uint64_t hash_of(std::string_view text) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char letter : text) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3u;
  return hash;
}

// The build id in one segment of notes; empty: none.
std::string_view build_id_in(const char* notes, std::size_t bytes) noexcept {
  std::size_t position = 0;
  while (position + sizeof(ElfW(Nhdr)) <= bytes) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes + position, sizeof note);
    const std::size_t name = position + sizeof note, content = name + ((note.n_namesz + 3u) & ~std::size_t{3});
    const std::size_t next = content + ((note.n_descsz + 3u) & ~std::size_t{3});
    if (next > bytes) break;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(notes + name, "GNU", 4) == 0)
      return {notes + content, note.n_descsz};
    position = next;
  }
  return {};
}

struct loaded_module {
  std::uint64_t identity = 0;
  std::uintptr_t begin = 0, end = 0;
};

loaded_module describe(const dl_phdr_info& info) noexcept {
  loaded_module result{0, info.dlpi_addr, info.dlpi_addr};
  std::string_view build_id;
  for (unsigned i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info.dlpi_phdr[i];
    const std::uintptr_t begin = info.dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && begin + segment.p_memsz > result.end) result.end = begin + segment.p_memsz;
    if (segment.p_type == PT_NOTE && build_id.empty())
      build_id = build_id_in(reinterpret_cast<const char*>(begin), segment.p_memsz);
  }
  const std::string_view path = info.dlpi_name == nullptr ? "" : info.dlpi_name;
  // The program itself has no name here.
  result.identity = hash_of(!build_id.empty() ? build_id : path.substr(path.rfind('/') + 1));
  return result;
}

// The first loaded module of which is_wanted(module) holds.
template <class predicate>
std::optional<loaded_module> find_module(predicate is_wanted) {
  struct search {
    predicate& is_wanted;
    std::optional<loaded_module> result;
  } request{is_wanted, std::nullopt};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* argument) {
        auto& asked = *static_cast<search*>(argument);
        const loaded_module module = describe(*info);
        if (!asked.is_wanted(module)) return 0;
        asked.result = module;
        return 1;
      },
      &request);
  return request.result;
}

}  // namespace

std::optional<function_address> portable_address(const void* code) {
  const auto address = reinterpret_cast<std::uintptr_t>(code);
  const auto module =
      find_module([&](const loaded_module& loaded) { return address >= loaded.begin && address < loaded.end; });
  if (!module) return std::nullopt;
  return function_address{module->identity, address - module->begin};
}

const void* local_address(const function_address& portable) {
  const auto module = find_module([&](const loaded_module& loaded) { return loaded.identity == portable.module; });
  if (!module || portable.offset >= module->end - module->begin) return nullptr;
  return reinterpret_cast<const void*>(module->begin + portable.offset);
}

}  // namespace trimtab::parcels
