#include "runtimes/references.hpp"

#include <elf.h>
#include <link.h>

#include <cstring>

namespace trimtab::openmp {

namespace {

struct dynamic_tables {
  std::uintptr_t base = 0;
  const ElfW(Sym) * symbols = nullptr;
  const char* strings = nullptr;
  const ElfW(Half) * versions = nullptr;
  const char* needed_versions = nullptr;
  const std::uint32_t* gnu_hash = nullptr;
  const std::uint32_t* hash = nullptr;

  // glibc has most addresses of this table relocated already; other loaders leave them as they are in the file.
  template <class what>
  const what* at(ElfW(Addr) address) const noexcept {
    return reinterpret_cast<const what*>(address < base ? base + address : address);
  }

  void read(const ElfW(Dyn) * entry) noexcept {
    for (; entry->d_tag != DT_NULL; ++entry) {
      const ElfW(Addr) to = entry->d_un.d_ptr;
      switch (entry->d_tag) {
        case DT_SYMTAB:
          symbols = at<ElfW(Sym)>(to);
          break;
        case DT_STRTAB:
          strings = at<char>(to);
          break;
        case DT_VERSYM:
          versions = at<ElfW(Half)>(to);
          break;
        case DT_VERNEED:
          needed_versions = at<char>(to);
          break;
        case DT_GNU_HASH:
          gnu_hash = at<std::uint32_t>(to);
          break;
        case DT_HASH:
          hash = at<std::uint32_t>(to);
          break;
        default:
          break;
      }
    }
  }

  // How many symbols to look at: GNU's hash table leaves out the undefined ones, which stand first, and says how
  // many; the older one says how many symbols there are.
  std::uint32_t undefined_below() const noexcept {
    if (symbols == nullptr || strings == nullptr) return 0;
    if (gnu_hash != nullptr) return gnu_hash[1];
    return hash == nullptr ? 0 : hash[1];
  }

  // The default one of this name, or nullptr.
  const ElfW(Sym) * definition_of(const char* name) const noexcept {
    if (symbols == nullptr || strings == nullptr) return nullptr;
    if (gnu_hash != nullptr) return in_gnu_hash(name);
    return hash == nullptr ? nullptr : in_hash(name);
  }

  bool is_definition(std::uint32_t index, const char* name) const noexcept {
    const ElfW(Sym)& symbol = symbols[index];
    constexpr unsigned hidden = 0x8000;  // not the default version
    return symbol.st_shndx != SHN_UNDEF && symbol.st_value != 0 && ELF64_ST_TYPE(symbol.st_info) == STT_FUNC &&
           (versions == nullptr || (versions[index] & hidden) == 0) && std::strcmp(strings + symbol.st_name, name) == 0;
  }

  const ElfW(Sym) * in_gnu_hash(const char* name) const noexcept {
    const std::uint32_t bucket_count = gnu_hash[0], first = gnu_hash[1], filter_words = gnu_hash[2];
    const auto* const buckets =
        reinterpret_cast<const std::uint32_t*>(reinterpret_cast<const ElfW(Addr)*>(gnu_hash + 4) + filter_words);
    const std::uint32_t* const chains = buckets + bucket_count;
    if (bucket_count == 0) return nullptr;
    std::uint32_t sum = 5381;
    for (const char* letter = name; *letter != '\0'; ++letter) sum = sum * 33 + static_cast<unsigned char>(*letter);
    std::uint32_t index = buckets[sum % bucket_count];
    if (index < first) return nullptr;
    for (;; ++index) {
      const std::uint32_t number = chains[index - first];
      if ((number | 1) == (sum | 1) && is_definition(index, name)) return symbols + index;
      if ((number & 1) != 0) return nullptr;
    }
  }

  const ElfW(Sym) * in_hash(const char* name) const noexcept {
    for (std::uint32_t i = 1, n = hash[1]; i < n; ++i)
      if (is_definition(i, name)) return symbols + i;
    return nullptr;
  }

  const char* version_of(std::uint32_t symbol) const noexcept {
    if (versions == nullptr || needed_versions == nullptr) return nullptr;
    const unsigned wanted = versions[symbol] & 0x7fffu;
    const char* file = needed_versions;
    for (;;) {
      ElfW(Verneed) need;
      std::memcpy(&need, file, sizeof need);
      const char* need_entry = file + need.vn_aux;
      for (unsigned i = 0; i < need.vn_cnt; ++i) {
        ElfW(Vernaux) version;
        std::memcpy(&version, need_entry, sizeof version);
        if (version.vna_other == wanted) return strings + version.vna_name;
        need_entry += version.vna_next;
      }
      if (need.vn_next == 0) return nullptr;
      file += need.vn_next;
    }
  }
};

struct search {
  std::uintptr_t address;
  const char* prefix;
  reference found;
};

bool has(const dl_phdr_info& object, std::uintptr_t address) noexcept {
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = object.dlpi_phdr[i];
    if (part.p_type == PT_LOAD && address - (object.dlpi_addr + part.p_vaddr) < part.p_memsz) return true;
  }
  return false;
}

dynamic_tables tables_of(const dl_phdr_info& object) noexcept {
  dynamic_tables tables;
  tables.base = object.dlpi_addr;
  for (int i = 0; i < object.dlpi_phnum; ++i)
    if (object.dlpi_phdr[i].p_type == PT_DYNAMIC)
      tables.read(reinterpret_cast<const ElfW(Dyn)*>(object.dlpi_addr + object.dlpi_phdr[i].p_vaddr));
  return tables;
}

int look(dl_phdr_info* object, std::size_t, void* data) {
  auto& wanted = *static_cast<search*>(data);
  if (!has(*object, wanted.address)) return 0;
  const dynamic_tables tables = tables_of(*object);
  const std::size_t length = std::strlen(wanted.prefix);
  for (std::uint32_t i = 1, n = tables.undefined_below(); i < n; ++i) {
    const ElfW(Sym)& symbol = tables.symbols[i];
    const char* const name = tables.strings + symbol.st_name;
    if (symbol.st_shndx != SHN_UNDEF || std::strncmp(name, wanted.prefix, length) != 0) continue;
    wanted.found = {name, tables.version_of(i)};
    break;
  }
  return 1;
}

struct definition_search {
  std::uintptr_t address;
  const char* name;
  bool is_any_other;  // any object but the one of the address
  void* found;
};

int look_for_definition(dl_phdr_info* object, std::size_t, void* data) {
  auto& wanted = *static_cast<definition_search*>(data);
  if (has(*object, wanted.address) == wanted.is_any_other) return 0;
  const ElfW(Sym)* const symbol = tables_of(*object).definition_of(wanted.name);
  if (symbol != nullptr) wanted.found = reinterpret_cast<void*>(object->dlpi_addr + symbol->st_value);
  return !wanted.is_any_other || wanted.found != nullptr;
}

}  // namespace

void* definition_in(std::uintptr_t address, const char* name) noexcept {
  definition_search wanted{address, name, false, nullptr};
  dl_iterate_phdr(look_for_definition, &wanted);
  return wanted.found;
}

bool is_defined(const char* name, std::uintptr_t excluded) noexcept {
  definition_search wanted{excluded, name, true, nullptr};
  dl_iterate_phdr(look_for_definition, &wanted);
  return wanted.found != nullptr;
}

reference first_reference(std::uintptr_t address, const char* prefix) noexcept {
  search wanted{address, prefix, {}};
  dl_iterate_phdr(look, &wanted);
  return wanted.found;
}

}  // namespace trimtab::openmp
