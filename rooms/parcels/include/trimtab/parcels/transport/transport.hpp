// The port of transports: what carries messages between the localities of one job. One contract test-suite
// (test/transport_contract.hpp) is for all of them.
//
// A message arrives whole, once, and after the messages that were sent before it to the same locality. Messages to different
// localities are independent of each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace trimtab::parcels {

// The number of a locality within its job, 0 to size() - 1. A locality is one process; MPI says rank.
using locality_number = std::uint32_t;

using bytes_view = std::span<const std::byte>;

// What a transport tells of others. Called by receive(), on the thread that calls it.
class message_sink {
 public:
  // The bytes are valid during the call only, and aligned to 8.
  virtual void on_message(locality_number from, bytes_view bytes) noexcept = 0;
  // It has called leave(): nothing more comes from it. Once per locality, after its last message.
  virtual void on_left(locality_number from) noexcept = 0;
  // It has ended or cannot be reached, without leave(). Once per locality, and then no on_left. reason: a sentence's end, as
  // in "locality 3 was lost: REASON".
  virtual void on_lost(locality_number from, std::string_view reason) noexcept = 0;

 protected:
  ~message_sink() = default;
};

enum class send_status : std::uint8_t {
  sent,     // taken over: the sender may reuse the bytes
  no_room,  // nothing of it was taken; later there is room, and wait() returns then
  gone,     // the receiver has left or is lost: it will never be received
};

// Threads: calls of try_send to one locality must not overlap, and calls of receive must not overlap. Apart from that all
// functions may be called at once by any threads, and none takes longer than it needs for its own work: only wait() blocks.
class transport {
 public:
  virtual ~transport() = default;  // after all other calls have ended; without leave() the others lose this locality
  transport() = default;
  transport(const transport&) = delete;
  transport& operator=(const transport&) = delete;

  virtual locality_number number() const noexcept = 0;  // of this locality
  virtual std::uint32_t size() const noexcept = 0;      // localities of the job
  virtual const char* name() const noexcept = 0;        // "shared memory"
  // The most bytes of one message, at least 4096. Constant.
  virtual std::size_t largest_message() const noexcept = 0;
  // Of another locality of the job, for reports; static or of the transport's life.
  virtual std::string_view host_of(locality_number other) const noexcept = 0;
  virtual std::int64_t process_of(locality_number other) const noexcept = 0;  // its process id on that host

  // Sends the parts as one message, of 1 to largest_message() bytes in total. to: not this locality.
  virtual send_status try_send(locality_number to, std::span<const bytes_view> parts) noexcept = 0;
  send_status try_send(locality_number to, bytes_view message) noexcept { return try_send(to, std::span(&message, 1)); }

  // Gives up to `limit` messages that have arrived to `sink`, and says who has left or is lost. Also goes on with what
  // try_send has taken over. Returns the number of messages. Costs some nanoseconds if nothing has arrived.
  virtual std::size_t receive(message_sink& sink, std::size_t limit) noexcept = 0;

  // Sleeps, without using the CPU, until receive() has something to do, room has come for a try_send that returned no_room,
  // or wake() was called, at most for `ns` nanoseconds. One thread at a time. May return for no reason.
  virtual void wait(std::uint64_t ns) noexcept = 0;
  // Ends the present wait(), or the next one if there is none. Async-signal-safe.
  virtual void wake() noexcept = 0;

  // After the last try_send: the others hear on_left when they have received everything. Returns when all that was sent is
  // on its way without this process's help, or `ns` nanoseconds are over (false).
  virtual bool leave(std::uint64_t ns) noexcept = 0;
};

// What the functions that open a transport return: one of the two.
struct opened_transport {
  std::unique_ptr<transport> link;
  std::string error;  // a sentence, without "trimtab: "
};

}  // namespace trimtab::parcels
