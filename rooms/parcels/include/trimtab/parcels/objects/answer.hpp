// What an object owes to who has called it: a value or an exception, now or later, exactly once. Movable; any thread.
//
// The receive loop must not wait for room in an outbox: two localities that did would wait for each other. So an answer that
// is given there is sent by a task.
#pragma once

#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include "trimtab/parcels/calls/dispatcher.hpp"
#include "trimtab/parcels/objects/object_table.hpp"
#include "trimtab/parcels/objects/queue_task.hpp"
#include "trimtab/tasks/futures/future.hpp"

namespace trimtab::parcels {

namespace detail {

// Where an answer goes: to a call of another locality.
struct answer_address {
  dispatcher* sender = nullptr;
  locality_number to = 0;
  std::uint64_t call = 0;

  template <class value>
  void send(value&& given) const noexcept {
    try {
      sender->reply(to, call, [&](writer& into) {
        if constexpr (!std::is_same_v<std::decay_t<value>, std::monostate>) into(std::forward<value>(given));
      });
    } catch (...) {
      send_error(std::current_exception());
    }
  }
  void send_error(const std::exception_ptr& error) const noexcept { sender->reply_error(to, call, error); }
};

std::exception_ptr unanswered_error();

}  // namespace detail

template <class value>
class answer {
 public:
  // To a call of another locality, or to a post, whose failure is reported.
  answer(object_table& table, const arrival& parcel) noexcept
      : m_table(&table),
        m_caller(parcel.from),
        m_way(parcel.has_call ? way::parcel : way::none),
        m_address{&parcel.receiver, parcel.from, parcel.call} {}
  // To a call of this locality.
  answer(object_table& table, tasks::promise<value>&& waiting) noexcept
      : m_table(&table), m_caller(table.number()), m_way(way::promise), m_promise(std::move(waiting)) {}
  // To a post of this locality.
  explicit answer(object_table& table) noexcept : m_table(&table), m_caller(table.number()), m_way(way::none) {}
  answer(answer&& other) noexcept
      : m_table(std::exchange(other.m_table, nullptr)),
        m_caller(other.m_caller),
        m_way(other.m_way),
        m_address(other.m_address),
        m_promise(std::move(other.m_promise)) {}
  answer& operator=(answer&&) = delete;
  // An object that goes without an answer: the caller gets no_such_object.
  ~answer() {
    if (m_table != nullptr && m_way != way::none) fail(detail::unanswered_error());
  }

  locality_number caller() const noexcept { return m_caller; }

  template <class... given>
    requires(sizeof...(given) == (std::is_void_v<value> ? 0 : 1))
  void give(given&&... result) noexcept {
    object_table* const table = std::exchange(m_table, nullptr);
    if (table == nullptr || m_way == way::none) return;
    if (m_way == way::promise)
      m_promise->set_value(std::forward<given>(result)...);
    else
      send(*table, std::conditional_t<std::is_void_v<value>, std::monostate, value>{std::forward<given>(result)...});
  }
  // Calls call(), and fails with what it throws. After the handler: the exception then belongs to one thread at a time. (Its
  // references are counted within the C++ library, where the thread sanitizer sees nothing.)
  template <class function>
  void attempt(function&& call) noexcept {
    std::exception_ptr error;
    try {
      call();
    } catch (...) {
      error = std::current_exception();
    }
    if (error) fail(std::move(error));
  }
  void fail(std::exception_ptr error) noexcept {
    object_table* const table = std::exchange(m_table, nullptr);
    if (table == nullptr) return;
    if (m_way == way::none)
      table->note_failed_post(m_caller, error);
    else if (m_way == way::promise)
      m_promise->set_exception(std::move(error));
    else if (object_table::of_receive_loop() == nullptr)
      m_address.send_error(std::move(error));
    else
      detail::queue_task(table->home(),
                         [address = m_address, error = std::move(error)]() noexcept { address.send_error(error); });
  }

 private:
  enum class way : std::uint8_t { none, promise, parcel };

  template <class given>
  void send(object_table& table, given&& result) noexcept {
    if (object_table::of_receive_loop() == nullptr) return m_address.send(std::forward<given>(result));
    detail::queue_task(table.home(), [address = m_address, result = std::forward<given>(result)]() mutable noexcept {
      address.send(std::move(result));
    });
  }

  object_table* m_table;  // nullptr: it was given, or moved
  locality_number m_caller;
  way m_way;
  detail::answer_address m_address;
  std::optional<tasks::promise<value>> m_promise;
};

}  // namespace trimtab::parcels
