// Outermost regions at profile level: nearly all there are, and the ones that may be short. A member that has to
// read what its forker has just written waits for another core's cache before it can start. So the function that
// the runtime calls knows all that it needs: it is bound for good to one outlined function and one forking lane,
// and hands on the program's own arguments. Which instance a part belongs to the forker finds out: it is the one
// in whose time the part lies.
#pragma once

#include "accounting/lane_state.hpp"

namespace trimtab::openmp {

// Written once, before the thunk that carries it is first given away.
struct alignas(64) region_binding {
  const void* outlined;
  lane_state* forker;
  runtime* of;
  std::uint32_t subject;
  std::uint32_t generation;  // see places_generation
};

// Functions of one calling convention, each with a binding of its own.
struct thunk_set {
  region_binding* bindings;
  void* const* functions;
  std::uint32_t size;
  std::atomic<std::uint32_t> used{0};
};
extern thunk_set gomp_regions;         // void (void*)
extern thunk_set kmpc_regions_few;     // void (int32*, int32*, and up to 4 pointers)
extern thunk_set kmpc_regions_medium;  // and up to 16

// Opens the region; what to give to the runtime in the place of `outlined`. nullptr: not a case for here (nested,
// traced, not recorded, no thunk left); nothing was opened.
// clause: the number of threads that the program asks for, 0 if it leaves that open.
void* open_outermost(const caller& from, const void* outlined, std::uint32_t clause, const char* source,
                     thunk_set& thunks) noexcept;
void close_outermost() noexcept;

void outermost_after_fork() noexcept;

// Around the outlined function, on every member.
void begin_part(member& self, const region_binding& binding, std::uint32_t number) noexcept;
void end_part(member& self, const region_binding& binding) noexcept;

}  // namespace trimtab::openmp
