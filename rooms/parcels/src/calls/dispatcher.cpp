#include "trimtab/parcels/calls/dispatcher.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <mutex>
#include <utility>

#include "steering/shared_tuning.hpp"
#include "trimtab/parcels/archive/exceptions.hpp"
#include "trimtab/parcels/calls/locality_lost.hpp"
#include "trimtab/parcels/objects/object_table.hpp"
#include "trimtab/tasks/core/recording.hpp"
#include "trimtab/tasks/core/worker.hpp"
#include "view/load_gossip.hpp"

namespace trimtab::parcels {

namespace {

thread_local std::unique_ptr<packed_arguments> spare_arguments;
thread_local std::uint32_t packed_parcels = 0;
constexpr std::uint32_t timed_one_in = 16;

awaited_result& take_result(const arrival& parcel) {
  awaited_result* const result = parcel.receiver.calls().take(parcel.call, parcel.from);
  if (result == nullptr) throw malformed_message("a result or an error for a call that this locality does not wait for");
  return *result;
}

void receive_result(const arrival& parcel) {
  awaited_result& result = take_result(parcel);
  reader bytes(parcel.arguments);
  result.set_result(bytes);
}

void receive_error(const arrival& parcel) {
  awaited_result& result = take_result(parcel);
  std::exception_ptr error;
  try {
    reader bytes(parcel.arguments);
    error = read_exception(bytes);
  } catch (...) {
    error = std::current_exception();
  }
  result.fail(error);
}

constexpr parcel_kind result_kind{.signature = 1, .receive = receive_result, .is_internal = true, .label = "result"};
constexpr parcel_kind error_kind{.signature = 2, .receive = receive_error, .is_internal = true, .label = "exception"};

std::uint64_t take_number(bytes_view& content) {
  std::uint64_t number = 0;
  if (content.size() < sizeof number) throw malformed_message("a parcel is too short for its call's number");
  std::memcpy(&number, content.data(), sizeof number);
  content = content.subspan(sizeof number);
  return number;
}

// The number in the trace of an answer or a letter: of the running task, or of a thread that sends it outside of tasks.
[[gnu::noinline]] std::uint64_t traced_by_sender(locality_number to, const action& what) noexcept {
  const tasks::worker* const this_worker = tasks::worker::current();
  const std::uint32_t running = this_worker != nullptr ? this_worker->running_subject() : 0;
  return tasks::recording::parcel_sent(running != 0 ? running : tasks::recording::subject_of_name(what.name), to);
}

std::exception_ptr lost_error(locality_number which, std::string_view reason) {
  const std::string text = reason.empty() ? "has left the job" : "was lost: " + std::string(reason);
  return std::make_exception_ptr(locality_lost(which, "trimtab: locality " + std::to_string(which) + " " + text));
}

}  // namespace

dispatcher::dispatcher(tasks::runtime& home, std::function<void(locality_number, std::string_view)> gone)
    : m_home(home), m_gone(std::move(gone)) {}

void dispatcher::connect(std::shared_ptr<exchange> traffic) {
  m_traffic = std::move(traffic);
  m_known.resize(size());
  m_is_gone = std::vector<std::atomic<bool>>(size());
}

const action& dispatcher::result_action() {
  static const action& result = action_registry::of_process().find_or_add(result_kind, nullptr);
  return result;
}

[[gnu::noinline]] std::unique_ptr<packed_arguments> dispatcher::take_scratch() {
  std::unique_ptr<packed_arguments> packed = std::move(spare_arguments);
  if (packed == nullptr) packed = std::make_unique<packed_arguments>();
  packed->bytes.clear();
  packed->into.restart();
  packed->begin = packed_parcels++ % timed_one_in == 0 ? base::now() : 0;
  return packed;
}

[[gnu::noinline]] void dispatcher::put_back(std::unique_ptr<packed_arguments> packed) noexcept {
  spare_arguments = std::move(packed);
}

void dispatcher::note_packed(base::ticks begin) noexcept {
  m_packed_ticks.fetch_add(base::now() - begin, std::memory_order_relaxed);
  m_packed_timed.fetch_add(1, std::memory_order_relaxed);
}

void dispatcher::send_now(locality_number to, outgoing& parcel, std::unique_ptr<packed_arguments> packed) {
  if (parcel.trace == 0 && tasks::recording::traces()) [[unlikely]]
    parcel.trace = traced_by_sender(to, parcel.what);
  const std::size_t bytes = packed->into.size();
  if (packed->begin != 0) [[unlikely]]
    note_packed(packed->begin);
  if (bytes > m_traffic->longest_queued()) {
    long_arguments arguments{packed->into.parts(), nullptr};
    arguments.owner = std::shared_ptr<const packed_arguments>(std::move(packed));
    return m_traffic->send_long(to, parcel, std::move(arguments));
  }
  std::vector<std::byte> gathered;
  parcel.arguments = packed->bytes.view();
  if (parcel.arguments.size() != bytes) {
    for (const bytes_view part : packed->into.parts()) gathered.insert(gathered.end(), part.begin(), part.end());
    parcel.arguments = gathered;
  }
  m_traffic->send(to, parcel);
  put_back(std::move(packed));
  if (m_gossip != nullptr) m_gossip->on_parcel_sent(to);
}

bool dispatcher::try_send_packed(locality_number to, outgoing& parcel, std::unique_ptr<packed_arguments> packed) {
  parcel.arguments = packed->bytes.view();
  const bool is_short = parcel.arguments.size() == packed->into.size() && packed->into.size() <= m_traffic->longest_queued();
  const bool is_sent = is_short && !is_gone(to) && m_traffic->try_send(to, parcel);
  put_back(std::move(packed));
  return is_sent;
}

void dispatcher::send_packed(locality_number to, outgoing& parcel, std::unique_ptr<packed_arguments> packed,
                             bool awaits_result) {
  try {
    send_now(to, parcel, std::move(packed));
  } catch (...) {
    // It has not been sent, so its result will not come; unless the locality has just gone, which has failed the call.
    if (!awaits_result || m_calls.take(parcel.call, to) != nullptr) throw;
  }
  // Pairs with on_gone: either it finds the call, or this finds that the locality has gone.
  if (!awaits_result || !m_is_gone[to].load(std::memory_order_seq_cst)) return;
  if (awaited_result* const result = m_calls.take(parcel.call, to)) result->fail(lost_error(to, {}));
}

void dispatcher::reply_error(locality_number to, std::uint64_t call, const std::exception_ptr& error) noexcept {
  try {
    static const action& sends_error = action_registry::of_process().find_or_add(error_kind, nullptr);
    std::unique_ptr<packed_arguments> packed = take_scratch();
    write_exception(packed->into, error);
    outgoing parcel{sends_error};
    parcel.has_call = true;
    parcel.call = call;
    send_packed(to, parcel, std::move(packed), false);
  } catch (...) {
    // The caller would wait for ever. This may be the thread that receives, so nothing can be waited for here; that this
    // process has ended is what the others notice.
    std::fprintf(stderr, "trimtab: locality %u has no memory to tell locality %u of an error, and ends\n", number(), to);
    std::fflush(stderr);
    _exit(1);
  }
}

std::uint64_t dispatcher::sent() const {
  std::uint64_t sum = 0;
  for (locality_number other = 0; other < size(); ++other)
    if (other != number()) sum += std::as_const(*m_traffic).to(other).program_parcels();
  return sum;
}

std::uint64_t dispatcher::handled() const {
  std::uint64_t sum = 0;
  for (const auto* const thread : m_traffic->threads()) sum += thread->counts.handled.get();
  return sum;
}

void dispatcher::define(locality_number from, bytes_view content) {
  action_definition definition;
  if (content.size() != sizeof definition) throw malformed_message("the definition of an action has the wrong length");
  std::memcpy(&definition, content.data(), sizeof definition);
  if (definition.number == 0 || definition.number > action_registry::most_actions)
    throw malformed_message("the definition of an action has a number out of range");
  auto& known = m_known[from];
  if (known.size() <= definition.number) known.resize(definition.number + 1);
  known_action& defined = known[definition.number];
  const auto* const kind = static_cast<const parcel_kind*>(local_address(definition.kind));
  defined.function = definition.function == function_address{} ? nullptr : local_address(definition.function);
  const bool is_function_known = defined.function != nullptr || definition.function == function_address{};
  if (kind == nullptr || !is_function_known)
    defined.error = "its library is not loaded there, or the localities run different programs";
  else if (kind->mark != parcel_kind::right_mark || kind->signature != definition.signature)
    defined.error = "its arguments have other types there: the localities run different builds of the program";
  else
    defined.kind = kind;
  if (defined.kind != nullptr && defined.flow == nullptr) defined.flow = add_arrival_flow(from, defined);
}

arrival_flow* dispatcher::add_arrival_flow(locality_number from, const known_action& defined) {
  auto flow = std::make_unique<arrival_flow>();
  flow->from = from;
  flow->kind = defined.kind;
  flow->function = defined.function;
  const std::lock_guard guard(m_arrivals_lock);
  return m_arrivals.emplace_back(std::move(flow)).get();
}

std::vector<const arrival_flow*> dispatcher::arrivals() const {
  const std::lock_guard guard(m_arrivals_lock);
  std::vector<const arrival_flow*> flows;
  flows.reserve(m_arrivals.size());
  for (const auto& flow : m_arrivals) flows.push_back(flow.get());
  return flows;
}

const dispatcher::known_action& dispatcher::action_of(locality_number from, std::uint32_t number) const {
  const auto& known = m_known[from];
  if (number >= known.size() || (known[number].kind == nullptr && known[number].error.empty()))
    throw malformed_message("a parcel has an action that was not defined");
  return known[number];
}

void dispatcher::on_parcel(locality_number from, const parcel_header& header, bytes_view content) noexcept {
  const receive_scope scope(m_objects.get());
  const bool has_call = (header.action & parcel_header::has_call) != 0;
  const std::uint32_t number = header.action & ~(parcel_header::has_call | parcel_header::has_trace);
  std::uint64_t call = 0, trace = 0;
  const parcel_kind* kind = nullptr;
  try {
    if (number == definition_action) return define(from, content);
    if (has_call) call = take_number(content);
    if ((header.action & parcel_header::has_trace) != 0) [[unlikely]]
      trace = take_number(content);
    const known_action& known = action_of(from, number);
    if (known.kind == nullptr)
      throw std::runtime_error("trimtab: locality " + std::to_string(this->number()) +
                               " cannot call the action: " + known.error);
    kind = known.kind;
    known.flow->note(content.size());
    const tasks::recording::handled_parcel handled(from, trace);
    kind->receive({*this, from, has_call, call, content, known.function, trace});
  } catch (...) {
    if (kind == nullptr || !kind->is_internal) m_traffic->note_handled();
    refuse(from, has_call && (kind == nullptr || !kind->is_internal), call, std::current_exception());
  }
}

void dispatcher::refuse(locality_number from, bool has_call, std::uint64_t call, const std::exception_ptr& error) noexcept {
  m_refused.fetch_add(1, std::memory_order_relaxed);
  if (has_call) return reply_error(from, call, error);
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& thrown) {
    std::fprintf(stderr, "trimtab: locality %u: a parcel from locality %u could not be handled: %s\n", number(), from,
                 thrown.what());
  } catch (...) {
    std::fprintf(stderr, "trimtab: locality %u: a parcel from locality %u could not be handled\n", number(), from);
  }
}

void dispatcher::fail_what_awaits(locality_number other, const std::exception_ptr& error) {
  for (awaited_result* const result : m_calls.take_all(other)) result->fail(error);
  m_mail.fail(other, error);
}

void dispatcher::fail_all(const char* reason) {
  for (locality_number other = 0; other < size(); ++other) {
    m_is_gone[other].store(true, std::memory_order_seq_cst);
    fail_what_awaits(other, lost_error(other, reason));
  }
}

void dispatcher::on_gone(locality_number from, std::string_view reason) noexcept {
  m_is_gone[from].store(true, std::memory_order_seq_cst);
  const std::exception_ptr error = lost_error(from, reason);
  // Who learns of the loss by a call finds that objects know of it, and is not sent there again.
  if (m_gossip != nullptr) m_gossip->set_gone(from);
  if (m_objects != nullptr) m_objects->note_gone(from, error);
  if (m_tuning != nullptr) m_tuning->note_gone(from);
  // First who may end this process: what waits would end it by an exception, without saying which locality was lost.
  m_gone(from, reason);
  fail_what_awaits(from, error);
}

}  // namespace trimtab::parcels
