// How deep values of types that contain themselves may be nested.
#pragma once

namespace trimtab::parcels {

// Containers, std::unique_ptr and classes with `serialize` within each other. Reading is recursive, on the stack of a task.
inline constexpr unsigned deepest_nesting = 256;

namespace detail {

// One level, while it lives.
class nesting {
 public:
  explicit nesting(unsigned& depth) noexcept : m_depth(depth) { ++m_depth; }
  ~nesting() { --m_depth; }
  nesting(const nesting&) = delete;
  nesting& operator=(const nesting&) = delete;

 private:
  unsigned& m_depth;
};

[[noreturn]] void throw_too_deep();  // std::length_error

}  // namespace detail
}  // namespace trimtab::parcels
