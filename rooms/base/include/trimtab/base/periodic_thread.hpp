// A thread that does something every so often, until it is ended. What it does may hang: whoever ends it waits no longer
// than they want, and leaves it behind. So what it works on must live as long as it does: the functions hold it. The
// program's signals are not for it. Started and ended by one thread at a time.
#pragma once

#include <functional>
#include <memory>

namespace trimtab::base {

class periodic_thread {
 public:
  struct work {
    std::function<double()> period_s;              // until the next time
    std::function<void(bool is_last)> advance;     // what it throws ends the thread
    std::function<void(const char* what)> failed;  // by that
  };
  periodic_thread() = default;
  ~periodic_thread();  // it is to end, but nobody waits
  periodic_thread(const periodic_thread&) = delete;
  periodic_thread& operator=(const periodic_thread&) = delete;

  // name: at most 15 characters. False: no further thread could be made.
  bool start(const char* name, work task);
  // Once more, the last time, and it is over. False: not within that time; it is over later, or asked for again.
  // Without a thread it is over.
  bool end(double patience_s);

 private:
  struct state;
  static void* run(void* handed_over) noexcept;
  std::shared_ptr<state> m_state;
};

}  // namespace trimtab::base
