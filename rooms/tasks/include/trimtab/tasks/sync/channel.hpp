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
  bool send(value given) {
    parked<party> here;
    here.carried.emplace(std::move(given));
    if (!start_send(here)) here.told.wait(wait_reason::channel_room, this);
    return !here.carried.has_value();
  }
  // The same; false also if stop was requested before there was room. `given` is moved from only if it was sent.
  bool send(value&& given, const std::stop_token& stop) {
    parked<party> here;
    here.carried.emplace(std::move(given));
    if (!start_send(here))
      detail::wait_unless(stop, here, wait_reason::channel_room, this,
                          [this](waiter& who) noexcept { return remove(m_senders, who); });
    if (here.carried.has_value()) given = std::move(*here.carried);
    return !here.carried.has_value();
  }
  // False: closed, or it would wait. `given` is moved from only if it was sent.
  bool try_send(value&& given);

  // As try_send, within a time.
  template <class rep, class period>
  bool try_send_for(value&& given, const std::chrono::duration<rep, period>& time) {
    return send_until(std::move(given), detail::deadline_after(time));
  }
  template <class clock, class duration>
  bool try_send_until(value&& given, const std::chrono::time_point<clock, duration>& when) {
    return send_until(std::move(given), detail::deadline_at(when));
  }

  // Nothing: the channel is closed, and empty.
  std::optional<value> receive() {
    parked<party> here;
    if (!start_receive(here)) here.told.wait(wait_reason::channel_value, this);
    return std::move(here.carried);
  }
  // Nothing also if stop was requested and there was none before.
  std::optional<value> receive(const std::stop_token& stop) {
    parked<party> here;
    if (!start_receive(here))
      detail::wait_unless(stop, here, wait_reason::channel_value, this,
                          [this](waiter& who) noexcept { return remove(m_receivers, who); });
    return std::move(here.carried);
  }
  // Nothing: it would wait, or as above.
  std::optional<value> try_receive();
  // The same within a time.
  template <class rep, class period>
  std::optional<value> try_receive_for(const std::chrono::duration<rep, period>& time) {
    return receive_until(detail::deadline_after(time));
  }
  template <class clock, class duration>
  std::optional<value> try_receive_until(const std::chrono::time_point<clock, duration>& when) {
    return receive_until(detail::deadline_at(when));
  }

  // For coroutines: `co_await c.send_async(x)` and `co_await c.receive_async()`, with the same results.
  auto send_async(value given) { return sender(*this, std::move(given)); }
  auto receive_async() { return receiver(*this); }
  // And with those of send(given, stop) and receive(stop).
  auto send_async(value&& given, std::stop_token stop) { return stoppable_sender(*this, given, std::move(stop)); }
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
      m_current = m_of->receive();
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const noexcept { return !m_current.has_value(); }

   private:
    friend class channel;
    explicit iterator(channel& of) : m_of(&of), m_current(of.receive()) {}
    channel* m_of;
    std::optional<value> m_current;
  };
  iterator begin() { return iterator(*this); }
  std::default_sentinel_t end() const noexcept { return {}; }

 private:
  class sender : public detail::resumer<party> {
   public:
    sender(channel& of, value&& given) : detail::resumer<party>(recording::cause::channel), m_of(of) {
      this->carried.emplace(std::move(given));
    }
    bool await_ready() const noexcept { return false; }
    template <class promise>
    bool await_suspend(std::coroutine_handle<promise> who) {
      return this->wait_if(who, [&](party& self) { return !m_of.start_send(self); });
    }
    bool await_resume() const noexcept { return !this->carried.has_value(); }

   private:
    channel& m_of;
  };
  class receiver : public detail::resumer<party> {
   public:
    explicit receiver(channel& of) : detail::resumer<party>(recording::cause::channel), m_of(of) {}
    bool await_ready() const noexcept { return false; }
    template <class promise>
    bool await_suspend(std::coroutine_handle<promise> who) {
      return this->wait_if(who, [&](party& self) { return !m_of.start_receive(self); });
    }
    std::optional<value> await_resume() noexcept { return std::move(this->carried); }

   private:
    channel& m_of;
  };

  struct room {
    channel& of;
    bool is_had() const noexcept { return false; }
    bool enlist(party& who) { return !of.start_send(who); }
    bool remove(party& who) noexcept { return of.remove(of.m_senders, who); }
  };
  class stoppable_sender : public detail::stoppable_resumer<room, party> {
   public:
    stoppable_sender(channel& of, value& given, std::stop_token&& stop)
        : detail::stoppable_resumer<room, party>(recording::cause::channel, std::move(stop), of), m_given(given) {
      this->carried.emplace(std::move(given));
    }
    bool await_resume() noexcept {
      this->was_told();
      if (!this->carried.has_value()) return true;
      m_given = std::move(*this->carried);
      return false;
    }

   private:
    value& m_given;
  };
  struct values {
    channel& of;
    bool is_had() const noexcept { return false; }
    bool enlist(party& who) { return !of.start_receive(who); }
    bool remove(party& who) noexcept { return of.remove(of.m_receivers, who); }
  };
  class stoppable_receiver : public detail::stoppable_resumer<values, party> {
   public:
    stoppable_receiver(channel& of, std::stop_token&& stop)
        : detail::stoppable_resumer<values, party>(recording::cause::channel, std::move(stop), of) {}
    std::optional<value> await_resume() noexcept {
      this->was_told();
      return std::move(this->carried);
    }
  };

  bool send_until(value&& given, timer::clock::time_point deadline) {
    parked<party> here;
    here.carried.emplace(std::move(given));
    if (!start_send(here))
      detail::wait_until(here, deadline, wait_reason::channel_room, this,
                         [this](waiter& who) noexcept { return remove(m_senders, who); });
    if (here.carried.has_value()) given = std::move(*here.carried);
    return !here.carried.has_value();
  }
  std::optional<value> receive_until(timer::clock::time_point deadline) {
    parked<party> here;
    if (!start_receive(here))
      detail::wait_until(here, deadline, wait_reason::channel_value, this,
                         [this](waiter& who) noexcept { return remove(m_receivers, who); });
    return std::move(here.carried);
  }
  bool remove(wait_queue& from, waiter& who) noexcept {
    const std::lock_guard guard(m_lock);
    return from.remove(who);
  }

  // True: done, or turned away. False: `by` will be told.
  bool start_send(party& by);
  bool start_receive(party& by);
  // Under the lock: from the buffer, which the sender that has waited longest then fills up, or from that sender.
  bool take(std::optional<value>& into, waiter*& told);

  mutable base::spin_lock m_lock;
  const std::size_t m_capacity;
  bool m_is_closed = false;
  std::deque<value> m_buffer;
  wait_queue m_senders;    // not empty: the buffer is full
  wait_queue m_receivers;  // not empty: the buffer is empty, and there are no senders
};

template <class value>
bool channel<value>::start_send(party& by) {
  std::unique_lock guard(m_lock);
  if (m_is_closed) return true;
  if (waiter* const first = m_receivers.pop()) {
    guard.unlock();
    static_cast<party*>(first)->carried.emplace(std::move(*by.carried));
    by.carried.reset();
    first->notify(*first);
    return true;
  }
  if (m_buffer.size() < m_capacity) {
    m_buffer.push_back(std::move(*by.carried));
    by.carried.reset();
    return true;
  }
  m_senders.push(by);
  return false;
}

template <class value>
bool channel<value>::try_send(value&& given) {
  std::unique_lock guard(m_lock);
  if (m_is_closed) return false;
  if (waiter* const first = m_receivers.pop()) {
    guard.unlock();
    static_cast<party*>(first)->carried.emplace(std::move(given));
    first->notify(*first);
    return true;
  }
  if (m_buffer.size() >= m_capacity) return false;
  m_buffer.push_back(std::move(given));
  return true;
}

template <class value>
bool channel<value>::take(std::optional<value>& into, waiter*& told) {
  if (!m_buffer.empty()) {
    into.emplace(std::move(m_buffer.front()));
    m_buffer.pop_front();
  }
  told = m_senders.pop();
  if (told == nullptr) return into.has_value();
  std::optional<value>& waiting = static_cast<party*>(told)->carried;
  if (into.has_value())
    m_buffer.push_back(std::move(*waiting));
  else
    into.emplace(std::move(*waiting));
  waiting.reset();
  return true;
}

template <class value>
bool channel<value>::start_receive(party& by) {
  std::unique_lock guard(m_lock);
  waiter* told = nullptr;
  if (!take(by.carried, told) && !m_is_closed) {
    m_receivers.push(by);
    return false;
  }
  guard.unlock();
  if (told != nullptr) told->notify(*told);
  return true;
}

template <class value>
std::optional<value> channel<value>::try_receive() {
  std::unique_lock guard(m_lock);
  std::optional<value> taken;
  waiter* told = nullptr;
  take(taken, told);
  guard.unlock();
  if (told != nullptr) told->notify(*told);
  return taken;
}

template <class value>
void channel<value>::close() noexcept {
  m_lock.lock();
  m_is_closed = true;
  waiter* const senders = m_senders.take_all();
  waiter* const receivers = m_receivers.take_all();
  m_lock.unlock();
  waiter::tell_all(senders);
  waiter::tell_all(receivers);
}

}  // namespace trimtab::tasks
