#include "trimtab/parcels/objects/locality_object.hpp"

#include <mutex>
#include <utility>

namespace trimtab::parcels {

namespace {

std::exception_ptr wrong_type(const std::string& name) {
  return std::make_exception_ptr(
      name_error("trimtab: the name \"" + name + "\" is registered for an object of another type"));
}

}  // namespace

void locality_object::register_name(answer<void>& reply, const std::string& name, std::uint64_t signature,
                                    const bytes& handle) {
  std::vector<seeker> seekers;
  {
    const std::lock_guard guard(m_lock);
    if (!m_names.try_emplace(name, registered{signature, handle}).second)
      throw name_error("trimtab: the name \"" + name + "\" is registered already");
    const auto [first, last] = m_seekers.equal_range(name);
    for (auto position = first; position != last; ++position) seekers.push_back(std::move(position->second));
    m_seekers.erase(first, last);
  }
  for (seeker& waiting : seekers)
    waiting.signature == signature ? waiting.reply.give(handle) : waiting.reply.fail(wrong_type(name));
  reply.give();
}

void locality_object::find_name(answer<bytes>& reply, const std::string& name, std::uint64_t signature) {
  bytes handle;
  {
    const std::lock_guard guard(m_lock);
    const auto position = m_names.find(name);
    if (position == m_names.end()) {
      m_seekers.emplace(name, seeker{signature, std::move(reply)});
      return;
    }
    if (position->second.signature != signature) std::rethrow_exception(wrong_type(name));
    handle = position->second.handle;
  }
  reply.give(std::move(handle));
}

void locality_object::forget_name(answer<void>& reply, const std::string& name) {
  {
    const std::lock_guard guard(m_lock);
    if (m_names.erase(name) == 0) throw name_error("trimtab: the name \"" + name + "\" is not registered");
  }
  reply.give();
}

void locality_object::note_put_error(locality_number from, const std::exception_ptr& error) noexcept {
  const std::lock_guard guard(m_lock);
  m_put_errors.try_emplace(from, error);
}

void locality_object::flush_puts(answer<void>& reply) {
  std::exception_ptr error;
  {
    const std::lock_guard guard(m_lock);
    const auto position = m_put_errors.find(reply.caller());
    if (position != m_put_errors.end()) {
      error = position->second;
      m_put_errors.erase(position);
    }
  }
  error ? reply.fail(error) : reply.give();
}

}  // namespace trimtab::parcels
