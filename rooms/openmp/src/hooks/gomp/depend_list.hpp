// The depend lists that GCC's code hands to libgomp, in the two layouts that it has:
//
//   old (all GCCs)        count, count of out and inout, addresses: out and inout first, then in
//   new (since GCC 9)     0, count, counts of out and inout, of mutexinoutset, of in; addresses in this order; then
//   addresses of
//                         depend objects (omp_depend_t), each with an address and a kind: in 1, out 2, inout 3,
//                         mutexinoutset 4, inoutset 5
//
// (libgomp/task.c, gomp_task_handle_depend.)
#pragma once

#include <array>

#include "accounting/task_dependences.hpp"

namespace trimtab::openmp {

struct depend_object {
  std::uintptr_t address;
  std::uintptr_t kind;
};

inline dependence dependence_of(const depend_object& depended) noexcept {
  constexpr std::uintptr_t kind_in = 1, kind_inoutset = 5;
  const dependence_kind kind = depended.kind == kind_in         ? dependence_kind::in
                               : depended.kind == kind_inoutset ? dependence_kind::inoutset
                                                                : dependence_kind::out;
  return {depended.address, kind};
}

// Calls use(items, count) for the items of the list, some at a time.
template <class function>
void for_depend_list(void* const* depend, function use) noexcept {
  const auto word = [depend](std::size_t at) { return reinterpret_cast<std::uintptr_t>(depend[at]); };
  const bool is_new = word(0) == 0;
  const std::size_t count = word(is_new ? 1 : 0), header = is_new ? 5 : 2;
  const std::size_t outs = is_new ? word(2) + word(3) : word(1);
  const std::size_t plain = is_new ? outs + word(4) : count;
  std::array<dependence, 16> items;
  for (std::size_t begin = 0; begin < count; begin += items.size()) {
    std::size_t filled = 0;
    for (std::size_t i = begin; i < count && filled < items.size(); ++i, ++filled) {
      const std::uintptr_t address = word(header + i);
      items[filled] = i >= plain ? dependence_of(*reinterpret_cast<const depend_object*>(address))
                                 : dependence{address, i < outs ? dependence_kind::out : dependence_kind::in};
    }
    use(items.data(), filled);
  }
}

}  // namespace trimtab::openmp
