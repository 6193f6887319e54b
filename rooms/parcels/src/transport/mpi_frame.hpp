// What goes from one locality to another is a stream of frames: a header, and a message's bytes filled up to a multiple
// of 8. MPI carries pieces of the stream, whose ends are at multiples of 8 bytes, and whose order it keeps.
#pragma once

#include <cstddef>
#include <cstdint>

namespace trimtab::parcels::mpi {

enum class frame_kind : std::uint32_t {
  message = 0x6d736731,
  leaving = 0x6c656176,  // no message comes any more
  ending = 0x656e6421,   // nothing comes any more, and the sender waits for the same from the others
};

struct frame_header {
  std::uint32_t bytes;  // of the message, without header and filling
  frame_kind kind;
};
static_assert(sizeof(frame_header) == 8);

constexpr std::size_t piece_bytes = std::size_t{16} << 10;  // the most that one MPI message carries

constexpr std::size_t frame_size(std::size_t message_bytes) {
  return sizeof(frame_header) + ((message_bytes + 7) & ~std::size_t{7});
}

}  // namespace trimtab::parcels::mpi
