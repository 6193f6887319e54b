#include "trimtab/parcels/counters/counters.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <span>
#include <stdexcept>

namespace trimtab::parcels {

namespace {

enum class traffic_id : std::size_t {
#define COUNTER(name, path, unit, how, meaning) name,
#define DESTINATION_COUNTER(name, path, unit, how, meaning) name,
#define ACTION_COUNTER(name, path, unit, how, meaning) name,
#define SERVER_COUNTER(name, path, unit, how, meaning) name,
#include "trimtab/parcels/counters/counter_table.inc"
#undef COUNTER
#undef DESTINATION_COUNTER
#undef ACTION_COUNTER
#undef SERVER_COUNTER
};

// nan rather than infinite: there is no such figure.
double quotient(double numerator, double denominator) noexcept {
  return denominator > 0 ? numerator / denominator : std::nan("");
}

// The middle of the class in which that part of the values ends: class k holds 2^(k-1) to 2^k - 1.
double quantile(std::span<const std::uint64_t> histogram, double part) noexcept {
  std::uint64_t total = 0, passed = 0;
  for (const std::uint64_t count : histogram) total += count;
  for (std::size_t i = 0; i < histogram.size(); ++i) {
    passed += histogram[i];
    if (total != 0 && static_cast<double>(passed) >= part * static_cast<double>(total))
      return i == 0 ? 0 : 0.75 * std::ldexp(1.0, static_cast<int>(i));
  }
  return std::nan("");
}

flush_reason reason_of(traffic_id type) noexcept {
  switch (type) {
    case traffic_id::flushed_count:
      return flush_reason::count;
    case traffic_id::flushed_batch:
      return flush_reason::batch;
    case traffic_id::flushed_time:
      return flush_reason::time;
    case traffic_id::flushed_full:
      return flush_reason::full;
    case traffic_id::flushed_handled:
      return flush_reason::handled;
    case traffic_id::flushed_sender_waits:
      return flush_reason::sender_waits;
    case traffic_id::flushed_age:
      return flush_reason::age;
    case traffic_id::flushed_asked:
      return flush_reason::asked;
    default:
      return flush_reason::none;
  }
}

double number(std::uint64_t count) noexcept { return static_cast<double>(count); }

// Of communication servers; nan: the others.
double server_figure(traffic_id type, const traffic_counts& counts) noexcept {
  switch (type) {
    case traffic_id::handed_over:
      return number(counts.handed_over);
    case traffic_id::sent_directly:
      return number(counts.sent_directly);
    case traffic_id::held_for_order:
      return number(counts.held_for_order);
    case traffic_id::held_for_flow:
      return number(counts.held_for_flow);
    case traffic_id::server_messages:
      return number(counts.server_messages);
    case traffic_id::server_bytes:
      return number(counts.server_bytes);
    case traffic_id::server_dropped:
      return number(counts.server_dropped);
    case traffic_id::server_full_queues:
      return number(counts.server_full_queues);
    case traffic_id::server_refusals:
      return number(counts.server_refusals);
    case traffic_id::server_sleeps:
      return number(counts.server_sleeps);
    case traffic_id::server_busy_share:
      return quotient(number(counts.server_busy), number(counts.server_life));
    default:
      return std::nan("");
  }
}

// Of counts and sizes; nan: the others.
double count_figure(traffic_id type, const traffic_counts& counts) noexcept {
  switch (type) {
    case traffic_id::parcels_sent:
      return number(counts.sent);
    case traffic_id::parcel_bytes:
      return number(counts.sent_bytes);
    case traffic_id::parcel_mean:
      return quotient(number(counts.sent_bytes), number(counts.sent));
    case traffic_id::parcel_p50:
      return quantile(counts.sizes, 0.5);
    case traffic_id::parcel_p99:
      return quantile(counts.sizes, 0.99);
    case traffic_id::parcels_received:
      return number(counts.received);
    case traffic_id::received_bytes:
      return number(counts.received_bytes);
    case traffic_id::messages_sent:
      return number(counts.messages);
    case traffic_id::message_bytes:
      return number(counts.message_bytes);
    case traffic_id::parcels_per_message:
      return quotient(number(counts.sent), number(counts.messages));
    case traffic_id::acknowledgements:
      return number(counts.acknowledgements);
    case traffic_id::messages_received:
      return number(counts.messages_received);
    case traffic_id::message_bytes_received:
      return number(counts.message_bytes_received);
    case traffic_id::handled:
      return number(counts.handled);
    case traffic_id::refused:
      return number(counts.refused);
    default:
      return server_figure(type, counts);
  }
}

// Of the timed parcels' mean.
double serialization_ticks(const traffic_counts& counts) noexcept {
  return counts.packed_timed == 0 ? 0.0 : number(counts.packed) / number(counts.packed_timed) * number(counts.sent);
}

double background_ticks(const traffic_counts& counts) noexcept {
  return number(counts.receive + counts.look_after + counts.adder_send) + serialization_ticks(counts);
}

// Without what tasks did for messages while they sent parcels.
double task_ticks(const traffic_counts& counts) noexcept {
  return std::max(number(counts.busy) - number(counts.task_send + counts.within_send), 0.0);
}

double traffic_figure(traffic_id type, const traffic_counts& counts, double seconds_per_tick) noexcept {
  if (const flush_reason reason = reason_of(type); reason != flush_reason::none)
    return number(counts.flushes[static_cast<std::size_t>(reason)]);
  switch (type) {
    case traffic_id::arrival_p50:
      return quantile(counts.intervals, 0.5) * seconds_per_tick;
    case traffic_id::arrival_p99:
      return quantile(counts.intervals, 0.99) * seconds_per_tick;
    case traffic_id::age_p50:
      return quantile(counts.ages, 0.5) * 1e-9;
    case traffic_id::age_p99:
      return quantile(counts.ages, 0.99) * 1e-9;
    case traffic_id::queued_wait:
      return number(counts.queued_wait) * seconds_per_tick;
    case traffic_id::collective_wait:
      return number(counts.barrier_wait + counts.broadcast_wait + counts.reduce_wait) * seconds_per_tick;
    case traffic_id::barrier_wait:
      return number(counts.barrier_wait) * seconds_per_tick;
    case traffic_id::broadcast_wait:
      return number(counts.broadcast_wait) * seconds_per_tick;
    case traffic_id::reduce_wait:
      return number(counts.reduce_wait) * seconds_per_tick;
    case traffic_id::send_time:
      return number(counts.send) * seconds_per_tick;
    case traffic_id::receive_time:
      return number(counts.receive) * seconds_per_tick;
    case traffic_id::server_busy:
      return number(counts.server_busy) * seconds_per_tick;
    case traffic_id::serialization:
      return serialization_ticks(counts) * seconds_per_tick;
    case traffic_id::background:
      return background_ticks(counts) * seconds_per_tick;
    case traffic_id::network_overhead:
      return quotient(background_ticks(counts), background_ticks(counts) + task_ticks(counts));
    default:
      return count_figure(type, counts);
  }
}

[[noreturn]] void wrong_path(std::string_view path, const std::string& reason) {
  throw std::invalid_argument("trimtab: counter \"" + std::string(path) + "\": " + reason);
}

// Built like this because g++ 12 warns, wrongly, of what it makes of operator+ here.
std::string quoted(std::string_view text) { return std::string("\"").append(text).append("\""); }

// The number of a `what` behind a "#"; `all`: "*".
std::int64_t parsed_number(std::string_view path, std::string_view text, const char* what, std::size_t count) {
  if (text == "*") return traffic_snapshot::all;
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value >= count)
    wrong_path(path,
               std::string(what) + " " + quoted(text) + " where 0 to " + std::to_string(count - 1) + " or * is expected");
  return value;
}

bool take_prefix(std::string_view& text, std::string_view prefix) noexcept {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// What an instance names, and how fine that is.
struct instances {
  std::vector<traffic_part> parts{{}};
  counter_scope scope = counter_scope::locality;
};

std::vector<std::int64_t> others_of(const traffic_snapshot& known) {
  std::vector<std::int64_t> others;
  for (locality_number other = 0; other < known.size; ++other)
    if (other != known.number) others.push_back(other);
  return others;
}

std::vector<std::string> actions_of(const traffic_snapshot& known) {
  std::set<std::string> names;
  for (const action_traffic& traffic : known.actions) names.insert(traffic.action);
  return {names.begin(), names.end()};
}

instances parsed_servers(const traffic_snapshot& known, std::string_view path, std::string_view digits) {
  if (known.servers.empty()) wrong_path(path, "this locality has no communication servers");
  const std::int64_t wanted = parsed_number(path, digits, "server", known.servers.size());
  instances result{{}, counter_scope::server};
  for (std::int64_t server = 0; server < static_cast<std::int64_t>(known.servers.size()); ++server)
    if (wanted == traffic_snapshot::all || wanted == server) result.parts.push_back({.server = server});
  return result;
}

// "to#1/action#NAME": a name may contain a slash, so it comes last.
instances parsed_flows(const traffic_snapshot& known, std::string_view path, std::string_view rest) {
  std::vector<std::int64_t> localities{traffic_snapshot::all};
  std::vector<std::string> actions{""};
  instances result{{}, counter_scope::locality};
  if (take_prefix(rest, "to#")) {
    const std::string_view digits = rest.substr(0, rest.find('/'));
    const std::int64_t to = parsed_number(path, digits, "locality", known.size);
    localities = to == traffic_snapshot::all ? others_of(known) : std::vector{to};
    result.scope = counter_scope::destination;
    rest.remove_prefix(std::min(digits.size() + 1, rest.size()));
  }
  if (take_prefix(rest, "action#")) {
    actions = rest == "*" ? actions_of(known) : std::vector{std::string(rest)};
    result.scope = counter_scope::action;
    rest = {};
  }
  if (!rest.empty())
    wrong_path(path, quoted(rest) + " where total, to#N, to#*, action#NAME, action#*, server#N or server#* is expected");
  for (const std::int64_t to : localities)
    for (const std::string& action : actions) result.parts.push_back({.to = to, .action = action});
  return result;
}

// "locality#0", and what is counted of it.
instances parsed_instances(const traffic_snapshot& known, std::string_view path, std::string_view text) {
  const std::string_view locality = text.substr(0, text.find('/'));
  std::string_view rest = text.substr(std::min(locality.size() + 1, text.size()));
  const std::string expected = "locality#" + std::to_string(known.number);
  if (locality != expected && locality != "locality#*")
    wrong_path(path, quoted(locality) + " where " + expected + " or locality#* is expected");
  if (rest.empty() || rest == "total") return {};
  if (take_prefix(rest, "server#")) return parsed_servers(known, path, rest);
  return parsed_flows(known, path, rest);
}

bool has_scope(const traffic_counter_type& type, counter_scope wanted) noexcept {
  if (wanted == counter_scope::destination)
    return type.scope == counter_scope::destination || type.scope == counter_scope::action;
  return wanted == counter_scope::locality || type.scope == wanted;
}

}  // namespace

const std::vector<traffic_counter_type>& traffic_counter_types() {
  constexpr bool exact = true, estimated = false;
  static const auto& types = *new std::vector<traffic_counter_type>{
#define COUNTER(name, path, unit, how, meaning) {path, unit, how, meaning, counter_scope::locality},
#define DESTINATION_COUNTER(name, path, unit, how, meaning) {path, unit, how, meaning, counter_scope::destination},
#define ACTION_COUNTER(name, path, unit, how, meaning) {path, unit, how, meaning, counter_scope::action},
#define SERVER_COUNTER(name, path, unit, how, meaning) {path, unit, how, meaning, counter_scope::server},
#include "trimtab/parcels/counters/counter_table.inc"
#undef COUNTER
#undef DESTINATION_COUNTER
#undef ACTION_COUNTER
#undef SERVER_COUNTER
  };
  return types;
}

std::string traffic_counter::path() const {
  const std::string_view bare = type().path;
  const std::size_t slash = bare.find('/', 1);
  std::string part;
  if (m_part.to != traffic_snapshot::all) part += "/to#" + std::to_string(m_part.to);
  if (!m_part.action.empty()) part += "/action#" + m_part.action;
  if (m_part.server != traffic_snapshot::all) part += "/server#" + std::to_string(m_part.server);
  if (part.empty()) part = "/total";
  return std::string(bare.substr(0, slash)) + "{locality#" + std::to_string(m_locality) + part + "}" +
         std::string(bare.substr(slash));
}

double traffic_counter::value(const traffic_snapshot& last, const traffic_snapshot& first) const {
  const auto counts_at = [this](const traffic_snapshot& at) {
    return m_part.server == traffic_snapshot::all ? at.sum(m_part.to, m_part.action) : at.of_server(m_part.server);
  };
  traffic_counts counts = counts_at(last);
  counts.subtract(counts_at(first));
  return traffic_figure(static_cast<traffic_id>(m_type), counts, last.ns_per_tick * 1e-9);
}

std::vector<traffic_counter> find_counters(const traffic_snapshot& known, std::string_view path) {
  if (!path.starts_with('/')) wrong_path(path, "begins with \"/\", such as /parcels/count/sent");
  std::string bare(path);
  instances wanted;
  if (const std::size_t open = path.find('{'); open != std::string_view::npos) {
    // The last one: names of functions may have braces.
    const std::size_t close = path.rfind('}');
    if (close == std::string_view::npos || close < open) wrong_path(path, "\"{\" without \"}\"");
    wanted = parsed_instances(known, path, path.substr(open + 1, close - open - 1));
    bare = std::string(path.substr(0, open)) + std::string(path.substr(close + 1));
  }
  const bool is_open_ended = bare.ends_with('*');
  if (is_open_ended) bare.pop_back();
  std::vector<traffic_counter> result;
  bool is_known = false, has_instance = false;
  for (std::size_t type = 0; type < traffic_counter_types().size(); ++type) {
    const traffic_counter_type& candidate = traffic_counter_types()[type];
    const std::string_view type_path = candidate.path;
    if (is_open_ended ? !type_path.starts_with(bare) : type_path != bare) continue;
    is_known = true;
    if (!has_scope(candidate, wanted.scope)) continue;
    has_instance = true;
    for (const traffic_part& part : wanted.parts) result.emplace_back(type, known.number, part);
  }
  if (!is_known) {
    std::string paths;
    for (const traffic_counter_type& type : traffic_counter_types())
      paths += std::string(paths.empty() ? "" : ", ") + type.path;
    wrong_path(path, "there is no such counter; there are " + paths);
  }
  if (!has_instance) wrong_path(path, "it is not counted by this instance; without {}: of the whole locality");
  return result;
}

std::vector<traffic_counter> find_counters(job& owner, std::string_view path) {
  return find_counters(traffic_snapshot(owner), path);
}

}  // namespace trimtab::parcels
