// A latch that all localities of a job can count down and wait for. It lives where it was created.
#pragma once

#include <cstdint>
#include <vector>

#include "trimtab/base/spin_lock.hpp"
#include "trimtab/parcels/job/job.hpp"
#include "trimtab/parcels/objects/object_handle.hpp"

namespace trimtab::parcels {

namespace detail {

class latch_object final : public global_object {
 public:
  explicit latch_object(std::uint64_t expected) noexcept : m_left(expected) {}
  void count_down(answer<void>& reply, std::uint64_t count);
  void wait(answer<void>& reply);
  void arrive_and_wait(answer<void>& reply, std::uint64_t count);

 private:
  // Those who are to be answered now.
  std::vector<answer<void>> count(std::uint64_t count);

  base::spin_lock m_lock;
  std::uint64_t m_left;
  std::vector<answer<void>> m_waiting;
};

}  // namespace detail

class remote_latch : public object_handle {
  using object = detail::latch_object;

 public:
  remote_latch() = default;
  // Opens when it has been counted down `expected` times; 0: it is open.
  static remote_latch create(job& owner, std::uint64_t expected) {
    return {owner.objects(), owner.objects().add(std::make_shared<object>(expected))};
  }

  // Returns at once. Below zero: it does not count; the latch's locality counts the error, and reports the first one.
  void count_down(std::uint64_t count = 1) const { post<&object::count_down>(count); }
  // Ready when the latch is open.
  tasks::future<void> wait() const { return call<&object::wait>(); }
  // Both; throws std::logic_error below zero.
  tasks::future<void> arrive_and_wait(std::uint64_t count = 1) const { return call<&object::arrive_and_wait>(count); }

 private:
  using object_handle::object_handle;
};

}  // namespace trimtab::parcels
