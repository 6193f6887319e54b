// Something that counts who refers to it, and goes with the last.
#pragma once

#include <utility>

namespace trimtab::tasks {

// One reference to something with retain() and release(), or none.
template <class counted>
class reference {
 public:
  reference() = default;
  explicit reference(counted& taken_over) noexcept : m_what(&taken_over) {}
  reference(const reference& other) noexcept : m_what(other.m_what) {
    if (m_what != nullptr) m_what->retain();
  }
  reference(reference&& other) noexcept : m_what(std::exchange(other.m_what, nullptr)) {}
  reference& operator=(reference other) noexcept {
    std::swap(m_what, other.m_what);
    return *this;
  }
  ~reference() {
    if (m_what != nullptr) m_what->release();
  }
  counted* get() const noexcept { return m_what; }
  counted* operator->() const noexcept { return m_what; }
  counted& operator*() const noexcept { return *m_what; }
  explicit operator bool() const noexcept { return m_what != nullptr; }

 private:
  counted* m_what = nullptr;
};

}  // namespace trimtab::tasks
