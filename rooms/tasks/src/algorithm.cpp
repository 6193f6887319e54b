#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>

#include "process_locks.hpp"
#include "trimtab/tasks/algorithms/engine.hpp"

namespace trimtab::tasks::detail {

namespace {

constexpr double piece_ns = 30'000;
constexpr double shared_ns = 8'000;

}  // namespace

namespace {

struct place_name {
  place_name(const algorithm_call& which, std::string_view file)
      : text(std::string(which.algorithm) + " at " + std::string(file.substr(file.rfind('/') + 1)) + ":" +
             std::to_string(which.place.line())),
        name(text.c_str(), which.place.file_name(), which.place.line()) {}
  std::string text;
  annotation name;
};

}  // namespace

// Kept for good: tasks and reports point to them. File names are told apart by their addresses.
const annotation& name_of_call(const algorithm_call& which) {
  static constinit std::map<std::tuple<const char*, const char*, std::uint32_t>, place_name>* known = nullptr;
  const char* const file = which.place.file_name();
  const std::lock_guard guard(lock_of(of_process::calls));
  if (known == nullptr) known = new std::remove_pointer_t<decltype(known)>;
  return known->try_emplace({which.algorithm, file, which.place.line()}, which, file).first->second.name;
}

void loop_state::failed(std::exception_ptr error) noexcept {
  if (!m_has_failed.exchange(true, std::memory_order_acq_rel)) m_error = std::move(error);
  m_is_over.store(true, std::memory_order_release);
}

const piece_lengths& lengths_of_pieces() noexcept {
  static constinit made_once<piece_lengths> known(of_process::pieces);
  if (const piece_lengths* const found = known.known(); found != nullptr) [[likely]]
    return *found;
  const double ns_per_tick = runtime::ns_per_tick();
  return known.get([&] { return piece_lengths{piece_ns / ns_per_tick, shared_ns / ns_per_tick}; });
}

}  // namespace trimtab::tasks::detail
