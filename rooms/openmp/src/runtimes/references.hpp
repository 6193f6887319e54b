// What a loaded object asks the dynamic linker for: its undefined symbols, with the version each must have; and what it
// defines.
#pragma once

#include <cstdint>

namespace trimtab::openmp {

struct reference {
  const char* name = nullptr;     // nullptr: there is none
  const char* version = nullptr;  // nullptr: any
};

// The first undefined symbol whose name begins with `prefix`, in the object that `address` lies in. The strings are
// the object's own, and go with it. Asks the loader, and so must not be called with a lock held.
reference first_reference(std::uintptr_t address, const char* prefix) noexcept;

// The default version of a function that the object in which `address` lies defines; nullptr: it defines none. As dlsym
// finds it, which allocates from the program's heap to say that there is none, and changes what dlerror tells the program.
void* definition_in(std::uintptr_t address, const char* name) noexcept;

// Whether any loaded object defines it, but for the one in which `but` lies.
bool is_defined(const char* name, std::uintptr_t excluded) noexcept;

}  // namespace trimtab::openmp
