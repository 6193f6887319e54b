// References to an object that counts them and is destroyed with the last one.
#pragma once

#include <utility>

namespace trimtab::tasks {

// One reference to an object with retain() and release(), or none.
template <class counted>
class reference {
 public:
  reference() = default;
  explicit reference(counted& owned) noexcept : m_target(&owned) {}
  reference(const reference& source) noexcept : m_target(source.m_target) {
    if (m_target != nullptr) m_target->retain();
  }
  reference(reference&& source) noexcept : m_target(std::exchange(source.m_target, nullptr)) {}
  reference& operator=(reference source) noexcept {
    std::swap(m_target, source.m_target);
    return *this;
  }
  ~reference() {
    if (m_target != nullptr) m_target->release();
  }
  counted* get() const noexcept { return m_target; }
  counted* operator->() const noexcept { return m_target; }
  counted& operator*() const noexcept { return *m_target; }
  explicit operator bool() const noexcept { return m_target != nullptr; }

 private:
  counted* m_target = nullptr;
};

}  // namespace trimtab::tasks
