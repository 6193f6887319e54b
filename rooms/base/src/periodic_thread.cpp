#include "trimtab/base/periodic_thread.hpp"

#include <locale.h>
#include <pthread.h>

#include <cfenv>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <utility>

#include "trimtab/base/background.hpp"
#include "trimtab/base/own_threads.hpp"
#include "trimtab/base/signals_held.hpp"

namespace trimtab::base {

using seconds = std::chrono::duration<double>;

struct periodic_thread::state {
  work does;
  pthread_t thread{};
  std::mutex lock;  // of the following
  std::condition_variable changed;
  bool is_ending = false, is_over = false;

  void run() {
    for (bool is_last = false; !is_last;) {
      const seconds period(does.period_s());
      {
        std::unique_lock guard(lock);
        is_last = changed.wait_for(guard, period, [this] { return is_ending; });
      }
      does.advance(is_last);
    }
  }
  void tell_to_end() {
    const std::lock_guard guard(lock);
    is_ending = true;
    changed.notify_all();
  }
};

void* periodic_thread::run(void* handed_over) noexcept {
  // Figures are computed and written as they are everywhere, whatever the program has made of its rounding (-ffast-math),
  // which threads inherit, and of its locale.
  std::fesetenv(FE_DFL_ENV);
  if (const locale_t plain = newlocale(LC_ALL_MASK, "C", nullptr); plain != nullptr) uselocale(plain);
  stay_in_background();
  const std::unique_ptr<std::shared_ptr<state>> handed(static_cast<std::shared_ptr<state>*>(handed_over));
  const std::shared_ptr<state> held_state = std::move(*handed);
  try {
    held_state->run();
  } catch (const std::exception& error) {
    held_state->does.failed(error.what());
  } catch (...) {
    held_state->does.failed("unknown");
  }
  const std::lock_guard guard(held_state->lock);
  held_state->is_over = true;
  held_state->changed.notify_all();
  return nullptr;
}

bool periodic_thread::start(const char* name, work task) {
  auto created = std::make_shared<state>();
  created->does = std::move(task);
  auto handed = std::make_unique<std::shared_ptr<state>>(created);
  const signals_held held;
  const own_thread_made marked;
  if (pthread_create(&created->thread, nullptr, run, handed.get()) != 0) return false;
  static_cast<void>(handed.release());
  pthread_setname_np(created->thread, name);
  m_state = std::move(created);
  return true;
}

bool periodic_thread::end(double patience_s) {
  if (!m_state) return true;
  m_state->tell_to_end();
  {
    std::unique_lock guard(m_state->lock);
    if (!m_state->changed.wait_for(guard, seconds(patience_s), [this] { return m_state->is_over; })) return false;
  }
  pthread_join(m_state->thread, nullptr);
  m_state.reset();
  return true;
}

periodic_thread::~periodic_thread() {
  if (!m_state) return;
  m_state->tell_to_end();
  pthread_detach(m_state->thread);
}

}  // namespace trimtab::base
