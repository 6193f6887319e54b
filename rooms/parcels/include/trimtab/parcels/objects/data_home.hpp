// The object behind a block of data: it knows whether the value is set and where it is, and admits fetches and moves one
// after the other. What it needs of other localities is done by locality_object::read_data and pull_data.
//
// The protocol. All requests go to the home, which never moves, and are queued there in the order of their arrival.
//
//   fetch   home at once: the value, if the home has it; else the number of its owner, which may not change from now on.
//           The fetching locality asks the owner (read_data) and then tells the home that it has finished (end_fetch).
//   move    home, when no fetch is under way: asks the new owner to pull. The new owner asks the old one (read_data), keeps
//   the
//           value, and answers. Then the home notes the new owner, drops the value at the old one, and answers.
//
// No request is lost or answered twice:
// - Each request is one call. Its answer is an object that is given once (answer.hpp). It is in exactly one place: in the
//   queue, or in the hands of whoever took it out under the lock.
// - An old owner is never asked. An owner changes only while no fetch is under way (m_fetches), and fetches that come
// meanwhile
//   wait behind the move. So there is no chain of old owners to follow, and no request follows a value that moves on and on.
// - The value is immutable and is dropped at its old owner only after the new one has it. A move that fails changes nothing.
// - Nothing waits for a locality that is lost. The calls to it fail. The home takes its fetches out of the count and its
//   requests out of the queue. If it was the owner, and no move has already saved the value, everything fails with
//   locality_lost from then on. If the home is lost, the calls to the home fail.
// - A fetch that waits behind a move, and a move that waits for fetches, wait for calls that end or fail.
#pragma once

#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "trimtab/base/spin_lock.hpp"
#include "trimtab/parcels/archive/exceptions.hpp"
#include "trimtab/parcels/objects/answer.hpp"
#include "trimtab/parcels/objects/locality_object.hpp"
#include "trimtab/parcels/objects/object_call.hpp"

namespace trimtab::parcels::detail {

// An exception as an argument.
struct sent_exception {
  std::exception_ptr error;
  template <class archive>
  void serialize(archive& ar) {
    if constexpr (archive::writes)
      write_exception(ar, error);
    else
      error = read_exception(ar);
  }
};

// Everything but the type of the value. Each function with an answer may be called by any thread.
class data_home : public global_object, public std::enable_shared_from_this<data_home> {
 public:
  explicit data_home(object_table& table) noexcept : m_table(table), m_owner(table.number()) {}
  // Before requests can come.
  void set_id(const global_id& id) noexcept { m_id = id; }

  // Answered when the value or an exception is there.
  void wait_until_ready(answer<void>& reply);
  void move(answer<void>& reply, locality_number to);
  void end_fetch(answer<void>& reply);
  void set_exception(answer<void>& reply, const sent_exception& error);
  void on_removed() noexcept override;
  void on_gone(locality_number which, const std::exception_ptr& error) noexcept override;

 protected:
  struct outcome {
    locality_number owner;
    std::shared_ptr<const void> data;  // if this locality is the owner
    std::exception_ptr error;          // why the request fails; nullptr: it does not
  };
  struct request {
    locality_number caller;
    std::optional<locality_number> target;  // of a move
    std::function<void(const outcome&)> finish;
  };
  void add(request&& next);
  // data: nullptr if there is an exception in its place. Throws std::future_error if there is one of both already.
  void settle(std::shared_ptr<const void> data, const std::exception_ptr& error);
  // Asks `to` to pull the value from `owner`.
  virtual tasks::future<void> start_pull(locality_number to, locality_number owner) = 0;

  object_table& m_table;
  global_id m_id;

 private:
  struct steps {
    std::vector<std::pair<request, outcome>> finished;
    std::optional<locality_number> pull_to;
    locality_number pull_from = 0;
  };
  // Takes out of the queue what can be done now, and does it.
  void advance();
  // Under the lock. False: the first request has to wait.
  bool admit_first(steps& next);
  void pull(locality_number to, locality_number owner);
  void end_move(locality_number to, const std::exception_ptr& error) noexcept;
  void drop_at(locality_number owner) noexcept;

  base::spin_lock m_lock;  // of what follows
  bool m_is_set = false, m_is_removed = false;
  locality_number m_owner;
  std::exception_ptr m_error;  // there is no value, or no longer
  std::vector<answer<void>> m_waiting;
  std::deque<request> m_queue;
  std::optional<request> m_move;                       // under way
  std::map<locality_number, std::uint64_t> m_fetches;  // under way at another owner, by the fetching locality
};

// What a fetch gets from the home.
template <class value>
struct fetched {
  locality_number owner = 0;
  std::optional<value> content;  // if the home is the owner
  template <class archive>
  void serialize(archive& ar) {
    ar(owner, content);
  }
};

template <class value>
class data_object final : public data_home {
 public:
  using data_home::data_home;

  void set_value(answer<void>& reply, value content) {
    settle(std::make_shared<const value>(std::move(content)), nullptr);
    reply.give();
  }
  void begin_fetch(answer<fetched<value>>& reply) {
    const locality_number caller = reply.caller();
    const auto shared = std::make_shared<answer<fetched<value>>>(std::move(reply));
    add({caller, {}, [shared, &home = m_table.home()](const outcome& result) {
           // The copy may be long: not in the receive loop.
           if (result.data == nullptr || object_table::of_receive_loop() == nullptr) return finish_fetch(*shared, result);
           queue_task(home, [shared, result]() noexcept { finish_fetch(*shared, result); });
         }});
  }

 private:
  static void finish_fetch(answer<fetched<value>>& reply, const outcome& result) noexcept {
    if (result.error) return reply.fail(result.error);
    reply.attempt([&] {
      fetched<value> content{result.owner, {}};
      if (result.data != nullptr) content.content.emplace(*static_cast<const value*>(result.data.get()));
      reply.give(std::move(content));
    });
  }
  tasks::future<void> start_pull(locality_number to, locality_number owner) override {
    return object_call<&locality_object::pull_data<value>>::call(m_table, object_table::own_object_of(to), m_id, owner);
  }
};

}  // namespace trimtab::parcels::detail

namespace trimtab::parcels {

template <class value>
void locality_object::read_data(answer<value>& reply, const global_id& id) {
  std::shared_ptr<const void> data = m_table.kept(id);
  if (data == nullptr) throw no_such_object("trimtab: the data of " + to_string(id) + " was destroyed while it was fetched");
  // The copy may be long: not in the receive loop.
  detail::queue_task(m_table.home(), [reply = std::move(reply), data = std::move(data)]() mutable noexcept {
    reply.attempt([&] {
      value copy(*static_cast<const value*>(data.get()));
      reply.give(std::move(copy));
    });
  });
}

template <class value>
void locality_object::pull_data(answer<void>& reply, const global_id& id, locality_number owner) {
  detail::queue_task(m_table.home(), [this, reply = std::move(reply), id, owner]() mutable noexcept {
    reply.attempt([&] {
      auto data =
          object_call<&locality_object::read_data<value>>::call(m_table, object_table::own_object_of(owner), id).get();
      m_table.keep(id, std::make_shared<const value>(std::move(data)));
      reply.give();
    });
  });
}

}  // namespace trimtab::parcels
