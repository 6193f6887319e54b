#include "trimtab/parcels/calls/action.hpp"

#include <cxxabi.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

namespace trimtab::parcels {

namespace {

// As in the program's source where the linker knows it, else by its place: "program+0x1a40".
std::string name_of_function(const void* code) {
  Dl_info info{};
  if (dladdr(code, &info) == 0) return "unknown";
  if (info.dli_sname != nullptr && info.dli_saddr == code) {
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> readable(abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, &status),
                                                          std::free);
    return readable ? readable.get() : info.dli_sname;
  }
  std::string file = info.dli_fname == nullptr ? "" : info.dli_fname;
  file = file.substr(file.rfind('/') + 1);
  char offset[32];
  std::snprintf(offset, sizeof offset, "+0x%zx",
                static_cast<std::size_t>(static_cast<const char*>(code) - static_cast<const char*>(info.dli_fbase)));
  return file + offset;
}

function_address checked_address(const void* code) {
  const auto address = portable_address(code);
  if (!address)
    throw std::invalid_argument(
        "trimtab: an action must be a function of the program or of a library; this address lies in neither");
  return *address;
}

}  // namespace

std::string name_of_action(const parcel_kind& kind, const void* function) {
  if (kind.label != nullptr) return kind.label;
  return name_of_function(function != nullptr ? function : reinterpret_cast<const void*>(kind.receive));
}

action_registry& action_registry::of_process() {
  static action_registry& registry = *new action_registry;  // never destroyed: threads may use it to the end
  return registry;
}

action* action_registry::find(std::uint32_t number) const noexcept {
  if (number == 0 || number > size()) return nullptr;
  const block* const actions = m_blocks[(number - 1) / per_block].load(std::memory_order_acquire);
  return (*actions)[(number - 1) % per_block].get();
}

action& action_registry::find_or_add(const parcel_kind& kind, const void* function) {
  const std::lock_guard guard(m_lock);
  const std::uint32_t count = m_size.load(std::memory_order_relaxed);
  action*& known = m_known[{&kind, function}];
  if (known != nullptr) return *known;
  if (count == most_actions)
    throw std::length_error("trimtab: more than " + std::to_string(most_actions) + " actions in one program");
  auto created = std::make_unique<action>();
  created->number = count + 1;
  created->kind = &kind;
  created->function = function;
  created->portable_kind = checked_address(&kind);
  if (function != nullptr) created->portable_function = checked_address(function);
  created->name = name_of_action(kind, function);
  auto& slot = m_blocks[count / per_block];
  if (slot.load(std::memory_order_relaxed) == nullptr)
    slot.store(reinterpret_cast<block*>(new std::unique_ptr<action>[per_block]), std::memory_order_release);
  known = created.get();
  (*slot.load(std::memory_order_relaxed))[count % per_block] = std::move(created);
  // Release: who sees the count finds the action whole.
  m_size.store(count + 1, std::memory_order_release);
  return *known;
}

}  // namespace trimtab::parcels
