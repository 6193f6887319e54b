#include "trimtab/tasks/coroutines/coroutine_context.hpp"

#include "known_subjects.hpp"
#include "trimtab/tasks/coroutines/coroutine.hpp"
#include "trimtab/tasks/futures/async.hpp"

namespace trimtab::tasks::detail {

namespace {

// The subjects of coroutines, by their code.
std::uint32_t subject_of(const void* code) noexcept {
  static constinit recording::known_subjects<1024> table;
  const auto query = [code] { return recording::subject_of_code(code); };
  return table.find(reinterpret_cast<std::uintptr_t>(code), query, query);
}

coroutine_context& own_context(coroutine_promise& promise, const task_kind* named, std::uint32_t subject) {
  auto& node = make_in_block<coroutine_context>(worker::current(), promise, named, subject);
  promise.kind_of_work = &node;
  promise.flags |= promise.owns_context;
  return node;
}

}  // namespace

void coroutine_context::enters(worker& this_worker) noexcept {
  describe(this_worker.running());
  if (m_subject == 0) return;
  if (!m_has_begun) {
    m_has_begun = true;
    if (m_id != 0) return recording::task_begin(m_subject, m_id);
    m_is_timed = this_worker.tally().ran(m_subject);
  } else if (m_is_suspended) {
    m_is_suspended = false;
    recording::task_resumed(m_subject, m_id, recording::cause::unknown, base::now() - m_phase_begin);
  } else {
    return;
  }
  if (!m_is_timed) return;
  m_timed_at = &this_worker;
  m_foreign_runs = this_worker.tally().total();
  m_suspensions = this_worker.counters().suspended.get();
  m_phase_begin = base::now();
}

void coroutine_context::leaves(worker& this_worker, recording::cause reason, std::uint64_t awaited) noexcept {
  if (m_subject == 0 || m_is_suspended) return;
  m_is_suspended = true;
  const base::ticks current_time = base::now();
  if (m_timed_at == &this_worker) {
    m_active += current_time - m_phase_begin;
    m_is_inclusive |= this_worker.tally().total() != m_foreign_runs;
  } else {
    m_is_timed = false;
  }
  m_timed_at = nullptr;
  m_phase_begin = current_time;
  this_worker.tally().suspended(m_subject);
  recording::task_suspended(m_subject, m_id, reason, awaited);
}

void coroutine_context::ends() noexcept {
  if (m_id != 0) return recording::task_end(m_subject, m_id);
  worker* const this_worker = worker::current();
  // Not if another task has waited inside.
  if (m_timed_at == nullptr || m_timed_at != this_worker || this_worker->counters().suspended.get() != m_suspensions) return;
  this_worker->tally().took(m_subject, m_active + (base::now() - m_phase_begin),
                            m_is_inclusive || this_worker->tally().total() != m_foreign_runs);
}

void give_context(coroutine_promise& child, worker& this_worker, const void* code) {
  coroutine_context* const forker = coroutine_context::running(this_worker);
  if (!recording::is_enabled()) {
    child.kind_of_work = forker;
    return;
  }
  const std::uint32_t subject = subject_of(code);
  coroutine_context& context = own_context(child, forker, subject);
  context.stops_with(forker);
  if (subject != 0) context.record_created(this_worker.tally());
}

void give_context(coroutine_promise& child, const task_options& options, std::stop_token stop, const void* code) {
  const bool is_recorded = recording::is_enabled();
  if (!is_recorded && options.name == nullptr && !stop.stop_possible()) return;
  const std::uint32_t subject = !is_recorded              ? 0
                                : options.name != nullptr ? options.name->recorded().subject()
                                                          : subject_of(code);
  coroutine_context& context = own_context(child, options.name != nullptr ? &options.name->kind() : nullptr, subject);
  if (stop.stop_possible()) context.stops_with(std::move(stop));
  worker* const this_worker = worker::current();
  if (subject != 0) context.record_created(this_worker != nullptr ? this_worker->tally() : recording::tally_of_thread());
}

void coroutine_promise::drop_context() noexcept {
  destroy_in_block(worker::current(), const_cast<coroutine_context&>(static_cast<const coroutine_context&>(*kind_of_work)));
}

void coroutine_promise::tell_end() noexcept {
  if (coroutine_context* const context = own_context()) context->ends();
}

coroutine_context* coroutine_promise::own_context() const noexcept {
  coroutine_context* const context = coroutine_context::cast(kind_of_work);
  return context != nullptr && context->belongs_to(*this) ? context : nullptr;
}

bool coroutine_promise::about_to_run() noexcept {
  worker& this_worker = *worker::current();
  this_worker.running() = {kind_of_work, 0, 0, number};
  coroutine_context* const context = coroutine_context::cast(kind_of_work);
  if (context == nullptr) return true;
  const bool is_first = context->belongs_to(*this) && context->starts();
  context->enters(this_worker);
  return !is_first || context->stop() == nullptr || !context->stop()->stop_requested() || !is_spawned();
}

void coroutine_promise::begin_on_top(worker& this_worker) noexcept {
  if (coroutine_context* const context = own_context()) context->enters(this_worker);
}

void coroutine_promise::return_to_caller(running_task& running, const task_kind* kind) noexcept {
  running = {kind, 0, 0, running.number, running.stop_token};
  if (coroutine_context* const context = coroutine_context::cast(kind)) context->describe(running);
}

bool coroutine_promise::begins_elsewhere() noexcept {
  worker* const this_worker = worker::current();
  if (this_worker == nullptr) return false;
  if (kind_of_work == nullptr) kind_of_work = this_worker->running().kind_of_work;
  number = this_worker->running().number;
  coroutine_context* const context = own_context();
  if (context == nullptr) return false;
  if (coroutine_context* const parent = coroutine_context::running(*this_worker)) parent->waits_for(*this_worker, *context);
  this_worker->push(*this);
  return true;
}

void coroutine_promise::parent_leaves() noexcept {
  worker* const this_worker = worker::current();
  if (this_worker == nullptr) return;
  number_of_parent = this_worker->running().number;
  coroutine_context* const context = own_context();
  if (context == nullptr) return;
  if (coroutine_context* const parent = coroutine_context::running(*this_worker)) parent->waits_for(*this_worker, *context);
}

void coroutine_promise::parent_is_back() noexcept {
  worker* const this_worker = worker::current();
  if (this_worker == nullptr) return;
  if ((flags & awaited_in_vain) != 0) {
    this_worker->counters().resumed.add();
    this_worker->running().number = number_of_parent;
  }
  if (coroutine_context* const context = own_context()) context->resume_waiting(*this_worker);
}

void coroutine_leaves(task& promise, recording::cause reason) noexcept {
  worker* const this_worker = worker::current();
  if (this_worker == nullptr) return;
  static_cast<coroutine_promise&>(promise).number = this_worker->running().number;
  if (coroutine_context* const context = coroutine_context::cast(promise.kind_of_work))
    context->leaves(*this_worker, reason);
}

void coroutine_stays(task& promise) noexcept {
  worker* const this_worker = worker::current();
  if (this_worker == nullptr) return;
  if (coroutine_context* const context = coroutine_context::cast(promise.kind_of_work)) context->enters(*this_worker);
}

void coroutine_is_told(const task& promise, recording::cause reason) noexcept {
  const coroutine_context* const context = coroutine_context::cast(promise.kind_of_work);
  worker* const this_worker = worker::current();
  if (context != nullptr && context->id() != 0)
    recording::edge(this_worker != nullptr ? this_worker->running().id : 0, context->id(), reason);
}

std::exception_ptr stopped_error() noexcept { return std::make_exception_ptr(stopped()); }

}  // namespace trimtab::tasks::detail
