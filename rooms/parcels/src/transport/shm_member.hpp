// A member of a job whose messages go through shared memory.
//
// Awake, a member makes no system call: it writes into rings and reads them. It sleeps at its doorbell. README.md says how
// nothing is missed.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "transport/byte_ring.hpp"
#include "transport/doorbell.hpp"
#include "transport/process_fence.hpp"
#include "transport/process_watch.hpp"
#include "transport/shared_segment.hpp"

namespace trimtab::parcels {

class shm_member final : public transport {
 public:
  ~shm_member() override;
  // First of all. Empty, or an error.
  std::string open(const membership& self, const shm_options& options);

  locality_number number() const noexcept override { return m_number; }
  std::uint32_t size() const noexcept override { return m_size; }
  const char* name() const noexcept override { return "shared memory"; }
  std::size_t largest_message() const noexcept override { return m_largest_message; }
  std::string_view host_of(locality_number other) const noexcept override { return m_incoming[other].host; }
  std::int64_t process_of(locality_number other) const noexcept override { return m_incoming[other].process; }

  send_status try_send(locality_number to, std::span<const bytes_view> parts) noexcept override;
  std::size_t receive(message_sink& sink, std::size_t limit) noexcept override;
  void wait(std::uint64_t ns) noexcept override;
  void wake() noexcept override { m_bell->wake(); }
  bool leave(std::uint64_t ns) noexcept override;

 private:
  // Senders whose number is n modulo 64 share bit n of `ready`.
  static constexpr std::uint32_t groups = 64;
  static constexpr std::uint64_t bit_of(std::uint32_t group) { return std::uint64_t{1} << group; }

  // For threads that send to one other member.
  struct alignas(line_pair) outgoing {
    ring_writer ring;
    member_attention* attention = nullptr;  // of the receiver
    std::atomic<bool> is_gone{false};
  };
  // For the thread that receives.
  struct alignas(line_pair) incoming {
    ring_reader ring;
    bool has_ended = false;                               // the sink knows
    std::atomic<bool> is_dead{false}, is_damaged{false};  // set by the watching thread, and by threads that send
    std::string host = {};
    std::int64_t process = 0;
  };
  enum class ending : std::uint8_t { none, left, closed, dead, damaged };

  void attach_rings();
  std::string watch_others();
  void change_state(presence state) noexcept;
  void add_own_news() noexcept;

  void announce(locality_number to) noexcept;
  send_status refuse(locality_number to, write_result reason) noexcept;

  bool has_news() const noexcept;
  bool has_something_to_do() noexcept;
  bool has_ready_message(std::uint64_t ready) const noexcept;

  std::size_t read_group(std::uint32_t group, message_sink& sink, std::size_t limit) noexcept;
  std::size_t read_ring(locality_number from, message_sink& sink, std::size_t limit) noexcept;
  void release(locality_number from) noexcept;
  void cool_rings() noexcept;

  ending ending_of(locality_number other) const noexcept;
  void look_for_endings(message_sink& sink) noexcept;
  bool report_ending(locality_number other, ending how, message_sink& sink) noexcept;
  std::string reason_of(locality_number other, ending how) const;

  shared_segment m_segment;
  process_fence m_fence{false};
  locality_number m_number = 0;
  std::uint32_t m_size = 0;
  std::size_t m_largest_message = 0;
  member_attention* m_attention = nullptr;  // its own; null: it has not joined
  std::unique_ptr<doorbell> m_bell;
  std::vector<outgoing> m_outgoing;
  std::vector<incoming> m_incoming;
  std::atomic<std::uint32_t> m_seen_news{0};  // all endings up to these news have been reported

  // For receive() only: bits of groups.
  std::uint64_t m_hot = 0;     // whose rings are looked at; all of them are in `ready`, too
  std::uint64_t m_active = 0;  // which had a message since the last cooling
  std::uint32_t m_empty_looks = 0;
  std::uint32_t m_next_group = 0;

  process_watch m_watch;  // destroyed first: its thread uses the rest
};

}  // namespace trimtab::parcels
