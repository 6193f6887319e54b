// A channel that all localities of a job can send to and receive from. It lives where it was created, and is never full.
//
//   auto numbers = remote_channel<int>::create(job);
//   trimtab::post(where, produce, numbers);               // the handle travels
//   int first = numbers.receive().get();
//
// Values that one locality sends arrive in the order of sending. Values of several localities come in some order.
#pragma once

#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include "trimtab/base/spin_lock.hpp"
#include "trimtab/parcels/job/job.hpp"
#include "trimtab/parcels/objects/object_handle.hpp"

namespace trimtab::parcels {

namespace detail {

// One of the two queues is always empty.
template <class value>
class channel_object final : public global_object {
 public:
  void send(answer<void>& reply, value item) {
    std::optional<answer<value>> receiver;
    {
      const std::lock_guard guard(m_lock);
      if (m_is_closed) throw channel_closed("trimtab: a value was sent to a remote channel that is closed");
      if (m_receivers.empty()) {
        m_values.push_back(std::move(item));
      } else {
        receiver.emplace(std::move(m_receivers.front()));
        m_receivers.pop_front();
      }
    }
    if (receiver) receiver->give(std::move(item));
    reply.give();
  }
  void receive(answer<value>& reply) {
    std::optional<value> item;
    {
      const std::lock_guard guard(m_lock);
      if (m_values.empty()) {
        if (m_is_closed) std::rethrow_exception(closed_error());
        m_receivers.push_back(std::move(reply));
        return;
      }
      item.emplace(std::move(m_values.front()));
      m_values.pop_front();
    }
    reply.give(std::move(*item));
  }
  void close(answer<void>& reply) {
    for (answer<value>& receiver : take_receivers([](const auto&) { return true; }, true)) receiver.fail(closed_error());
    reply.give();
  }
  // A value for a locality that has gone would be lost.
  void on_gone(locality_number which, const std::exception_ptr&) noexcept override {
    take_receivers([which](const answer<value>& receiver) { return receiver.caller() == which; }, false);
  }

 private:
  static std::exception_ptr closed_error() {
    return std::make_exception_ptr(
        channel_closed("trimtab: a remote channel is closed, and all its values have been received"));
  }
  template <class function>
  std::deque<answer<value>> take_receivers(function&& is_taken, bool closes) {
    std::deque<answer<value>> taken, left;
    const std::lock_guard guard(m_lock);
    m_is_closed = m_is_closed || closes;
    for (answer<value>& receiver : m_receivers) (is_taken(receiver) ? taken : left).push_back(std::move(receiver));
    m_receivers.swap(left);
    return taken;
  }

  base::spin_lock m_lock;
  bool m_is_closed = false;
  std::deque<value> m_values;
  std::deque<answer<value>> m_receivers;
};

}  // namespace detail

template <class value>
class remote_channel : public object_handle {
  using object = detail::channel_object<value>;

 public:
  remote_channel() = default;
  static remote_channel create(job& owner) {
    return remote_channel(owner.objects(), owner.objects().add(std::make_shared<object>()));
  }

  // Returns at once. If the channel is closed or destroyed, its locality counts the value as lost, and reports the first
  // one.
  void send(value item) const { post<&object::send>(std::move(item)); }
  // The same; the future is ready when the channel has the value, and throws channel_closed or no_such_object.
  tasks::future<void> set(value item) const { return call<&object::send>(std::move(item)); }
  // The next value that nobody else receives. Throws channel_closed when there will be none. A value that is on its way to a
  // locality that is lost is lost.
  tasks::future<value> receive() const { return call<&object::receive>(); }
  // What was sent before can still be received. Ready when the channel is closed.
  tasks::future<void> close() const { return call<&object::close>(); }

 private:
  using object_handle::object_handle;
};

}  // namespace trimtab::parcels
