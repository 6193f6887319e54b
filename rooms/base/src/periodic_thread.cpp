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

void* periodic_thread::run(void* of) noexcept {
  // Figures are computed and written as they are everywhere, whatever the program has made of its rounding (-ffast-math),
  // which threads inherit, and of its locale.
  std::fesetenv(FE_DFL_ENV);
  if (const locale_t plain = newlocale(LC_ALL_MASK, "C", nullptr); plain != nullptr) uselocale(plain);
  stay_in_background();
  const std::unique_ptr<std::shared_ptr<state>> handed(static_cast<std::shared_ptr<state>*>(of));
  const std::shared_ptr<state> mine = std::move(*handed);
  try {
    mine->run();
  } catch (const std::exception& error) {
    mine->does.failed(error.what());
  } catch (...) {
    mine->does.failed("unknown");
  }
  const std::lock_guard guard(mine->lock);
  mine->is_over = true;
  mine->changed.notify_all();
  return nullptr;
}

bool periodic_thread::start(const char* name, work of) {
  auto made = std::make_shared<state>();
  made->does = std::move(of);
  auto handed = std::make_unique<std::shared_ptr<state>>(made);
  const signals_held held;
  if (pthread_create(&made->thread, nullptr, run, handed.get()) != 0) return false;
  static_cast<void>(handed.release());
  pthread_setname_np(made->thread, name);
  m_state = std::move(made);
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
