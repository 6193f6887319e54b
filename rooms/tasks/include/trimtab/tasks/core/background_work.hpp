// What workers look after besides tasks, such as messages from other processes: whoever finds no task advances it.
#pragma once

namespace trimtab::tasks {

// Given to a runtime by runtime::set_background_work. All functions may be called by several threads at once.
class background_work {
 public:
  virtual ~background_work() = default;

  // Does a little of what there is to do, without waiting. True: it did something, and there may be new tasks. Called by
  // workers that look for a task, again and again, and by threads that are no workers while they begin to wait.
  virtual bool advance() noexcept = 0;
  // The calling thread is about to sleep until there is a task, or until what it waits for has happened. From now on another
  // thread has to notice what comes. True: there may be new tasks, so the caller looks once more instead.
  virtual bool before_sleep() noexcept = 0;
  // Whether it may still bring tasks, or end the waiting of one. While it may, no deadlock is reported.
  virtual bool expects_more() const noexcept = 0;
};

}  // namespace trimtab::tasks
