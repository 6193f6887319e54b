#include "trimtab/tasks/algorithm_engine.hpp"

namespace trimtab::tasks::detail {

namespace {

constexpr double piece_ns = 30'000;
constexpr double shared_ns = 8'000;

}  // namespace

void loop_state::failed(std::exception_ptr error) noexcept {
  if (!m_has_failed.exchange(true, std::memory_order_acq_rel)) m_error = std::move(error);
  m_is_over.store(true, std::memory_order_release);
}

const piece_lengths& lengths_of_pieces() noexcept {
  static const piece_lengths known{piece_ns / runtime::ns_per_tick(), shared_ns / runtime::ns_per_tick()};
  return known;
}

}  // namespace trimtab::tasks::detail
