// What the localities of a job search together: carries orders and reports between the search, which locality 0 has, and the
// members. Internal parcels, which do not count as work of the program.
//
// Messages arrive on the thread that receives, which must not wait: orders go into an inbox, and are carried out by the
// thread that reports a measurement. The search is called under m_lock; nothing is sent under it.
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trimtab/parcels/transport/transport.hpp"
#include "trimtab/runtime/program_record.hpp"
#include "trimtab/steer/shared_search.hpp"
#include "trimtab/steer/shared_search_member.hpp"

namespace trimtab::parcels {

class dispatcher;

// Which one of the members that a locality has had under this name.
using member_token = std::uint64_t;

// One locality's part in one search.
class shared_tuning_member {
 public:
  shared_tuning_member(std::string name, std::vector<steer::knob> knobs, steer::shared_search_member::apply_values apply,
                       const steer::shared_search_options& options);

  const std::string name;
  const std::vector<steer::knob> knobs;
  const steer::shared_search_options options;
  const member_token token;

  // From any thread.
  void put(steer::shared_order order);
  // Of the program's thread.
  std::optional<steer::shared_report> sample(double value);
  std::optional<steer::shared_report> go_on();
  void finish() { m_member.finish(); }
  const steer::shared_search_member& member() const noexcept { return m_member; }
  // For longer than that it has had no order.
  bool is_idle(std::chrono::steady_clock::time_point now, std::chrono::milliseconds than);

 private:
  void take();
  task_steering::program_record m_record;
  steer::shared_search_member m_member;
  std::chrono::steady_clock::time_point m_last_order;
  const std::chrono::steady_clock::time_point m_began;
  std::mutex m_inbox_lock;
  std::optional<steer::shared_order> m_inbox;  // the newest
};

class shared_tuning {
 public:
  // messages: nullptr in a job of one locality.
  shared_tuning(dispatcher* messages, locality_number own) noexcept : m_messages(messages), m_own(own) {}

  // Throws std::invalid_argument if the name is in use here.
  void add(const std::shared_ptr<shared_tuning_member>& member);
  void remove(const std::shared_ptr<shared_tuning_member>& member);
  void sample(shared_tuning_member& member, double value);
  // At the end of the job: nothing is sent any more.
  void close();

  // From the thread that receives.
  void on_join(locality_number from, const std::string& name, std::uint64_t fingerprint, member_token token);
  void on_leave(locality_number from, const std::string& name, member_token token);
  void on_report(locality_number from, const std::string& name, member_token token, const steer::shared_report& report);
  void on_order(const std::string& name, member_token token, steer::shared_order order);
  void note_gone(locality_number which);

 private:
  struct joined {
    std::uint64_t fingerprint = 0;
    member_token token = 0;
  };
  // On locality 0, for each name that any locality has.
  struct shared_work {
    std::unique_ptr<steer::shared_search> search;  // nullptr: locality 0 has not declared it
    std::uint64_t fingerprint = 0;                 // of locality 0's knobs
    std::uint64_t searches = 0;                    // that locality 0 has begun
    std::map<locality_number, joined> members;
  };
  // Where that locality takes part as that member; nullptr: it does not, or not any more.
  shared_work* work_of(const std::string& name, locality_number member, member_token token);
  struct letter_to {
    locality_number to;
    std::string name;
    member_token token;
    steer::shared_order order;
  };

  double now_s() const;
  void begin(shared_work& work, const shared_tuning_member& own);
  void advance(const std::string& name, shared_work& work, std::vector<letter_to>& out);
  void send(std::vector<letter_to> orders);
  void deliver(const shared_tuning_member& member, const steer::shared_report& report);

  dispatcher* const m_messages;
  const locality_number m_own;
  const std::chrono::steady_clock::time_point m_began = std::chrono::steady_clock::now();
  std::atomic<bool> m_is_closed{false};
  std::mutex m_lock;  // of the following
  std::map<std::string, std::shared_ptr<shared_tuning_member>> m_own_members;
  std::map<std::string, shared_work> m_works;
};

}  // namespace trimtab::parcels
