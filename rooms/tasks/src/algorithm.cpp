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
  place_name(const algorithm_call& call, std::string_view file)
      : text(std::string(call.algorithm) + " at " + std::string(file.substr(file.rfind('/') + 1)) + ":" +
             std::to_string(call.place.line())),
        name(text.c_str(), call.place.file_name(), call.place.line()) {}
  std::string text;
  annotation name;
};

}  // namespace

// Kept for good: tasks and reports point to them. File names are told apart by their addresses.
const annotation& name_of_call(const algorithm_call& call) {
  static constinit std::map<std::tuple<const char*, const char*, std::uint32_t>, place_name>* cache = nullptr;
  const char* const file = call.place.file_name();
  const std::lock_guard guard(lock_of(of_process::calls));
  if (cache == nullptr) cache = new std::remove_pointer_t<decltype(cache)>;
  return cache->try_emplace({call.algorithm, file, call.place.line()}, call, file).first->second.name;
}

void loop_state::failed(std::exception_ptr error) noexcept {
  if (!m_has_failed.exchange(true, std::memory_order_acq_rel)) m_error = std::move(error);
  m_has_ended.store(true, std::memory_order_release);
}

const piece_lengths& lengths_of_pieces() noexcept {
  static constinit lazy_singleton<piece_lengths> lengths_once(of_process::pieces);
  if (const piece_lengths* const lengths = lengths_once.get_if(); lengths != nullptr) [[likely]]
    return *lengths;
  const double ns_per_tick = runtime::ns_per_tick();
  return lengths_once.get([&] { return piece_lengths{piece_ns / ns_per_tick, shared_ns / ns_per_tick}; });
}

}  // namespace trimtab::tasks::detail
