// The options of a job: one table of rows, from which job::job reads, and the documentation and the command's export are
// made. `trimtab launch` sets those of a membership.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "trimtab/options/option.hpp"

namespace trimtab::parcels {

// How the localities reach each other. In the order of transport_words. automatic: by what else is set.
enum class transport_choice : std::uint8_t { automatic, shm, tcp, mpi };
inline constexpr std::string_view transport_words[] = {"auto", "shm", "tcp", "mpi"};

// What the environment says of a job. Texts are of the environment: copy what is kept.
struct job_settings {
  transport_choice transport = transport_choice::automatic;
  std::optional<std::uint32_t> rank = {};
  std::optional<std::uint32_t> size = {};
  std::optional<std::uint32_t> local_size = {};  // localities on this host
  std::string_view secret = {};
  std::string_view path = {};
  std::string_view meeting = {};  // ADDRESS:PORT
  std::string_view listen_address = {};
  std::optional<int> meeting_socket = {};
  std::optional<int> arrivals = {};
  std::string_view mpi_library = {};
  std::uint64_t patience_s = 0;
  std::size_t ring_bytes = 0;
  std::optional<std::uint32_t> parcel_count = {};
  std::optional<std::uint32_t> parcel_wait_us = {};
  std::optional<std::uint32_t> parcel_bytes = {};
  std::optional<bool> parcel_tune = {};
  std::optional<std::uint32_t> servers = {};
  std::string_view network_folder = {};
};

std::span<const options::row<job_settings>> option_table() noexcept;

// True: this process has the option for itself. A program that it starts would take itself for the same locality.
bool is_forgotten(const options::option& option_row) noexcept;

}  // namespace trimtab::parcels
