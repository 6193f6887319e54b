// Puts together what steers one runtime: knobs, policies, threads, records.
#include "trimtab/runtime/tuning.hpp"

#include <errno.h>

#include <algorithm>
#include <iterator>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "cap_source.hpp"
#include "outside.hpp"
#include "priority_source.hpp"
#include "scheduler_places.hpp"
#include "trimtab.h"
#include "trimtab/runtime/known_settings.hpp"
#include "trimtab/runtime/program_record.hpp"
#include "trimtab/runtime/steering_threads.hpp"
#include "trimtab/steer/history_policy.hpp"
#include "trimtab/steer/log.hpp"
#include "trimtab/steer/manual_panel.hpp"
#include "trimtab/steer/manual_policy.hpp"
#include "trimtab/steer/tasks_advice.hpp"
#include "trimtab/tasks/core/recording.hpp"
#include "tuned_work.hpp"

namespace trimtab {

namespace task_steering {

namespace {

constexpr steer::subject_id cap_subject = 1;
// Far above those of loops and steps, which count from the cap's.
constexpr steer::subject_id priorities_subject = 1u << 20;

std::string_view word_of(tuning_objective objective) noexcept {
  return tuning_objective_words[static_cast<std::size_t>(objective)];
}

// By what others do meanwhile, or what the user demands: nothing for later runs.
bool is_of_the_moment(const tuning_options& options) noexcept {
  return options.policy == cap_policy::fit || options.policy == cap_policy::power_limit;
}

// How later runs find it, which may start other programs, too; "": not at all.
std::string key_of(const steer::subject_info& subject, const tuning_options& options) {
  if (subject.id == cap_subject && is_of_the_moment(options)) return "";
  std::string key = "tasks/" + std::string(program_invocation_short_name) + "/" + subject.name;
  // What is best under one limit of power is not under another.
  if (options.power_limit_w > 0) key += " at " + steer::exactly(options.power_limit_w) + " W";
  if (options.objective != tuning_objective::time) key.append(" for ").append(word_of(options.objective));
  return key;
}

using described = steer::policy_description;

void describe_searches(const tuning_options& options, std::vector<described>& to) {
  const bool is_ruled = options.workers && options.policy != cap_policy::tuner;
  if (is_ruled && options.policy == cap_policy::queue_length) to.push_back({"queue-length"});
  // Proving it takes long where each worker waits for three others; the tuner goes on from there.
  if (options.workers && !is_ruled) to.push_back({"oversubscription"});
  described tuner{"tuner", {{"search", "hill-climbing"}, {"seed", std::to_string(options.seed)}}};
  if (is_ruled) tuner.options.push_back({"leaves", std::string(worker_cap::knob)});
  if (options.grain || options.priority || !is_ruled) to.push_back(std::move(tuner));
}

std::vector<described> describe_policies(const tuning_options& options, const known_settings& settings) {
  std::vector<described> described_policies{{std::string(steer::manual_policy::kind)}, {"history"}};
  if (!options.policies.empty()) {
    if (!settings.is_frozen)
      described_policies.insert(described_policies.end(), options.policies.size(), {"of-the-program"});
    return described_policies;
  }
  if (options.workers && options.policy == cap_policy::power_limit)
    described_policies.push_back({"power-limit", {{"watts", steer::exactly(options.power_limit_w)}}});
  if (options.workers && options.policy == cap_policy::fit)
    described_policies.push_back({"fit", {{"knob", std::string(worker_cap::knob)}}});
  if (!settings.policy_file.empty())
    described_policies.push_back(describe_outside(settings.policy_file));
  else if (!settings.is_frozen)
    describe_searches(options, described_policies);
  return described_policies;
}

std::uint32_t next_number() noexcept {
  static std::atomic<std::uint32_t> last_number{0};
  return last_number.fetch_add(1) + 1;
}

energy_source energy_of(const tuning_options& options) { return options.energy_j ? options.energy_j : package_energy(); }

// What a simulated meter has counted, as a counter of the run: the recorder knows the machine's own meters only.
class energy_counter {
 public:
  explicit energy_counter(const tuning_options& options) {
    if (options.energy_source.empty() || !options.energy_j) return;
    m_energy_j = options.energy_j;
    m_counter = tasks::recording::counter("energy simulated", "J", true);
  }
  // As often as the recorder reads meters.
  void sample() {
    if (m_counter == 0) return;
    const base::ticks now = base::now();
    if (static_cast<double>(now - m_sampled_at) * tasks::runtime::ns_per_tick() >= period_ns) write(now);
  }
  void sample_last() {
    if (m_counter != 0) write(base::now());
  }

 private:
  static constexpr double period_ns = 1e8;
  void write(base::ticks now) {
    m_sampled_at = now;
    if (const std::optional<double> joules = m_energy_j()) tasks::recording::set(m_counter, *joules);
  }

  energy_source m_energy_j;
  std::uint32_t m_counter = 0;
  base::ticks m_sampled_at = 0;
};

}  // namespace

// One runtime's companion.
class tuning {
 public:
  tuning(tasks::runtime& owner_runtime, const tuning_options& options)
      : m_of(owner_runtime),
        m_options(options),
        m_scheduler(chosen_scheduler()),
        m_number(next_number()),
        m_cap(owner_runtime, cap_subject, "runtime " + std::to_string(m_number), energy_of(options), options.objective),
        m_registry(*m_knobs, [this](const steer::knob_offer& offered) { offer(offered); }),
        m_cap_source(owner_runtime, m_cap, m_registry, how_to_turn_cap()),
        m_work(m_cap, owner_runtime.workers(), options.grain, m_registry, key_function()),
        m_record(m_number, options.print_decisions),
        m_known(settings_of_earlier_runs()),
        m_priorities(owner_runtime, priorities_subject, m_registry, m_cap.costs(), how_to_turn_priorities()),
        m_built(built()),
        m_snapshots(m_record.snapshots_of(m_built)),
        m_threads({options.period_s, options.patience_s, steer::options_of(m_built), m_knobs}, policies(),
                  {[this](steer::snapshot& snapshot) { look(snapshot); },
                   [this](const steer::decision& decision_made, bool is_applied) { told(decision_made, is_applied); },
                   [this](const steer::snapshot& latest_snapshot, steer::decision_number decided) {
                     stepped(latest_snapshot, decided);
                   }}) {
    if (m_scheduler) m_scheduler->begun(owner_runtime.recorded_as());
    m_of.set_grain_source(&m_work);
    const std::lock_guard guard(living_lock);
    living.push_back(this);
  }
  ~tuning() {
    {
      const std::lock_guard guard(living_lock);
      std::erase(living, this);
    }
    m_of.set_grain_source(nullptr);
    m_threads.end();
    conclude();
  }
  tuning(const tuning&) = delete;
  tuning& operator=(const tuning&) = delete;

  // nullptr: the runtime has none.
  static std::shared_ptr<repeated_work> add_steps(const tasks::runtime& owner_runtime, const std::string& name,
                                                  std::vector<std::int64_t> sizes, std::int64_t initial) {
    const std::lock_guard guard(living_lock);
    const auto match = std::find_if(living.begin(), living.end(),
                                    [&](const tuning* candidate) { return &candidate->m_of == &owner_runtime; });
    return match == living.end() ? nullptr : (*match)->m_work.add_steps(name, std::move(sizes), initial);
  }

 private:
  std::function<std::string(const steer::subject_info&)> key_function() const {
    return [this](const steer::subject_info& subject) { return key_of(subject, m_options); };
  }
  cap_source::options how_to_turn_cap() const {
    return {m_options.workers, m_options.workers && m_options.policy == cap_policy::fit, key_of(m_cap.info(), m_options)};
  }
  priority_source::options how_to_turn_priorities() const {
    return {m_options.priority, key_of({priorities_subject, std::string(priority_source::name), {}}, m_options),
            m_known.settings};
  }
  steer::recording_head built() const {
    steer::recording_head head = steer::head_of({});
    head.runtime = m_number;
    head.policies = describe_policies(m_options, m_known);
    head.settings = m_known.settings;
    return head;
  }

  std::vector<std::unique_ptr<steer::policy>> policies() {
    const steer::policy_context context{m_built.settings, key_function(), {}};
    std::vector<std::unique_ptr<steer::policy>> policies;
    auto position = m_options.policies.begin();
    for (const described& policy : m_built.policies) {
      policies.push_back(make(policy, position, context));
      if (policy.kind == "history") m_history = dynamic_cast<const steer::history_policy*>(policies.back().get());
    }
    return policies;
  }

  using own_policies = std::vector<std::function<std::unique_ptr<steer::policy>()>>::const_iterator;
  std::unique_ptr<steer::policy> make(const described& description, own_policies& position,
                                      const steer::policy_context& context) {
    if (description.kind == "of-the-program") return (*position++)();
    if (description.kind != steer::outside_kind) return steer::make_policy(description, context).made;
    auto policy_made = make_outside(description, "runtime-" + std::to_string(m_number), key_function());
    m_outside = policy_made.get();
    return policy_made;
  }

  void stepped(const steer::snapshot& latest_snapshot, steer::decision_number decided) {
    if (!m_snapshots) return;
    for (const steer::subject_info& subject : latest_snapshot.appeared)
      m_snapshots->about({subject.id, key_of(subject, m_options), m_record.recorded(subject.id)});
    record_answers(m_outside, m_snapshots.get());
    m_snapshots->step(latest_snapshot, decided);
  }

  steer::manual_panel::place panel_place() const {
    const char* const folder = trimtab_process_folder();
    return {folder == nullptr ? "" : folder, "runtime-" + std::to_string(m_number), std::uint64_t{m_number} << 32};
  }
  void offer(const steer::knob_offer& offered) {
    m_record.add(offered.info, offered.recorded, offered.key);
    m_by_hand.add(offered.info, m_record.recorded(offered.info.id), m_record.knobs_of(offered.info.id));
  }

  void look(steer::snapshot& snapshot) {
    for (steer::knob_source* source : m_sources) source->add_to(snapshot);
    m_by_hand.add_to(snapshot);
    m_energy.sample();
  }

  void told(const steer::decision& decision_made, bool is_applied) {
    m_by_hand.decided(decision_made, is_applied);
    if (!is_applied && m_snapshots) m_snapshots->unapplied(decision_made.number);
    m_record.write(decision_made, is_applied);
    const steer::subject_info* const subject_known = m_record.find(decision_made.subject);
    if (m_options.told && subject_known != nullptr) m_options.told(decision_made, *subject_known, is_applied);
  }

  void conclude() {
    const std::string reason = m_threads.given_up();
    constexpr const char *feature = "what earlier runs found", *remedy = "trimtab history list";
    if (!m_known.error.empty()) m_record.unavailable(feature, m_known.error.c_str(), remedy);
    if (reason.empty()) {
      m_record.write(m_threads.engine());
      for (const std::string& misfit : m_history->misfits()) m_record.unavailable(feature, misfit.c_str(), remedy);
    } else {
      m_record.unavailable(reason.c_str(), "it did not return, or threw",
                           "what was on trial was undone, and nothing was steered any more");
    }
    if (m_options.workers && m_options.policy == cap_policy::power_limit && !m_cap.has_meter())
      m_record.unavailable("power limit", "there is no power meter that may be read in /sys/class/powercap",
                           "nothing was limited; as root, or: sudo chmod a+r /sys/class/powercap/*/energy_uj");
    m_energy.sample_last();
    if (m_cap.costs().objective() != m_options.objective)
      m_record.unavailable("energy as objective", "there is no power meter that may be read in /sys/class/powercap",
                           "time was tuned instead; as root, or: sudo chmod a+r /sys/class/powercap/*/energy_uj");
    if (!m_options.energy_source.empty())
      m_record.unavailable("measured power", m_options.energy_source.c_str(), "--trimtab:power-meter=powercap measures it");
    if (m_cap_source.is_gone())
      m_record.unavailable("cap of workers", "the program has set it", "it was left to the program");
    if (m_priorities.reason() == priority_source::obstacle::policy_without_priorities)
      m_record.unavailable("priorities of tasks", "the scheduling policy has none", "--trimtab:policy=local-priority has");
    else if (m_priorities.reason() == priority_source::obstacle::other_runtime)
      m_record.unavailable("priorities of tasks", "another runtime of the process turns them",
                           "kinds of task belong to the process: they were left to the first runtime");
    if (m_options.scheduler && !m_scheduler)
      m_record.unavailable("scheduling policy", "the program has set it", "it was left to the program");
    const std::vector<steer::figure> figures = m_cap.summary();
    if (m_scheduler)
      m_scheduler->ended({figures, m_cap.is_mostly_told() ? m_work.totals() : std::vector<work_total>{}});
    else if (const auto advice = steer::advise_policy(name_of(m_of.policy()), m_of.workers(), figures))
      m_record.advise(advice->policy, advice->reason);
    if (m_options.print_decisions) m_record.print(stderr);
  }

  static inline std::mutex living_lock;
  static inline std::vector<tuning*> living;

  tasks::runtime& m_of;
  const tuning_options m_options;
  const std::unique_ptr<scheduler_lease> m_scheduler;  // nullptr: the policy is not ours to choose
  const std::uint32_t m_number;
  worker_cap m_cap;
  const std::shared_ptr<steer::board> m_knobs = std::make_shared<steer::board>();
  steer::manual_panel m_by_hand{panel_place(), *m_knobs};
  steer::knob_registry m_registry;
  cap_source m_cap_source;
  tuned_work m_work;
  program_record m_record;
  energy_counter m_energy{m_options};
  known_settings m_known;
  priority_source m_priorities;
  steer::knob_source* const m_sources[3] = {&m_cap_source, &m_work, &m_priorities};
  const steer::recording_head m_built;
  std::unique_ptr<steer::recording_writer> m_snapshots;  // nullptr: nobody asked for them
  const steer::history_policy* m_history = nullptr;
  steer::outside_policy* m_outside = nullptr;  // nullptr: there is none
  steering_threads m_threads;                  // last: they use all of the above
};

}  // namespace task_steering

std::function<std::shared_ptr<void>(tasks::runtime&)> tuned(const tuning_options& options) {
  tuning_options requested_options = options;
  if (requested_options.power_limit_w > 0) {
    requested_options.workers = true;
    requested_options.policy = cap_policy::power_limit;
  }
  if (!requested_options.workers && !requested_options.grain && !requested_options.scheduler && !requested_options.priority)
    return {};
  if (requested_options.policy == cap_policy::power_limit && !(requested_options.power_limit_w > 0))
    throw std::invalid_argument("trimtab: the cap of workers is to be set by a power limit, and power-limit is " +
                                std::to_string(requested_options.power_limit_w) + ", expected watts above 0");
  return [requested_options](tasks::runtime& owner_runtime) -> std::shared_ptr<void> {
    return std::make_shared<task_steering::tuning>(owner_runtime, requested_options);
  };
}

tasks::runtime_options tuned(tasks::runtime_options requested_options, const tuning_options& options) {
  using companion = std::function<std::shared_ptr<void>(tasks::runtime&)>;
  if (companion tunes = tuned(options)) {
    requested_options.companion = [own = std::move(requested_options.companion),
                                   tunes](tasks::runtime& rt) -> std::shared_ptr<void> {
      // The program's own goes first.
      using pair = std::pair<std::shared_ptr<void>, std::shared_ptr<void>>;
      std::shared_ptr<void> first = own ? own(rt) : nullptr;
      return std::make_shared<pair>(std::move(first), tunes(rt));
    };
  }
  if (options.scheduler && !requested_options.policy && !requested_options.choose_policy) {
    const task_steering::scheduler_request request{options.first_scheduler, options.policies.empty(),
                                                   options.print_decisions, options.seed, options.told};
    requested_options.choose_policy = [request](std::uint32_t workers) {
      return task_steering::choose_scheduler(request, workers);
    };
  }
  return requested_options;
}

struct tuned_steps::state {
  std::shared_ptr<task_steering::repeated_work> work;
  task_steering::repeated_work::begun begun;
  base::ticks began = 0;
};

tuned_steps::tuned_steps(tasks::runtime& owner_runtime, const std::string& name)
    : tuned_steps(owner_runtime, name, {0}, 0) {}

tuned_steps::tuned_steps(tasks::runtime& owner_runtime, const std::string& name, std::vector<std::int64_t> sizes,
                         std::int64_t initial)
    : m_initial(initial), m_is_sized(sizes.size() > 1) {
  if (std::find(sizes.begin(), sizes.end(), initial) == sizes.end())
    throw std::invalid_argument("trimtab: steps " + name + " begin with size " + std::to_string(initial) +
                                ", expected one of the sizes that may be chosen");
  if (auto work = task_steering::tuning::add_steps(owner_runtime, name, std::move(sizes), initial))
    m_steps = std::make_shared<state>(state{std::move(work), {}, 0});
}

tuned_steps::~tuned_steps() = default;

std::int64_t tuned_steps::begin() noexcept {
  if (m_steps == nullptr) return m_initial;
  m_steps->begun = m_steps->work->begin();
  m_steps->began = base::now();
  return m_steps->begun.size;
}

void tuned_steps::end(double units) noexcept {
  if (m_steps == nullptr) return;
  const double ticks = static_cast<double>(base::now() - m_steps->began);
  m_steps->work->end(m_steps->begun, ticks * tasks::runtime::ns_per_tick() * 1e-9, units);
}

}  // namespace trimtab
