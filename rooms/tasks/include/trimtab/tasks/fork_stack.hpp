// The forked tasks of one worker: a stack, of which the older part is offered to thieves. The owner pushes and pops
// what is not offered with plain loads and stores; only where the two parts meet does anyone pay for an atomic.
//
//        tail ........ split ........ head
//         | offered      | the owner's  |
//
// Thieves take at the tail: the oldest task, which tends to be the largest. The owner offers half of its own part when
// nothing is offered or a thief has asked, and takes back half of the offered part when its own has run out.
// One owner; any number of thieves. Capacity is fixed: where it ends, tasks are run at once by who would fork them.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace trimtab::tasks {

// A task that its forker waits for: the closure lies on the forker's stack.
struct alignas(64) fork_frame {
  void (*run)(void* closure) noexcept = nullptr;
  void* closure = nullptr;
  // The forker asks for a wake-up before it sleeps; the thief's last access says that it is done.
  enum : std::uint32_t { open, awaited, done };
  std::atomic<std::uint32_t> state{open};

  bool is_done() const noexcept { return state.load(std::memory_order_acquire) == done; }
};

class fork_stack {
 public:
  explicit fork_stack(std::uint32_t capacity) : m_frames(new fork_frame[capacity]), m_capacity(capacity) {}

  // The owner's part.

  // nullptr: no room. What was pushed must be popped, in reverse order.
  fork_frame* push(void (*run)(void*) noexcept, void* closure) noexcept {
    if (m_head == m_capacity) [[unlikely]]
      return nullptr;
    fork_frame& frame = m_frames[m_head];
    frame.run = run;
    frame.closure = closure;
    frame.state.store(fork_frame::open, std::memory_order_relaxed);
    m_head += 1;
    if (tail_of(m_bounds.load(std::memory_order_relaxed)) == m_split || m_is_wanted.load(std::memory_order_relaxed))
        [[unlikely]]
      offer();
    return &frame;
  }

  // True: the newest task is the caller's again, to be run by it. False: a thief has it; when it is done, say so by
  // `pop_stolen`.
  bool pop() noexcept {
    if (m_split < m_head) [[likely]] {
      m_head -= 1;
      return true;
    }
    return take_back();
  }

  // After pop() was false and the frame is done.
  void pop_stolen() noexcept {
    m_head -= 1;
    m_split = m_head;
    m_bounds.store(pack(m_head, m_head), std::memory_order_release);
  }

  std::uint32_t size() const noexcept { return m_head - tail_of(m_bounds.load(std::memory_order_relaxed)); }

  // The thieves' part.

  // nullptr: nothing is offered, or another was quicker.
  fork_frame* steal() noexcept {
    std::uint64_t bounds = m_bounds.load(std::memory_order_acquire);
    const std::uint32_t tail = tail_of(bounds);
    if (tail >= split_of(bounds)) return nullptr;
    // The same bounds may have come again meanwhile: then it is the new task at `tail` that is taken, as whole as the
    // old one was.
    if (!m_bounds.compare_exchange_strong(bounds, pack(tail + 1, split_of(bounds)), std::memory_order_acq_rel,
                                          std::memory_order_relaxed))
      return nullptr;
    return &m_frames[tail];
  }

  bool is_offering() const noexcept {
    const std::uint64_t bounds = m_bounds.load(std::memory_order_seq_cst);
    return tail_of(bounds) < split_of(bounds);
  }

  // Asks the owner to offer more at its next push.
  void ask() noexcept {
    if (!m_is_wanted.load(std::memory_order_relaxed)) m_is_wanted.store(true, std::memory_order_relaxed);
  }

  // How often the owner has offered: when it rises in a push, a sleeping thief may be woken.
  std::uint64_t offers() const noexcept { return m_offers; }

 private:
  static constexpr std::uint32_t tail_of(std::uint64_t bounds) noexcept { return static_cast<std::uint32_t>(bounds >> 32); }
  static constexpr std::uint32_t split_of(std::uint64_t bounds) noexcept { return static_cast<std::uint32_t>(bounds); }
  static constexpr std::uint64_t pack(std::uint32_t tail, std::uint32_t split) noexcept {
    return (std::uint64_t{tail} << 32) | split;
  }
  void offer() noexcept;
  bool take_back() noexcept;

  // The owner's line.
  std::unique_ptr<fork_frame[]> m_frames;
  std::uint32_t m_capacity;
  std::uint32_t m_head = 0;
  std::uint32_t m_split = 0;
  std::uint64_t m_offers = 0;
  // Shared.
  alignas(64) std::atomic<std::uint64_t> m_bounds{0};
  alignas(64) std::atomic<bool> m_is_wanted{false};
};

}  // namespace trimtab::tasks
