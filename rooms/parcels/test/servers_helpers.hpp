// What tests of communication servers share.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "transport_contract.hpp"
#include "trimtab/parcels/servers/served_transport.hpp"

namespace trimtab::parcels {

// All messages of up to `largest` bytes are given to servers.
inline server_settings all_through_servers(std::uint32_t servers, std::size_t largest = 4096) {
  return all_served(servers, largest);
}

// The same kind of transport, with communication servers.
inline transport_kind with_servers(transport_kind kind, const server_settings& settings) {
  struct served_meeting final : meeting_point {
    served_meeting(std::unique_ptr<meeting_point> inner, const server_settings& settings_of_all)
        : m_inner(std::move(inner)), m_settings(settings_of_all) {}
    opened_transport open(const membership& self) override {
      opened_transport opened = m_inner->open(self);
      if (opened.link) opened.link = std::make_unique<served_transport>(std::move(opened.link), m_settings);
      return opened;
    }
    std::unique_ptr<meeting_point> m_inner;
    server_settings m_settings;
  };
  kind.name += "_with_" + std::to_string(settings.servers) + "_servers";
  kind.most_bytes_under_way += settings.most_under_way * largest_served(settings);
  kind.new_meeting = [inner = kind.new_meeting, settings](std::uint32_t size) {
    return std::make_unique<served_meeting>(inner(size), settings);
  };
  return kind;
}

}  // namespace trimtab::parcels
