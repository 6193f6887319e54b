// How the iterations of a loop are shared out. Pure arithmetic on iteration numbers 0 .. trip - 1: whatever is chosen,
// every iteration goes to exactly one thread.
//
// Schemes that no runtime has are served over tickets: the runtime deals out tickets 0 .. n - 1 one by one (dynamic,1), and
// each stands for a chunk whose place and size follow from its number alone.
//   fac2   factoring: half of what is left in `threads` equal chunks, again and again (Hummel, Schonberg, Flynn 1992)
//   tss    trapezoid: chunks shrink by the same amount, from the first, trip / (2 threads) unless told, to the least (Tzen,
//          Ni 1993)
//   sss    safe self-scheduling: a share alpha of the loop in `threads` equal chunks, then the same share of what is left,
//          again and again: max(least, alpha (1 - alpha)^batch trip / threads) (Liu, Saletore, Lewis 1994). The publication
//          gets alpha from what iterations take; here it is a number, 3/4 unless told. With 1/2 it is fac2.
//   mfsc   chunks of one size, as many as fac2 has (Banicescu, Ciorba, Srivastava 2013)
#pragma once

#include <cstdint>
#include <string_view>

namespace trimtab::openmp {

//
// awf, adaptive weighted factoring, is fac2 with chunks as large as their taker is fast: see claimed_loops.hpp.

// In the order of the knob's values.
enum class sharing : std::uint8_t { as_written, static_, dynamic, guided, fac2, tss, mfsc, awf, sss };
inline constexpr std::string_view sharing_names[] = {"as-written", "static", "dynamic", "guided", "fac2",
                                                     "tss",        "mfsc",   "awf",     "sss"};

// Whose first chunk is a choice: a share of trip / threads, in percent.
inline constexpr bool has_first_chunk(sharing method) noexcept { return method == sharing::tss || method == sharing::sss; }
inline constexpr std::uint32_t first_percent_of_scheme = 0;  // as the scheme has it: tss 50, sss 75
inline constexpr bool has_tickets(sharing method) noexcept { return method == sharing::fac2 || has_first_chunk(method); }
inline constexpr bool is_claimed(sharing method) noexcept { return method == sharing::awf; }
// The runtime deals out other numbers than the program's.
inline constexpr bool is_renumbered(sharing method) noexcept { return has_tickets(method) || is_claimed(method); }

// The size of mfsc's chunks.
std::uint64_t mfsc_chunk(std::uint64_t trip, std::uint32_t threads, std::uint64_t smallest) noexcept;

// Of the next chunk of awf, `begun` iterations being taken: its taker's part of half of the batch. weight: of 1 on average.
std::uint64_t awf_chunk(std::uint64_t trip, std::uint64_t begun, std::uint32_t threads, double weight,
                        std::uint64_t smallest) noexcept;

// The chunks of one execution of a loop, as one thread goes through them.
class ticket_chunks {
 public:
  ticket_chunks() noexcept = default;
  // least: of a chunk's iterations, but the last's; trip, threads, least at least 1. trip below 2^52. first_percent: up to
  // 100, the first chunk's part of trip / threads, of a scheme that has one.
  ticket_chunks(sharing method, std::uint64_t trip, std::uint32_t threads, std::uint64_t smallest,
                std::uint32_t first_percent = first_percent_of_scheme) noexcept;

  std::uint64_t tickets() const noexcept { return m_tickets; }
  // First iteration of a ticket; the trip for tickets(). Quickest when tickets rise.
  std::uint64_t begin_of(std::uint64_t ticket) noexcept;

 private:
  struct batch {
    std::uint64_t ticket, iteration, size;
  };
  batch first_batch() const noexcept;
  bool is_last(const batch& chunk_batch) const noexcept {
    return chunk_batch.size <= m_least || chunk_batch.iteration + chunk_batch.size * m_threads >= m_trip;
  }
  std::uint64_t share_of(std::uint64_t left) const noexcept;  // of one thread
  void advance(batch& chunk_batch) const noexcept;

  sharing m_how = sharing::fac2;
  std::uint64_t m_trip = 0, m_least = 1, m_threads = 1, m_percent = 50, m_tickets = 0;
  batch m_at{};                    // fac2, sss
  double m_first = 0, m_fall = 0;  // tss
};

}  // namespace trimtab::openmp
