// Which runtimes give their tasks identities. A trace says whose tasks have none.
#pragma once

#include "accounting/lane_state.hpp"

namespace trimtab::openmp {

// An identity that tells only the subject.
constexpr std::uint64_t identity_of_subject(std::uint32_t subject) noexcept { return std::uint64_t{subject + 1u} << 44; }

// Identities are unique in the process without asking other lanes, and tell the subject: 20 bits of it, 13 of the lane,
// 31 of the lane's count (a trace has no room for more).
inline std::uint64_t new_identity(const lane_context& context, std::uint32_t subject) noexcept {
  const std::uint64_t lane_bits = std::uint64_t{context.on->id() + 1u} << 31;
  return identity_of_subject(subject) | lane_bits | (++context.state->tasks & 0x7fffffffu);
}
inline std::uint32_t subject_of_identity(std::uint64_t identity) noexcept {
  return static_cast<std::uint32_t>(identity >> 44) - 1u;
}

// True when `of` tells us its tasks' identities.
bool has_identities(const runtime* library) noexcept;

// A trace has a task of it that will have no identity (nullptr: not known whose).
void tasks_are_unnamed(const runtime* library) noexcept;

bool has_unnamed_tasks(runtime_family family) noexcept;

// The runtime that `address` lies in gives its tasks identities from now on. False: there are too many such runtimes.
bool gives_identities(const void* address) noexcept;

}  // namespace trimtab::openmp
