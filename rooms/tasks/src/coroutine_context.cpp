#include "trimtab/tasks/coroutines/coroutine_context.hpp"

#include "known_subjects.hpp"
#include "trimtab/tasks/futures/async.hpp"
#include "trimtab/tasks/coroutines/coroutine.hpp"

namespace trimtab::tasks::detail {

namespace {

// The subjects of coroutines, by their code.
std::uint32_t subject_of(const void* code) noexcept {
  static constinit recording::known_subjects<1024> table;
  const auto ask = [code] { return recording::subject_of_code(code); };
  return table.find(reinterpret_cast<std::uintptr_t>(code), ask, ask);
}

coroutine_context& own_context(coroutine_promise& of, const task_kind* named, std::uint32_t subject) {
  auto& made = make_in_block<coroutine_context>(worker::current(), of, named, subject);
  of.kind_of_work = &made;
  of.flags |= of.owns_context;
  return made;
}

}  // namespace

void coroutine_context::enters(worker& here) noexcept {
  describe(here.running());
  if (m_subject == 0) return;
  if (!m_has_begun) {
    m_has_begun = true;
    if (m_id != 0) return recording::task_begin(m_subject, m_id);
    m_is_timed = here.tally().ran(m_subject);
  } else if (m_is_away) {
    m_is_away = false;
    recording::task_resumed(m_subject, m_id, recording::cause::other, base::now() - m_since);
  } else {
    return;
  }
  if (!m_is_timed) return;
  m_timed_at = &here;
  m_others = here.tally().total();
  m_suspensions = here.counters().suspended.get();
  m_since = base::now();
}

void coroutine_context::leaves(worker& here, recording::cause why, std::uint64_t awaited) noexcept {
  if (m_subject == 0 || m_is_away) return;
  m_is_away = true;
  const base::ticks now = base::now();
  if (m_timed_at == &here) {
    m_active += now - m_since;
    m_is_inclusive |= here.tally().total() != m_others;
  } else {
    m_is_timed = false;
  }
  m_timed_at = nullptr;
  m_since = now;
  here.tally().suspended(m_subject);
  recording::task_suspended(m_subject, m_id, why, awaited);
}

void coroutine_context::ends() noexcept {
  if (m_id != 0) return recording::task_end(m_subject, m_id);
  worker* const here = worker::current();
  // Not if another task has waited inside.
  if (m_timed_at == nullptr || m_timed_at != here || here->counters().suspended.get() != m_suspensions) return;
  here->tally().took(m_subject, m_active + (base::now() - m_since), m_is_inclusive || here->tally().total() != m_others);
}

void give_context(coroutine_promise& child, worker& here, const void* code) {
  coroutine_context* const forker = coroutine_context::running(here);
  if (!recording::is_on()) {
    child.kind_of_work = forker;
    return;
  }
  const std::uint32_t subject = subject_of(code);
  coroutine_context& own = own_context(child, forker, subject);
  own.stops_with(forker);
  if (subject != 0) own.made(here.tally());
}

void give_context(coroutine_promise& child, const task_options& options, std::stop_token stop, const void* code) {
  const bool is_recorded = recording::is_on();
  if (!is_recorded && options.what == nullptr && !stop.stop_possible()) return;
  const std::uint32_t subject = !is_recorded              ? 0
                                : options.what != nullptr ? options.what->recorded().subject()
                                                          : subject_of(code);
  coroutine_context& own = own_context(child, options.what != nullptr ? &options.what->kind() : nullptr, subject);
  if (stop.stop_possible()) own.stops_with(std::move(stop));
  worker* const here = worker::current();
  if (subject != 0) own.made(here != nullptr ? here->tally() : recording::tally_of_thread());
}

void coroutine_promise::drop_context() noexcept {
  destroy_in_block(worker::current(), const_cast<coroutine_context&>(static_cast<const coroutine_context&>(*kind_of_work)));
}

void coroutine_promise::tell_end() noexcept {
  if (coroutine_context* const own = own_context()) own->ends();
}

coroutine_context* coroutine_promise::own_context() const noexcept {
  coroutine_context* const found = coroutine_context::of(kind_of_work);
  return found != nullptr && found->belongs_to(*this) ? found : nullptr;
}

bool coroutine_promise::about_to_run() noexcept {
  worker& here = *worker::current();
  here.running() = {kind_of_work, 0, 0, number};
  coroutine_context* const context = coroutine_context::of(kind_of_work);
  if (context == nullptr) return true;
  const bool is_first = context->belongs_to(*this) && context->starts();
  context->enters(here);
  return !is_first || context->stop() == nullptr || !context->stop()->stop_requested() || !is_spawned();
}

void coroutine_promise::begin_on_top(worker& here) noexcept {
  if (coroutine_context* const own = own_context()) own->enters(here);
}

void coroutine_promise::back_below(running_task& on, const task_kind* kind) noexcept {
  on = {kind, 0, 0, on.number, on.stop_token};
  if (coroutine_context* const context = coroutine_context::of(kind)) context->describe(on);
}

bool coroutine_promise::begins_elsewhere() noexcept {
  worker* const here = worker::current();
  if (here == nullptr) return false;
  if (kind_of_work == nullptr) kind_of_work = here->running().kind_of_work;
  number = here->running().number;
  coroutine_context* const own = own_context();
  if (own == nullptr) return false;
  if (coroutine_context* const parent = coroutine_context::running(*here)) parent->waits_for(*here, *own);
  here->push(*this);
  return true;
}

void coroutine_promise::parent_leaves() noexcept {
  worker* const here = worker::current();
  if (here == nullptr) return;
  number_of_parent = here->running().number;
  coroutine_context* const own = own_context();
  if (own == nullptr) return;
  if (coroutine_context* const parent = coroutine_context::running(*here)) parent->waits_for(*here, *own);
}

void coroutine_promise::parent_is_back() noexcept {
  worker* const here = worker::current();
  if (here == nullptr) return;
  if ((flags & awaited_in_vain) != 0) {
    here->counters().resumed.add();
    here->running().number = number_of_parent;
  }
  if (coroutine_context* const own = own_context()) own->gives_back(*here);
}

void coroutine_leaves(task& promise, recording::cause why) noexcept {
  worker* const here = worker::current();
  if (here == nullptr) return;
  static_cast<coroutine_promise&>(promise).number = here->running().number;
  if (coroutine_context* const context = coroutine_context::of(promise.kind_of_work)) context->leaves(*here, why);
}

void coroutine_stays(task& promise) noexcept {
  worker* const here = worker::current();
  if (here == nullptr) return;
  if (coroutine_context* const context = coroutine_context::of(promise.kind_of_work)) context->enters(*here);
}

void coroutine_is_told(const task& promise, recording::cause why) noexcept {
  const coroutine_context* const context = coroutine_context::of(promise.kind_of_work);
  worker* const here = worker::current();
  if (context != nullptr && context->id() != 0 && here != nullptr) recording::edge(here->running().id, context->id(), why);
}

std::exception_ptr stopped_error() noexcept { return std::make_exception_ptr(stopped()); }

}  // namespace trimtab::tasks::detail
