// A channel: values go in at one end and come out at the other in their order, from any number of tasks to any number.
// Who sends to a full one waits, and who receives from an empty one; with no capacity both wait for each other.
//
//   channel<int> c(16);
//   producer: for (...) c.send(x); c.close();
//   consumer: for (int x : c) ...
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <iterator>
#include <mutex>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "trimtab/base/spin_lock.hpp"
#include "trimtab/tasks/coroutines/resumer.hpp"
#include "trimtab/tasks/coroutines/stoppable.hpp"
#include "trimtab/tasks/sync/timer.hpp"
#include "trimtab/tasks/sync/wait_queue.hpp"

namespace trimtab::tasks {

// Values are moved under a lock: their move constructors must neither throw nor wait.
template <class value>
class channel {
  static_assert(std::is_nothrow_move_constructible_v<value>, "values of a channel must be movable without exceptions");

  // Who waits to send `carried`, or to receive it.
  struct party : waiter {
    std::optional<value> carried;
  };

 public:
  explicit channel(std::size_t capacity) : m_capacity(capacity) {}
  channel(const channel&) = delete;
  channel& operator=(const channel&) = delete;

  // False: the channel is closed, or was closed while this waited.
  bool send(value item) {
    parked<party> sleeper;
    sleeper.carried.emplace(std::move(item));
    if (!start_send(sleeper)) sleeper.notified.wait(wait_reason::channel_room, this);
    return !sleeper.carried.has_value();
  }
  // The same; false also if stop was requested before there was room. `item` is moved from only if it was sent.
  bool send(value&& item, const std::stop_token& stop) {
    parked<party> sleeper;
    sleeper.carried.emplace(std::move(item));
    if (!start_send(sleeper))
      detail::wait_unless(stop, sleeper, wait_reason::channel_room, this,
                          [this](waiter& queued) noexcept { return remove(m_senders, queued); });
    if (sleeper.carried.has_value()) item = std::move(*sleeper.carried);
    return !sleeper.carried.has_value();
  }
  // False: closed, or it would wait. `item` is moved from only if it was sent.
  bool try_send(value&& item);

  // As try_send, within a time.
  template <class rep, class period>
  bool try_send_for(value&& item, const std::chrono::duration<rep, period>& time) {
    return send_until(std::move(item), detail::deadline_after(time));
  }
  template <class clock, class duration>
  bool try_send_until(value&& item, const std::chrono::time_point<clock, duration>& deadline) {
    return send_until(std::move(item), detail::deadline_at(deadline));
  }

  // Nothing: the channel is closed, and empty.
  std::optional<value> receive() {
    parked<party> sleeper;
    if (!start_receive(sleeper)) sleeper.notified.wait(wait_reason::channel_value, this);
    return std::move(sleeper.carried);
  }
  // Nothing also if stop was requested and there was none before.
  std::optional<value> receive(const std::stop_token& stop) {
    parked<party> sleeper;
    if (!start_receive(sleeper))
      detail::wait_unless(stop, sleeper, wait_reason::channel_value, this,
                          [this](waiter& queued) noexcept { return remove(m_receivers, queued); });
    return std::move(sleeper.carried);
  }
  // Nothing: it would wait, or as above.
  std::optional<value> try_receive();
  // The same within a time.
  template <class rep, class period>
  std::optional<value> try_receive_for(const std::chrono::duration<rep, period>& time) {
    return receive_until(detail::deadline_after(time));
  }
  template <class clock, class duration>
  std::optional<value> try_receive_until(const std::chrono::time_point<clock, duration>& deadline) {
    return receive_until(detail::deadline_at(deadline));
  }

  // For coroutines: `co_await c.send_async(x)` and `co_await c.receive_async()`, with the same results.
  auto send_async(value item) { return sender(*this, std::move(item)); }
  auto receive_async() { return receiver(*this); }
  // And with those of send(given, stop) and receive(stop).
  auto send_async(value&& item, std::stop_token stop) { return stoppable_sender(*this, item, std::move(stop)); }
  auto receive_async(std::stop_token stop) { return stoppable_receiver(*this, std::move(stop)); }

  // What was sent before can still be received; who waits to send is turned away.
  void close() noexcept;
  bool is_closed() const noexcept {
    const std::lock_guard guard(m_lock);
    return m_is_closed;
  }

  class iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = value;
    using difference_type = std::ptrdiff_t;
    using pointer = value*;
    using reference = value&;

    value& operator*() { return *m_current; }
    iterator& operator++() {
      m_current = m_channel->receive();
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const noexcept { return !m_current.has_value(); }

   private:
    friend class channel;
    explicit iterator(channel& home) : m_channel(&home), m_current(home.receive()) {}
    channel* m_channel;
    std::optional<value> m_current;
  };
  iterator begin() { return iterator(*this); }
  std::default_sentinel_t end() const noexcept { return {}; }

 private:
  class sender : public detail::resumer<party> {
   public:
    sender(channel& owner, value&& item) : detail::resumer<party>(recording::cause::channel), m_channel(owner) {
      this->carried.emplace(std::move(item));
    }
    bool await_ready() const noexcept { return false; }
    template <class promise>
    bool await_suspend(std::coroutine_handle<promise> coroutine) {
      return this->wait_if(coroutine, [&](party& self) { return !m_channel.start_send(self); });
    }
    bool await_resume() const noexcept { return !this->carried.has_value(); }

   private:
    channel& m_channel;
  };
  class receiver : public detail::resumer<party> {
   public:
    explicit receiver(channel& owner) : detail::resumer<party>(recording::cause::channel), m_channel(owner) {}
    bool await_ready() const noexcept { return false; }
    template <class promise>
    bool await_suspend(std::coroutine_handle<promise> coroutine) {
      return this->wait_if(coroutine, [&](party& self) { return !m_channel.start_receive(self); });
    }
    std::optional<value> await_resume() noexcept { return std::move(this->carried); }

   private:
    channel& m_channel;
  };

  struct room {
    channel& owner;
    bool is_available() const noexcept { return false; }
    bool enlist(party& caller) { return !owner.start_send(caller); }
    bool remove(party& caller) noexcept { return owner.remove(owner.m_senders, caller); }
  };
  class stoppable_sender : public detail::stoppable_resumer<room, party> {
   public:
    stoppable_sender(channel& owner, value& item, std::stop_token&& stop)
        : detail::stoppable_resumer<room, party>(recording::cause::channel, std::move(stop), owner), m_item(item) {
      this->carried.emplace(std::move(item));
    }
    bool await_resume() noexcept {
      this->was_notified();
      if (!this->carried.has_value()) return true;
      m_item = std::move(*this->carried);
      return false;
    }

   private:
    value& m_item;
  };
  struct values {
    channel& owner;
    bool is_available() const noexcept { return false; }
    bool enlist(party& caller) { return !owner.start_receive(caller); }
    bool remove(party& caller) noexcept { return owner.remove(owner.m_receivers, caller); }
  };
  class stoppable_receiver : public detail::stoppable_resumer<values, party> {
   public:
    stoppable_receiver(channel& owner, std::stop_token&& stop)
        : detail::stoppable_resumer<values, party>(recording::cause::channel, std::move(stop), owner) {}
    std::optional<value> await_resume() noexcept {
      this->was_notified();
      return std::move(this->carried);
    }
  };

  bool send_until(value&& item, timer::clock::time_point deadline) {
    parked<party> sleeper;
    sleeper.carried.emplace(std::move(item));
    if (!start_send(sleeper))
      detail::wait_until(sleeper, deadline, wait_reason::channel_room, this,
                         [this](waiter& queued) noexcept { return remove(m_senders, queued); });
    if (sleeper.carried.has_value()) item = std::move(*sleeper.carried);
    return !sleeper.carried.has_value();
  }
  std::optional<value> receive_until(timer::clock::time_point deadline) {
    parked<party> sleeper;
    if (!start_receive(sleeper))
      detail::wait_until(sleeper, deadline, wait_reason::channel_value, this,
                         [this](waiter& queued) noexcept { return remove(m_receivers, queued); });
    return std::move(sleeper.carried);
  }
  bool remove(wait_queue& queue, waiter& waiting) noexcept {
    const std::lock_guard guard(m_lock);
    return queue.remove(waiting);
  }

  // True: done, or refused because the channel is closed. False: `partner` will be notified.
  bool start_send(party& partner);
  bool start_receive(party& partner);
  // Under the lock: from the buffer, which the sender that has waited longest then fills up, or from that sender.
  bool receive_locked(std::optional<value>& target, waiter*& notified);

  mutable base::spin_lock m_lock;
  const std::size_t m_capacity;
  bool m_is_closed = false;
  std::deque<value> m_buffer;
  wait_queue m_senders;    // not empty: the buffer is full
  wait_queue m_receivers;  // not empty: the buffer is empty, and there are no senders
};

template <class value>
bool channel<value>::start_send(party& partner) {
  std::unique_lock guard(m_lock);
  if (m_is_closed) return true;
  if (waiter* const first = m_receivers.pop()) {
    guard.unlock();
    static_cast<party*>(first)->carried.emplace(std::move(*partner.carried));
    partner.carried.reset();
    first->notify(*first);
    return true;
  }
  if (m_buffer.size() < m_capacity) {
    m_buffer.push_back(std::move(*partner.carried));
    partner.carried.reset();
    return true;
  }
  m_senders.push(partner);
  return false;
}

template <class value>
bool channel<value>::try_send(value&& item) {
  std::unique_lock guard(m_lock);
  if (m_is_closed) return false;
  if (waiter* const first = m_receivers.pop()) {
    guard.unlock();
    static_cast<party*>(first)->carried.emplace(std::move(item));
    first->notify(*first);
    return true;
  }
  if (m_buffer.size() >= m_capacity) return false;
  m_buffer.push_back(std::move(item));
  return true;
}

template <class value>
bool channel<value>::receive_locked(std::optional<value>& target, waiter*& notified) {
  if (!m_buffer.empty()) {
    target.emplace(std::move(m_buffer.front()));
    m_buffer.pop_front();
  }
  notified = m_senders.pop();
  if (notified == nullptr) return target.has_value();
  std::optional<value>& waiting = static_cast<party*>(notified)->carried;
  if (target.has_value())
    m_buffer.push_back(std::move(*waiting));
  else
    target.emplace(std::move(*waiting));
  waiting.reset();
  return true;
}

template <class value>
bool channel<value>::start_receive(party& partner) {
  std::unique_lock guard(m_lock);
  waiter* notified = nullptr;
  if (!receive_locked(partner.carried, notified) && !m_is_closed) {
    m_receivers.push(partner);
    return false;
  }
  guard.unlock();
  if (notified != nullptr) notified->notify(*notified);
  return true;
}

template <class value>
std::optional<value> channel<value>::try_receive() {
  std::unique_lock guard(m_lock);
  std::optional<value> item;
  waiter* notified = nullptr;
  receive_locked(item, notified);
  guard.unlock();
  if (notified != nullptr) notified->notify(*notified);
  return item;
}

template <class value>
void channel<value>::close() noexcept {
  m_lock.lock();
  m_is_closed = true;
  waiter* const senders = m_senders.pop_all();
  waiter* const receivers = m_receivers.pop_all();
  m_lock.unlock();
  waiter::notify_all(senders);
  waiter::notify_all(receivers);
}

}  // namespace trimtab::tasks
