#include "steering.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <new>
#include <optional>

#include "block_time_steering.hpp"
#include "outside_policy.hpp"
#include "pace.hpp"
#include "placement_steering.hpp"
#include "thread_fit.hpp"
#include "trimtab/base/periodic_thread.hpp"
#include "trimtab/base/read_file.hpp"
#include "trimtab/observe/lane_times.hpp"
#include "trimtab/openmp/block_time.hpp"
#include "trimtab/openmp/region_steering.hpp"
#include "trimtab/openmp/steering.hpp"
#include "trimtab/steer/arcs.hpp"
#include "trimtab/steer/conductor.hpp"
#include "trimtab/steer/placement.hpp"
#include "trimtab/steer/recall.hpp"
#include "trimtab/steer/shuffle.hpp"
#include "trimtab/steer/tuner.hpp"
#include "trimtab/steer/wait_policy.hpp"

namespace trimtab::session {

namespace {

using observe::the_recorder;

constexpr double longest_tick_s = 0.3;
constexpr double policy_limit_s = 1;  // then the knobs are brought back by the sampler thread
constexpr double longest_stop_s = 0.1;

// Not what another policy is compared with, or has its own idea of.
bool has_rules_of_ours(const steering_options& chosen) noexcept {
  return chosen.how == tune::frozen || (chosen.how == tune::on && chosen.policy == steer_policy::tuner);
}

struct parts {
  explicit parts(const steering_options& chosen, std::vector<steer::setting> known)
      : record(the_recorder),
        loops(knobs, record, known, chosen.how != tune::frozen,
              has_rules_of_ours(chosen) && chosen.threads != thread_policy::regions),
        threads(steer_threads(chosen, knobs, record)),
        regions(chosen.threads == thread_policy::regions
                    ? std::make_unique<openmp::region_steering>(knobs, record, known, chosen.is_even_if_fixed)
                    : nullptr),
        waits(knobs, record),
        places(knobs, record),
        moves_threads(has_rules_of_ours(chosen)),
        turns_waiting(!chosen.is_waiting_set && (chosen.how == tune::on || chosen.how == tune::shuffle)),
        looks(rhythm_of(chosen)),
        engine(engine_options_of(chosen)),
        conductor(
            engine, knobs, [this] { return ticked_s.load(); },
            [this](const steer::decision& made, bool is_applied) { tell(made, is_applied); }) {
    auto recalled = std::make_unique<steer::recall>(
        std::move(known), [this](const steer::subject_info& subject) { return key_of(subject.id); });
    recall = recalled.get();
    engine.add(std::move(recalled));
    add_thread_policy(chosen, engine);
    if (chosen.how == tune::shuffle) engine.add(std::make_unique<steer::shuffle>(chosen.seed));
    if (moves_threads) engine.add(std::make_unique<steer::placement>());
    if (chosen.how != tune::on) return;
    engine.add(policy_of(chosen));
    if (chosen.policy == steer_policy::tuner) engine.add(std::make_unique<steer::wait_policy>());
  }

  std::unique_ptr<steer::policy> policy_of(const steering_options& chosen) {
    if (chosen.policy == steer_policy::arcs_online)
      return std::make_unique<steer::arcs>(steer::arcs_kind::online, chosen.seed);
    if (chosen.policy == steer_policy::arcs_offline)
      return std::make_unique<steer::arcs>(steer::arcs_kind::offline, chosen.seed);
    if (chosen.policy == steer_policy::outside) {
      const char* const slash = std::strrchr(chosen.policy_file, '/');
      return std::make_unique<outside_policy>(slash == nullptr ? chosen.policy_file : slash + 1, the_recorder.directory(),
                                              [this](const steer::subject_info& subject) { return key_of(subject.id); });
    }
    steer::tuner_options options;
    options.kind = chosen.search;
    options.seed = chosen.seed;
    options.same_as = [this](const steer::subject_info& subject) { return loops.same_as(subject); };
    options.is_left_to_rules = [](const steer::subject_info& subject) {
      return subject.place_of(steer::knobs::block_time).has_value();
    };
    return std::make_unique<steer::tuner>(std::move(options));
  }

  std::string key_of(steer::subject_id subject) const {
    std::string key = loops.key_of(subject);
    return key.empty() && regions ? regions->key_of(subject) : key;
  }
  // Since the first use.
  static double seconds() {
    static const base::ticks begin = base::now();
    return static_cast<double>(base::now() - begin) * the_recorder.clock().ns_per_tick * 1e-9;
  }
  static rhythm rhythm_of(const steering_options& chosen) {
    if (chosen.threads == thread_policy::off && chosen.how == tune::frozen) return of_recall;
    if (chosen.threads == thread_policy::regions || chosen.policy == steer_policy::outside) return of_others;
    return chosen.threads != thread_policy::off ? of_fitting : of_searches;
  }
  static steer::engine_options engine_options_of(const steering_options& chosen) {
    steer::engine_options options;
    options.budget_share = static_cast<double>(chosen.budget_percent) / 100;
    options.clock = base::thread_seconds;
    return options;
  }
  void tell(const steer::decision& made, bool is_applied) {
    if (!is_applied) return;
    record.write(made, base::now());
    looks.decided(made.time_s);
    if (made.what == steer::outcome::kept || made.what == steer::outcome::set) loops.write_costs(made.subject);
  }
  // By the sampler's thread: how long a policy takes is not counted while nothing of the process gets on.
  void tick() {
    const double now_s = seconds();
    ticked_s.store(ticked_s.load() + std::min(now_s - latest_tick_s, longest_tick_s));
    latest_tick_s = now_s;
  }
  // Where numbers of threads are fitted it is not crowded for long, and whoever fits them must not be late.
  void pace_by(steer::snapshot& now) {
    std::size_t most = 0;
    for (const steer::subject_state& each : now.subjects) most = std::max(most, each.measured.size());
    looks.measured(now.time_s, most);
    if (looks.asks(now.time_s)) looks.told(now.time_s, delayed = lanes.delay_share());
    // Of nobody else: loops have no knob against it.
    if (regions && delayed) now.figures.push_back({std::string(steer::figures::run_delay_share), *delayed});
  }
  void advance(bool is_last) {
    steer::snapshot now;
    now.time_s = seconds();
    now.is_last = is_last;
    loops.add_to(now);
    if (regions) regions->add_to(now);
    if (!threads) pace_by(now);
    for (const steer::subject_info& each : now.appeared) subjects.push_back(each.id);
    if (threads) threads->add_to(now);
    if (turns_waiting) waits.add_to(now);
    if (moves_threads) places.add_to(now);
    conductor.advance(std::move(now));
    for (; misfits < recall->misfits().size(); ++misfits)
      the_recorder.unavailable("a setting of the history", recall->misfits()[misfits].c_str(), "trimtab history forget");
  }
  void write_end() {
    for (const steer::subject_id each : subjects) loops.write_costs(each);
    if (threads) threads->conclude();
    if (regions) regions->conclude();
    record.write(engine);
  }

  std::atomic<double> ticked_s{0};
  double latest_tick_s = 0;
  steer::board knobs;
  steer::decision_record record;
  openmp::loop_steering loops;
  std::unique_ptr<openmp::thread_steering> threads;  // nullptr: no consent
  std::unique_ptr<openmp::region_steering> regions;  // nullptr: no consent
  block_time_steering waits;
  placement_steering places;
  bool moves_threads, turns_waiting;
  pace looks;
  steer::engine engine;
  steer::conductor conductor;
  steer::recall* recall = nullptr;
  std::size_t misfits = 0;
  std::vector<steer::subject_id> subjects;
  observe::lane_times lanes;
  std::optional<double> delayed;  // their latest
};

// Never destroyed: the thread may still be in a policy when the program ends.
struct steering_state {
  parts* all = nullptr;
  std::atomic<bool> is_started{false};
  bool is_stopped = false;
  base::periodic_thread thread;
};
steering_state* state = nullptr;

bool start_thread() {
  parts* const all = state->all;
  return state->thread.start(
      "trimtab-steer", {[all] { return all->looks.period_s(parts::seconds()); },
                        [all](bool is_last) {
                          if (!is_last || !all->conductor.is_given_up()) all->advance(is_last);
                        },
                        [all](const char* what) {
                          all->knobs.restore();
                          the_recorder.unavailable("tuning", what, "the program goes on with what was accepted until then");
                        }});
}

// "" where it cannot be read; that is told.
std::string read_file(const char* path, const char* what, const char* remedy) {
  std::string text;
  const int error = base::read_whole_file(path, text);
  if (error != 0) the_recorder.unavailable(what, (std::string(path) + ": " + std::strerror(error)).c_str(), remedy);
  return error == 0 ? text : std::string();
}

std::vector<steer::setting> read_settings(const char* path) {
  if (path == nullptr) return {};
  constexpr auto what = "what earlier runs found", remedy = "trimtab history list";
  const std::string text = read_file(path, what, remedy);
  if (text.empty()) return {};
  steer::parsed_settings read = steer::settings_from_text(text);
  if (!read.error.empty()) the_recorder.unavailable(what, (std::string(path) + ": " + read.error).c_str(), remedy);
  return std::move(read.settings);
}

// One function a line.
std::vector<std::string> read_functions(const char* path) {
  const std::string text = read_file(path, "virtual threads", "trimtab run --virtual-threads writes the file");
  std::vector<std::string> functions;
  for (std::size_t begin = 0, end; begin < text.size(); begin = end + 1) {
    end = std::min(text.find('\n', begin), text.size());
    if (end > begin) functions.push_back(text.substr(begin, end - begin));
  }
  return functions;
}

}  // namespace

void steering_configure(const steering_options& chosen) noexcept {
  if (!chosen.is_on()) return;
  try {
    auto fresh = std::make_unique<steering_state>();
    const std::vector<steer::setting> known = read_settings(chosen.settings);
    fresh->all = new parts(chosen, known);
    if (chosen.how != tune::off && !openmp::begin_steering(known)) {
      the_recorder.unavailable("tuning", "no memory", "");
      return;
    }
    if (chosen.how != tune::off && chosen.virtual_threads != nullptr)
      openmp::allow_virtual_threads(read_functions(chosen.virtual_threads));
    if (fresh->all->turns_waiting) openmp::watch_block_time();
    state = fresh.release();
  } catch (const std::exception& error) {
    the_recorder.unavailable("tuning", error.what(), "the program runs as it would without");
  }
}

void steering_lane_opened() noexcept {
  if (state == nullptr || state->is_started.exchange(true)) return;
  bool has_started = false;
  try {
    has_started = start_thread();
  } catch (const std::bad_alloc&) {
    has_started = false;
  }
  if (has_started) return;
  state->is_stopped = true;
  the_recorder.unavailable("tuning", "no further thread could be made", "raise the limit on processes (ulimit -u)");
}

void steering_ticked() noexcept {
  if (state == nullptr) return;
  try {
    state->all->tick();
    const std::string which = state->all->conductor.look_after(policy_limit_s);
    if (!which.empty())
      the_recorder.unavailable(("policy " + which).c_str(), "it has been busy for longer than a second",
                               "tuning has ended; what was accepted until then stays");
  } catch (const std::exception&) {
    return;  // no memory for the message
  }
}

void steering_stop() noexcept {
  if (state == nullptr || !state->is_started || state->is_stopped) return;
  state->is_stopped = true;
  try {
    if (!state->thread.end(longest_stop_s)) {
      state->all->knobs.restore();
      return;
    }
    state->all->write_end();
  } catch (const std::exception&) {
    state->all->knobs.restore();
  }
}

void steering_after_fork() noexcept {
  if (state == nullptr) return;
  openmp::end_steering();
  openmp::thread_steering::after_fork();
  state = nullptr;
}

}  // namespace trimtab::session
