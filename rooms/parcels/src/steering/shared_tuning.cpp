#include "steering/shared_tuning.hpp"

#include <stdexcept>

#include "trimtab/base/hash.hpp"
#include "trimtab/parcels/calls/dispatcher.hpp"
#include "trimtab/tasks/core/recording.hpp"

namespace trimtab::parcels {

namespace {

// A member that has had no order for so long asks for one: then the search notices who is late.
constexpr std::chrono::milliseconds longest_idle{200};
constexpr steer::subject_id only_subject = 1;
// Numbers for the orders of one search. Members that stay while locality 0 begins another one see that its orders are newer.
constexpr std::uint64_t orders_of_search = std::uint64_t{1} << 40;

std::atomic<member_token> last_token{0};
std::uint32_t next_shared_engine() noexcept {
  static std::atomic<std::uint32_t> next{task_steering::first_shared_engine};
  return next.fetch_add(1);
}

// Localities that declare other knobs under the same name cannot search together.
std::uint64_t fingerprint_of(const std::vector<steer::knob>& knobs) {
  std::uint64_t mixed = 0;
  const auto add = [&mixed](std::uint64_t number) { mixed = base::mix(mixed ^ base::mix(number)); };
  for (const steer::knob& each : knobs) {
    for (const char letter : each.name) add(static_cast<unsigned char>(letter));
    for (std::size_t i = 0; i < each.values.size(); ++i) add(static_cast<std::uint64_t>(each.values.at(i)));
    add(static_cast<std::uint64_t>(each.initial));
  }
  return mixed;
}

void receive_join(const arrival& parcel) {
  reader bytes(parcel.arguments);
  const auto name = bytes.read<std::string>();
  const auto fingerprint = bytes.read<std::uint64_t>();
  const auto token = bytes.read<member_token>();
  if (shared_tuning* const tuning = parcel.receiver.tuning()) tuning->on_join(parcel.from, name, fingerprint, token);
}
void receive_leave(const arrival& parcel) {
  reader bytes(parcel.arguments);
  const auto name = bytes.read<std::string>();
  const auto token = bytes.read<member_token>();
  if (shared_tuning* const tuning = parcel.receiver.tuning()) tuning->on_leave(parcel.from, name, token);
}
void receive_report(const arrival& parcel) {
  reader bytes(parcel.arguments);
  const auto name = bytes.read<std::string>();
  const auto token = bytes.read<member_token>();
  const auto report = bytes.read<steer::shared_report>();
  if (shared_tuning* const tuning = parcel.receiver.tuning()) tuning->on_report(parcel.from, name, token, report);
}
void receive_order(const arrival& parcel) {
  reader bytes(parcel.arguments);
  const auto name = bytes.read<std::string>();
  const auto token = bytes.read<member_token>();
  auto order = bytes.read<steer::shared_order>();
  if (shared_tuning* const tuning = parcel.receiver.tuning()) tuning->on_order(name, token, std::move(order));
}

constexpr const char* label = "whole-job search";
constexpr parcel_kind join_kind{.signature = 8, .receive = receive_join, .is_internal = true, .label = label};
constexpr parcel_kind leave_kind{.signature = 9, .receive = receive_leave, .is_internal = true, .label = label};
constexpr parcel_kind report_kind{.signature = 10, .receive = receive_report, .is_internal = true, .label = label};
constexpr parcel_kind order_kind{.signature = 11, .receive = receive_order, .is_internal = true, .label = label};

// False: the other one cannot be reached. Then it is lost, which note_gone hears of.
template <class... values>
bool send_parcel(dispatcher& messages, locality_number to, const parcel_kind& kind, const values&... sent) {
  const action& sends = action_registry::of_process().find_or_add(kind, nullptr);
  try {
    messages.send(to, sends, nullptr, [&](writer& into) { into(sent...); });
  } catch (const std::exception&) {
    return false;
  }
  return true;
}

}  // namespace

shared_tuning_member::shared_tuning_member(std::string given_name, std::vector<steer::knob> given_knobs,
                                           steer::shared_search_member::apply_values apply,
                                           const steer::shared_search_options& given_options)
    : name(std::move(given_name)),
      knobs(std::move(given_knobs)),
      options(given_options),
      token(++last_token),
      m_record(name, next_shared_engine(), false),
      m_member(steer::initial_values_of(knobs), std::move(apply),
               [this](steer::decision made) {
                 made.subject = only_subject;
                 made.time_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - m_began).count();
                 m_record.write(made, true);
               }),
      m_last_order(std::chrono::steady_clock::now()),
      m_began(m_last_order) {
  m_record.add({only_subject, name, knobs}, tasks::recording::subject_of(name.c_str(), "", 0), "");
}

void shared_tuning_member::put(steer::shared_order order) {
  const std::lock_guard guard(m_inbox_lock);
  if (!m_inbox || m_inbox->number < order.number) m_inbox = std::move(order);
}

void shared_tuning_member::take() {
  const std::lock_guard guard(m_inbox_lock);
  if (!m_inbox) return;
  m_last_order = std::chrono::steady_clock::now();
  m_member.take(std::move(*m_inbox));
  m_inbox.reset();
}

std::optional<steer::shared_report> shared_tuning_member::sample(double value) {
  take();
  return m_member.sample(value);
}

std::optional<steer::shared_report> shared_tuning_member::go_on() {
  take();
  return m_member.go_on();
}

bool shared_tuning_member::is_idle(std::chrono::steady_clock::time_point now, std::chrono::milliseconds than) {
  if (now - m_last_order < than) return false;
  m_last_order = now;
  return true;
}

double shared_tuning::now_s() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - m_began).count();
}

void shared_tuning::add(const std::shared_ptr<shared_tuning_member>& member) {
  const std::uint64_t fingerprint = fingerprint_of(member->knobs);
  std::vector<letter_to> orders;
  {
    const std::lock_guard guard(m_lock);
    if (!m_own_members.emplace(member->name, member).second)
      throw std::invalid_argument("trimtab: '" + member->name + "' is tuned here already: give each a name of its own");
    if (m_own == 0) {
      shared_work& work = m_works[member->name];
      work.fingerprint = fingerprint;
      work.members[m_own] = {fingerprint, member->token};
      begin(work, *member);
      advance(member->name, work, orders);
    }
  }
  send(std::move(orders));
  if (m_own != 0 && !m_is_closed) send_parcel(*m_messages, 0, join_kind, member->name, fingerprint, member->token);
}

// With those who have come before locality 0.
void shared_tuning::begin(shared_work& work, const shared_tuning_member& own) {
  steer::shared_search_options options = own.options;
  options.first_order = work.searches++ * orders_of_search;
  work.search = std::make_unique<steer::shared_search>(own.knobs, options);
  for (const auto& [number, each] : work.members)
    if (each.fingerprint == work.fingerprint) work.search->join(number, now_s());
}

void shared_tuning::remove(const std::shared_ptr<shared_tuning_member>& member) {
  member->finish();
  {
    const std::lock_guard guard(m_lock);
    m_own_members.erase(member->name);
  }
  if (m_own != 0) {
    if (!m_is_closed) send_parcel(*m_messages, 0, leave_kind, member->name, member->token);
    return;
  }
  std::vector<letter_to> orders;
  {
    const std::lock_guard guard(m_lock);
    // Without locality 0 nothing is searched: the others go back to what is accepted.
    shared_work& work = m_works[member->name];
    work.members.erase(m_own);
    for (const auto& [number, each] : work.members) {
      steer::shared_order last;
      last.number = work.searches * orders_of_search;
      last.purpose = steer::order_purpose::undo;
      last.afterwards = work.search->accepted();
      if (each.fingerprint == work.fingerprint) orders.push_back({number, member->name, each.token, std::move(last)});
    }
    work.search.reset();
  }
  send(std::move(orders));
}

void shared_tuning::sample(shared_tuning_member& member, double value) {
  std::optional<steer::shared_report> report = member.sample(value);
  // An order may be carried out at once: the next one follows.
  constexpr int most_orders = 100;
  for (int i = 0; report && i < most_orders; ++i) {
    deliver(member, *report);
    report = member.go_on();
  }
  if (report) deliver(member, *report);
  if (member.is_idle(std::chrono::steady_clock::now(), longest_idle)) deliver(member, {});
}

void shared_tuning::deliver(const shared_tuning_member& member, const steer::shared_report& report) {
  if (m_own == 0) return on_report(m_own, member.name, member.token, report);
  if (!m_is_closed) send_parcel(*m_messages, 0, report_kind, member.name, member.token, report);
}

void shared_tuning::close() {
  m_is_closed = true;
  const std::lock_guard guard(m_lock);
  m_works.clear();
}

void shared_tuning::on_join(locality_number from, const std::string& name, std::uint64_t fingerprint, member_token token) {
  std::vector<letter_to> orders;
  {
    const std::lock_guard guard(m_lock);
    if (m_own != 0 || m_is_closed) return;
    shared_work& work = m_works[name];
    work.members[from] = {fingerprint, token};
    if (work.search == nullptr || fingerprint != work.fingerprint) return;
    work.search->join(from, now_s());
    advance(name, work, orders);
  }
  send(std::move(orders));
}

shared_tuning::shared_work* shared_tuning::work_of(const std::string& name, locality_number member, member_token token) {
  const auto position = m_works.find(name);
  if (position == m_works.end()) return nullptr;
  const auto known = position->second.members.find(member);
  return known != position->second.members.end() && known->second.token == token ? &position->second : nullptr;
}

void shared_tuning::on_leave(locality_number from, const std::string& name, member_token token) {
  std::vector<letter_to> orders;
  {
    const std::lock_guard guard(m_lock);
    shared_work* const work = work_of(name, from, token);
    if (work == nullptr) return;
    work->members.erase(from);
    if (work->search == nullptr) return;
    work->search->leave(from);
    advance(name, *work, orders);
  }
  send(std::move(orders));
}

void shared_tuning::on_report(locality_number from, const std::string& name, member_token token,
                              const steer::shared_report& report) {
  std::vector<letter_to> orders;
  {
    const std::lock_guard guard(m_lock);
    shared_work* const work = work_of(name, from, token);
    if (work == nullptr || work->search == nullptr) return;
    work->search->report(from, report, now_s());
    advance(name, *work, orders);
  }
  send(std::move(orders));
}

void shared_tuning::on_order(const std::string& name, member_token token, steer::shared_order order) {
  const std::lock_guard guard(m_lock);
  const auto position = m_own_members.find(name);
  if (position != m_own_members.end() && position->second->token == token) position->second->put(std::move(order));
}

void shared_tuning::note_gone(locality_number which) {
  std::vector<letter_to> orders;
  {
    const std::lock_guard guard(m_lock);
    for (auto& [name, work] : m_works) {
      if (work.members.erase(which) == 0 || work.search == nullptr) continue;
      work.search->leave(which);
      advance(name, work, orders);
    }
  }
  send(std::move(orders));
}

void shared_tuning::advance(const std::string& name, shared_work& work, std::vector<letter_to>& out) {
  for (auto& [number, order] : work.search->give_out(now_s())) {
    const auto member = work.members.find(number);
    if (member != work.members.end()) out.push_back({number, name, member->second.token, std::move(order)});
  }
}

void shared_tuning::send(std::vector<letter_to> orders) {
  for (letter_to& each : orders) {
    if (each.to == m_own)
      on_order(each.name, each.token, std::move(each.order));
    else if (!m_is_closed)
      send_parcel(*m_messages, each.to, order_kind, each.name, each.token, each.order);
  }
}

}  // namespace trimtab::parcels
