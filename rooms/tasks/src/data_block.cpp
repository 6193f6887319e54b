#include "trimtab/tasks/graph/data_block.hpp"

#include <algorithm>
#include <bit>
#include <mutex>
#include <new>

namespace trimtab::tasks {

namespace {

constexpr const char* access_names[] = {"read_write", "exclusive_write", "read_only", "constant"};
constexpr const char* kind_names[] = {"task", "block", "event"};

constexpr std::size_t alignment = 64;

unsigned class_of(std::size_t bytes) noexcept {
  return static_cast<unsigned>(std::bit_width(std::max(bytes, alignment) - 1));
}

}  // namespace

const char* name_of(access_mode mode) noexcept { return access_names[static_cast<std::size_t>(mode)]; }

identity identity::next(kind object_kind) noexcept {
  static constinit std::atomic<std::uint64_t> last{0};
  identity result;
  result.m_value = (last.fetch_add(1, std::memory_order_relaxed) + 1) << 2 | static_cast<std::uint64_t>(object_kind);
  return result;
}

std::string identity::text(std::string_view name) const {
  std::string written = kind_names[m_value & 3];
  written += ' ';
  written += std::to_string(m_value >> 2);
  if (!name.empty()) written.append(" (").append(name).append(")");
  return written;
}

block_memory::~block_memory() {
  for (unused* each : m_unused)
    while (each != nullptr) ::operator delete(std::exchange(each, each->next), std::align_val_t{alignment});
}

void* block_memory::allocate(std::size_t bytes) {
  const unsigned size_class = class_of(bytes);
  if (size_class < classes) {
    const std::lock_guard guard(m_lock);
    if (unused* const cached = m_unused[size_class]) {
      m_unused[size_class] = cached->next;
      return cached;
    }
  }
  return ::operator new(size_class < classes ? std::size_t{1} << size_class : bytes, std::align_val_t{alignment});
}

void block_memory::free(void* memory, std::size_t bytes) noexcept {
  const unsigned size_class = class_of(bytes);
  if (size_class >= classes) return ::operator delete(memory, std::align_val_t{alignment});
  const std::lock_guard guard(m_lock);
  m_unused[size_class] = new (memory) unused{m_unused[size_class]};
}

data_block::data_block(std::shared_ptr<block_memory> memory, std::size_t bytes, std::string_view name)
    : m_name(name), m_bytes(bytes), m_memory(std::move(memory)), m_data(m_memory->allocate(bytes)) {}

data_block::~data_block() { free_data(); }

data_block& data_block::create(std::shared_ptr<block_memory> memory, std::size_t bytes, std::string_view name) {
  return *new data_block(std::move(memory), bytes, name);
}

void data_block::release() noexcept {
  if (m_references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

void data_block::free_data() noexcept {
  if (m_data != nullptr) m_memory->free(std::exchange(m_data, nullptr), m_bytes);
}

data_block::sharing data_block::sharing_of(access_mode mode) noexcept {
  switch (mode) {
    case access_mode::read_write:
      return sharing::writers;
    case access_mode::exclusive_write:
      return sharing::exclusive;
    default:
      return sharing::readers;
  }
}

bool data_block::admits(access_mode mode) const noexcept {
  return m_users == 0 || (sharing_of(mode) != sharing::exclusive && sharing_of(mode) == m_shared_by);
}

void data_block::admit(access_mode mode) noexcept {
  m_users += 1;
  m_shared_by = sharing_of(mode);
  if (mode == access_mode::constant) m_is_constant = true;
}

data_block::answer data_block::acquire(request& wish) noexcept {
  request* ready_requests = nullptr;
  answer result = answer::granted;
  {
    const std::lock_guard guard(m_lock);
    const bool writes = sharing_of(wish.mode) != sharing::readers;
    if (m_is_destroyed) return answer::is_destroyed;
    if (m_is_constant && writes) return answer::is_constant;
    if (m_first == nullptr && admits(wish.mode)) {
      admit(wish.mode);
    } else {
      wish.next = nullptr;
      *m_end = &wish;
      m_end = &wish.next;
      result = answer::queued;
    }
    ready_requests = admit_queued();
  }
  notify_all(ready_requests);
  return result;
}

// Those at the front of the queue that may use it now, or never: to be told. With the lock.
data_block::request* data_block::admit_queued() noexcept {
  request* notified = nullptr;
  request** end = &notified;
  while (m_first != nullptr) {
    request& waiting_request = *m_first;
    if (m_is_destroyed) {
      waiting_request.result = answer::is_destroyed;
    } else if (m_is_constant && sharing_of(waiting_request.mode) != sharing::readers) {
      waiting_request.result = answer::is_constant;
    } else if (admits(waiting_request.mode)) {
      admit(waiting_request.mode);
      waiting_request.result = answer::granted;
    } else {
      break;
    }
    m_first = waiting_request.next;
    if (m_first == nullptr) m_end = &m_first;
    waiting_request.next = nullptr;
    *end = &waiting_request;
    end = &waiting_request.next;
  }
  return notified;
}

void data_block::notify_all(request* first) noexcept {
  while (first != nullptr) {
    request& waiting_request = *std::exchange(first, first->next);
    waiting_request.notify_access(waiting_request);
  }
}

void data_block::release_access() noexcept {
  request* ready_requests = nullptr;
  {
    const std::lock_guard guard(m_lock);
    m_users -= 1;
    if (m_users == 0 && m_is_destroyed) free_data();
    ready_requests = admit_queued();
  }
  notify_all(ready_requests);
}

void data_block::destroy() noexcept {
  request* ready_requests = nullptr;
  {
    const std::lock_guard guard(m_lock);
    m_is_destroyed = true;
    if (m_users == 0) free_data();
    ready_requests = admit_queued();
  }
  notify_all(ready_requests);
}

bool data_block::is_in_use() noexcept {
  const std::lock_guard guard(m_lock);
  return m_users != 0;
}

bool data_block::is_constant() noexcept {
  const std::lock_guard guard(m_lock);
  return m_is_constant;
}

bool data_block::is_destroyed() noexcept {
  const std::lock_guard guard(m_lock);
  return m_is_destroyed;
}

}  // namespace trimtab::tasks
