// The functions that runtimes call for members of outermost regions.
#include <array>
#include <utility>

#include "accounting/outermost.hpp"

namespace trimtab::openmp {

namespace {

constexpr std::size_t thunks = 256;

region_binding gomp_bindings[thunks];
region_binding few_bindings[thunks];
region_binding medium_bindings[thunks];

// None of these is noexcept: cancellation and pthread_exit unwind through them.
template <std::size_t index>
void gomp_thunk(void* data) {
  const region_binding& binding = gomp_bindings[index];
  member self;
  begin_part(self, binding, thread_number({binding.of, false}));
  reinterpret_cast<void (*)(void*)>(const_cast<void*>(binding.outlined))(data);
  end_part(self, binding);
}

// The runtimes tell the number in the team by the second pointer. Surplus arguments do no harm: see hooks/kmpc/fork.cpp.
template <class... pointers>
void run_microtask(const region_binding& binding, std::int32_t* thread, std::int32_t* bound, pointers... captured) {
  member self;
  begin_part(self, binding, *bound < 0 ? 0u : static_cast<std::uint32_t>(*bound));
  reinterpret_cast<void (*)(std::int32_t*, std::int32_t*, pointers...)>(const_cast<void*>(binding.outlined))(thread, bound,
                                                                                                             captured...);
  end_part(self, binding);
}

template <std::size_t index>
void few_thunk(std::int32_t* thread, std::int32_t* bound, void* a, void* b, void* c, void* d) {
  run_microtask(few_bindings[index], thread, bound, a, b, c, d);
}

template <std::size_t index>
void medium_thunk(std::int32_t* thread, std::int32_t* bound, void* a, void* b, void* c, void* d, void* e, void* f, void* g,
                  void* h, void* i, void* j, void* k, void* l, void* m, void* n, void* o, void* p) {
  run_microtask(medium_bindings[index], thread, bound, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p);
}

template <std::size_t... index>
std::array<void*, thunks> table_of_gomp(std::index_sequence<index...>) noexcept {
  return {reinterpret_cast<void*>(gomp_thunk<index>)...};
}
template <std::size_t... index>
std::array<void*, thunks> table_of_few(std::index_sequence<index...>) noexcept {
  return {reinterpret_cast<void*>(few_thunk<index>)...};
}
template <std::size_t... index>
std::array<void*, thunks> table_of_medium(std::index_sequence<index...>) noexcept {
  return {reinterpret_cast<void*>(medium_thunk<index>)...};
}

const std::array<void*, thunks> gomp_table = table_of_gomp(std::make_index_sequence<thunks>());
const std::array<void*, thunks> few_table = table_of_few(std::make_index_sequence<thunks>());
const std::array<void*, thunks> medium_table = table_of_medium(std::make_index_sequence<thunks>());

}  // namespace

thunk_set gomp_regions{gomp_bindings, gomp_table.data(), thunks};
thunk_set kmpc_regions_few{few_bindings, few_table.data(), thunks};
thunk_set kmpc_regions_medium{medium_bindings, medium_table.data(), thunks};

}  // namespace trimtab::openmp
