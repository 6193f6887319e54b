#include "simulation/tuning_model.hpp"

#include <algorithm>
#include <memory>

#include "simulation/event_queue.hpp"
#include "trimtab/steer/shared_search_member.hpp"

namespace trimtab::parcels::simulation {

double with_noise(double seconds, double share, steer::random_source& source) {
  if (share <= 0) return seconds;
  double normal = -6;  // of twelve uniform numbers
  for (int i = 0; i < 12; ++i) normal += source.share();
  const double disturbed = source.share() < 0.02 ? 1 + source.share() : 1;
  return seconds * std::max(0.2, 1 + share * normal) * disturbed;
}

namespace {

constexpr double ns_per_s = 1e9;

class simulated_tuning {
 public:
  simulated_tuning(const tuned_program& program, const tuning_parameters& parameters)
      : m_program(program), m_parameters(parameters) {
    for (const steer::knob& place : program.knobs) m_initial.push_back(place.initial);
    const std::uint32_t searches = parameters.is_together ? 1 : parameters.localities;
    for (std::uint32_t i = 0; i < searches; ++i) {
      steer::shared_search_options options = parameters.search;
      options.seed = parameters.seed * 1000 + i;
      m_searches.push_back(std::make_unique<steer::shared_search>(program.knobs, options));
    }
    m_localities.reserve(parameters.localities);
    for (std::uint32_t number = 0; number < parameters.localities; ++number) add(number);
  }

  tuning_outcome run() {
    tuning_outcome outcome;
    for (auto& place : m_localities) search_of(place).join(place.member_of_search, 0);
    for (auto& place : m_localities) hand_out(place.search);
    for (auto& place : m_localities) begin_epoch(place);
    while (!is_settled() && now_s() < m_parameters.most_s && m_events.run_next()) lose_some();
    outcome.is_settled = is_settled();
    outcome.settled_s = now_s();
    outcome.epochs = static_cast<double>(m_epochs) / m_parameters.localities;
    outcome.is_same_everywhere = true;
    const steer::knob_values& first = m_localities.front().member->values();
    for (const locality& place : m_localities) {
      if (place.is_lost) continue;
      outcome.slowest_final = std::max(outcome.slowest_final, m_program.epoch_s(place.member->values()));
      outcome.is_same_everywhere &= place.member->values() == first;
    }
    for (const auto& search : m_searches) outcome.candidates += search->evaluations();
    return outcome;
  }

 private:
  struct locality {
    std::uint32_t number = 0, search = 0, member_of_search = 0;
    double slowness = 1;
    steer::random_source noise{1};
    std::unique_ptr<steer::shared_search_member> member;
    std::uint64_t epochs = 0;
    bool is_lost = false;
  };

  void add(std::uint32_t number) {
    locality added;
    added.number = number;
    added.search = m_parameters.is_together ? 0 : number;
    added.member_of_search = m_parameters.is_together ? number : 0;
    const double place = m_parameters.localities > 1 ? static_cast<double>(number) / (m_parameters.localities - 1) : 0;
    added.slowness = 1 + (m_parameters.slowest - 1) * place;
    added.noise = steer::random_source(m_parameters.seed * 7919 + number);
    added.member = std::make_unique<steer::shared_search_member>(m_initial, [](const steer::knob_values&) { return true; });
    m_localities.push_back(std::move(added));
  }

  steer::shared_search& search_of(const locality& of) { return *m_searches[of.search]; }
  double now_s() const { return static_cast<double>(m_events.now() - event_queue::first_time) / ns_per_s; }
  static nanoseconds ns(double seconds) { return static_cast<nanoseconds>(seconds * ns_per_s); }
  // The search is on the first of its members.
  bool is_beside_search(const locality& which) const { return which.member_of_search == 0; }

  void begin_epoch(locality& place) {
    const double seconds =
        with_noise(place.slowness * m_program.epoch_s(place.member->values()), m_parameters.noise, place.noise);
    m_events.add(m_events.now() + std::max<nanoseconds>(1, ns(seconds)),
                 [this, &place, seconds] { end_epoch(place, seconds); });
  }

  void end_epoch(locality& place, double seconds) {
    if (place.is_lost) return;
    m_epochs += 1;
    place.epochs += 1;
    auto report = place.member->sample(seconds);
    while (report) {
      deliver(place, *report);
      report = place.member->go_on();
    }
    if (is_beside_search(place)) hand_out(place.search);
    begin_epoch(place);
  }

  void deliver(locality& from, const steer::shared_report& report) {
    const auto take = [this, &from, report] {
      if (from.is_lost) return;
      search_of(from).report(from.member_of_search, report, now_s());
      hand_out(from.search);
    };
    if (is_beside_search(from)) return take();
    m_events.add(m_events.now() + ns(m_parameters.message_s), take);
  }

  void hand_out(std::uint32_t search) {
    for (auto& [member, order] : m_searches[search]->give_out(now_s())) {
      locality& to = m_localities[m_parameters.is_together ? member : search];
      if (is_beside_search(to))
        to.member->take(std::move(order));
      else
        m_events.add(m_events.now() + ns(m_parameters.message_s),
                     [&to, order = std::move(order)] { to.member->take(order); });
    }
  }

  void lose_some() {
    if (m_lost >= m_parameters.lost) return;
    locality& next = m_localities[m_localities.size() - 1 - m_lost];
    if (next.epochs < 10 * (m_lost + 1)) return;
    m_lost += 1;
    next.is_lost = true;
    search_of(next).leave(next.member_of_search);
    hand_out(next.search);
  }

  bool is_settled() const {
    return std::all_of(m_searches.begin(), m_searches.end(),
                       [](const auto& place) { return place->is_settled_everywhere(); });
  }

  const tuned_program& m_program;
  const tuning_parameters m_parameters;
  steer::knob_values m_initial;
  event_queue m_events;
  std::vector<std::unique_ptr<steer::shared_search>> m_searches;
  std::vector<locality> m_localities;  // all are there before the first event
  std::uint64_t m_epochs = 0;
  std::uint32_t m_lost = 0;
};

}  // namespace

tuning_outcome simulate_tuning(const tuned_program& program, const tuning_parameters& parameters) {
  return simulated_tuning(program, parameters).run();
}

}  // namespace trimtab::parcels::simulation
