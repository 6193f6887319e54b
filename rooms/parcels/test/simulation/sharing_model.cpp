#include "simulation/sharing_model.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "trimtab/steer/random.hpp"

namespace trimtab::parcels::simulation {

namespace {

constexpr std::byte round_mark{1}, answer_mark{2};

nanoseconds period_of(const load_sharing_options& settings) { return settings.period_us * nanoseconds{1000}; }

}  // namespace

sharing_job::sharing_job(const job_parameters& parameters, const load_sharing_options& settings)
    : m_settings(settings), m_round_ns(period_of(settings) / settings.rounds), m_job(parameters) {
  steer::random_source random(parameters.seed);
  for (locality_number self = 0; self < m_job.size(); ++self) {
    m_members.push_back(std::make_unique<member>(m_job.size(), self, settings));
    m_job.at(self).set_on_parcel([this, self](locality_number from, bytes_view content) { on_parcel(self, from, content); });
    const nanoseconds begin = m_job.now() + random.below(period_of(settings));
    m_job.at(self).run_beside([this, self, begin] { begin_round(self, begin); }, begin);
  }
}

void sharing_job::begin_round(locality_number self, nanoseconds due) {
  member& own = *m_members[self];
  const load_sharing::own_state state{
      static_cast<double>(m_job.at(self).running_and_eligible()), 1, m_job.at(self).finished(), {}};
  const bool begins_period = own.round++ % m_settings.rounds == 0;
  const auto peers = own.rules.begin_round(state, begins_period ? 1 : 0);
  own.made_at.resize(own.rules.view().of(self).version + 1, m_job.now());
  for (const locality_number peer : peers) send_view(self, peer, round_mark);
  m_job.at(self).run_beside([this, self, next = due + m_round_ns] { begin_round(self, next); }, due + m_round_ns);
}

void sharing_job::send_view(locality_number from, locality_number to, std::byte mark) {
  member& own = *m_members[from];
  byte_buffer content;
  content.append(std::vector<std::byte>(mark_bytes, mark));
  const auto entries = own.rules.write(content, to);
  own.counted[to] = m_job.at(from).traffic().to(to).messages().messages.get();
  if (!m_job.at(from).try_send_alone(to, content.view())) return;
  own.rules.note_sent(to, entries);
  m_views_sent += 1;
}

void sharing_job::send_parcel(locality_number from, locality_number to, bytes_view content) {
  m_job.at(from).send_parcel(to, content);
  member& own = *m_members[from];
  const std::uint64_t sent = m_job.at(from).traffic().to(to).messages().messages.get(), counted = own.counted[to];
  if (m_settings.messages == 0 || sent - counted < m_settings.messages) return;
  own.counted[to] = sent;
  if (own.rules.on_messages(to, sent - counted)) send_view(from, to, answer_mark);
}

void sharing_job::on_parcel(locality_number to, locality_number from, bytes_view content) {
  const std::byte mark = content[0];
  if (mark != round_mark && mark != answer_mark) {
    if (m_on_parcel) m_on_parcel(to, from, content);
    return;
  }
  const bool has_news = m_members[to]->rules.merge(content.subspan(mark_bytes), from);
  if (has_news && mark == round_mark)
    m_job.at(to).run_beside([this, to, from] { send_view(to, from, answer_mark); }, m_job.now());
}

locality_number sharing_job::choose(locality_number from) {
  return m_members[from]->rules.choose(static_cast<double>(m_job.at(from).running_and_eligible()));
}

nanoseconds sharing_job::age_of(locality_number viewer, locality_number owner) const {
  const std::uint64_t version = m_members[viewer]->rules.view().of(owner).version;
  if (version == 0) return ~nanoseconds{0};
  return m_job.now() - m_members[owner]->made_at[version];
}

staleness staleness_of(const job_parameters& parameters, const load_sharing_options& settings, double periods,
                       std::uint32_t program_messages) {
  sharing_job shared(parameters, settings);
  simulated_job& job = shared.job();
  const nanoseconds period = period_of(settings), begin = job.now();
  const nanoseconds end = begin + static_cast<nanoseconds>(periods * static_cast<double>(period));
  steer::random_source random(parameters.seed + 1);
  // A task that never ends, so that each locality always has something to report.
  for (locality_number self = 0; self < job.size(); ++self) {
    const nanoseconds pause = program_messages == 0 ? period : period / program_messages;
    job.at(self).add_task({[&shared, &random, self, pause, program_messages](simulated_locality&, simulated_thread& worker) {
      worker.occupy(pause);
      auto to = static_cast<locality_number>(random.below(shared.job().size()));
      if (program_messages == 0 || to == self) return progress::again;
      const std::vector<std::byte> content(sharing_job::mark_bytes, sharing_job::first_free_mark);
      shared.send_parcel(self, to, content);
      return progress::again;
    }});
  }
  std::vector<double> ages;
  std::uint64_t first_views = 0;
  const nanoseconds first_look = begin + 20 * period;
  for (nanoseconds time = first_look; time < end; time += period / 7) {
    job.run_until([&] { return job.now() >= time; }, 100 * period);
    if (ages.empty()) first_views = shared.views_sent();
    for (locality_number viewer = 0; viewer < job.size(); ++viewer)
      for (locality_number owner = 0; owner < job.size(); ++owner)
        if (owner != viewer) ages.push_back(static_cast<double>(shared.age_of(viewer, owner)) / static_cast<double>(period));
  }
  std::sort(ages.begin(), ages.end());
  const auto at = [&](double share) { return ages[static_cast<std::size_t>(share * static_cast<double>(ages.size() - 1))]; };
  const double measured_periods = static_cast<double>(end - first_look) / static_cast<double>(period);
  return {at(0.5), at(0.9), at(0.99), at(1),
          static_cast<double>(shared.views_sent() - first_views) / measured_periods / job.size()};
}

const char* name_of(imbalance pattern) noexcept {
  constexpr const char* names[] = {"none", "front", "one heavy", "drawn"};
  return names[static_cast<std::size_t>(pattern)];
}

namespace {

constexpr std::byte task_mark = sharing_job::first_free_mark, result_mark{11};

class placed_program {
 public:
  placed_program(const sharing_program& program, placing how, const job_parameters& parameters,
                 const load_sharing_options& settings)
      : m_program(program),
        m_placing(how),
        m_random(parameters.seed + 2),
        m_parameters(parameters),
        m_shared(parameters, settings),
        m_results(parameters.localities),
        m_work_left(parameters.localities) {
    m_shared.set_on_parcel(
        [this](locality_number to, locality_number from, bytes_view content) { on_parcel(to, from, content); });
  }

  double run() {
    simulated_job& job = m_shared.job();
    for (std::uint32_t step = 0; step < m_program.steps; ++step) make_durations(step);
    for (locality_number self = 0; self < job.size(); ++self) job.at(self).add_task(main_task(self));
    const nanoseconds begin = job.now();
    const bool has_ended = job.run_until([this] { return m_step == m_program.steps; }, 1000'000'000'000);
    return has_ended ? static_cast<double>(job.now() - begin) : -1;
  }

 private:
  // Of all tasks of a step, in the order of their localities. The same for all ways to place them.
  void make_durations(std::uint32_t step) {
    const std::uint32_t count = m_program.tasks * m_parameters.localities;
    std::vector<nanoseconds>& durations = m_durations.emplace_back();
    for (std::uint32_t number = 0; number < count; ++number) {
      double factor = 1;
      const std::uint32_t front = step * count / m_program.steps;
      switch (m_program.pattern) {
        case imbalance::none:
          break;
        case imbalance::front:
          factor = (number + count - front) % count < count / 4 ? 10 : 1;
          break;
        case imbalance::one_heavy:
          factor = number / m_program.tasks == m_parameters.localities / 2 ? 4 : 1;
          break;
        case imbalance::drawn:
          factor = std::min(std::pow(1 - m_random.share(), -1 / 1.5), 100.0);
      }
      durations.push_back(static_cast<nanoseconds>(factor * static_cast<double>(m_program.task_ns)));
    }
  }

  task main_task(locality_number self) {
    task steps;
    for (std::uint32_t step = 0; step < m_program.steps; ++step) {
      // One task at a time: others act in between.
      steps.push_back([this, self, step, made = 0u](simulated_locality&, simulated_thread&) mutable {
        place(self, m_durations[step][self * m_program.tasks + made]);
        return ++made == m_program.tasks ? progress::done : progress::again;
      });
      steps.push_back(wait_until([this, self, step] { return m_results[self] == (step + 1) * m_program.tasks; }));
      steps.push_back(call([this] { arrive(); }));
      steps.push_back(wait_until([this, step] { return m_step > step; }));
    }
    return steps;
  }

  // A barrier, which takes as long as its rounds of messages.
  void arrive() {
    simulated_job& job = m_shared.job();
    if (++m_arrived < job.size()) return;
    m_arrived = 0;
    const double rounds = std::ceil(std::log2(job.size()));
    const auto& network = m_parameters.network;
    const double round_ns = network.latency_ns + 2 * static_cast<double>(network.overhead_ns);
    job.events().add(job.now() + static_cast<nanoseconds>(rounds * round_ns), [this] {
      m_step += 1;
      for (locality_number self = 0; self < m_shared.job().size(); ++self) m_shared.job().at(self).add_task({});
    });
  }

  locality_number choose(locality_number self) {
    if (m_placing == placing::fixed) return self;
    if (m_placing == placing::balanced) return m_shared.choose(self);
    const auto least = std::min_element(m_work_left.begin(), m_work_left.end());
    return m_work_left[self] == *least ? self : static_cast<locality_number>(least - m_work_left.begin());
  }

  void place(locality_number self, nanoseconds duration) {
    const locality_number where = choose(self);
    m_work_left[where] += duration;
    if (where == self) return add_task(self, self, duration);
    std::vector<std::byte> content(std::max(m_program.task_bytes, sharing_job::mark_bytes + sizeof duration), task_mark);
    std::memcpy(content.data() + sharing_job::mark_bytes, &duration, sizeof duration);
    m_shared.send_parcel(self, where, content);
  }

  void add_task(locality_number where, locality_number owner, nanoseconds duration) {
    m_shared.job().at(where).add_task({compute(duration), [=, this](simulated_locality&, simulated_thread&) {
                                         m_work_left[where] -= duration;
                                         if (where == owner)
                                           m_results[owner] += 1;
                                         else
                                           m_shared.send_parcel(where, owner,
                                                                std::vector<std::byte>(m_program.task_bytes, result_mark));
                                         return progress::done;
                                       }});
  }

  void on_parcel(locality_number to, locality_number from, bytes_view content) {
    if (content[0] == result_mark) {
      m_results[to] += 1;
      return m_shared.job().at(to).add_task({});
    }
    nanoseconds duration = 0;
    std::memcpy(&duration, content.data() + sharing_job::mark_bytes, sizeof duration);
    add_task(to, from, duration);
  }

  const sharing_program m_program;
  const placing m_placing;
  steer::random_source m_random;
  const job_parameters m_parameters;
  sharing_job m_shared;
  std::vector<std::vector<nanoseconds>> m_durations;  // by step
  std::vector<std::uint32_t> m_results;               // by owner
  std::vector<nanoseconds> m_work_left;               // by locality
  std::uint32_t m_arrived = 0, m_step = 0;
};

}  // namespace

double run_placed(const sharing_program& program, placing how, const job_parameters& parameters,
                  const load_sharing_options& settings) {
  return placed_program(program, how, parameters, settings).run();
}

}  // namespace trimtab::parcels::simulation
