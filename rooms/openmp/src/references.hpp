// What a loaded object asks the dynamic linker for: its undefined symbols, with the version each must have.
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

}  // namespace trimtab::openmp
