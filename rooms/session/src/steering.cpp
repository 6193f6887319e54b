#include "steering.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <new>
#include <optional>

#include "knob_sources.hpp"
#include "machine_look.hpp"
#include "pace.hpp"
#include "policies.hpp"
#include "trimtab/base/append_file.hpp"
#include "trimtab/base/periodic_thread.hpp"
#include "trimtab/base/read_file.hpp"
#include "trimtab/observe/lane_times.hpp"
#include "trimtab/observe/policy_files.hpp"
#include "trimtab/openmp/steering.hpp"
#include "trimtab/steer/conductor.hpp"
#include "trimtab/steer/history_policy.hpp"
#include "trimtab/steer/manual_panel.hpp"
#include "trimtab/steer/recording_writer.hpp"

namespace trimtab::session {

namespace {

using observe::the_recorder;

constexpr double longest_tick_s = 0.3;
constexpr double policy_limit_s = 1;  // then the knobs are brought back by the sampler thread
constexpr double longest_stop_s = 0.1;
constexpr double longest_end_s = 2;

steer::outside_exchange exchange_in(const std::string& folder) {
  const observe::policy_files files(folder, "");
  return {[files](const std::string& snapshot) { files.put_snapshot(snapshot); },
          [files](std::string& into) { return files.take_answer(into); }};
}

struct parts {
  explicit parts(const steering_options& chosen, std::vector<steer::setting> settings)
      : record(the_recorder),
        by_hand({the_recorder.directory()}, knobs),
        registry(knobs, [this](const steer::knob_offer& offered) { offer(offered); }),
        sources(make_sources(chosen, registry, settings)),
        fits_threads(chosen.fits_threads()),
        has_regions(chosen.threads == thread_policy::regions),
        looks(rhythm_of(chosen)),
        built(engine_of(chosen, std::move(settings))),
        engine(options_with_clock(built)),
        conductor(
            engine, knobs, [this] { return ticked_s.load(); },
            [this](const steer::decision& decision_made, bool is_applied) { tell(decision_made, is_applied); },
            [this](const steer::snapshot& latest_snapshot, steer::decision_number decided) {
              write_down(latest_snapshot, decided);
            }) {
    for (const steer::policy_description& policy : built.policies) add(policy);
    if (outside != nullptr && !fits_threads) machine.emplace();
    if (the_recorder.options().has_snapshots) recorded = recording_into(the_recorder.directory());
    for (const auto& source : sources) source->begin();
  }

  void add(const steer::policy_description& description) {
    const auto key = [this](const steer::subject_info& subject) { return registry.key_of(subject.id); };
    steer::made_policy fresh =
        make_policy(description, {built.settings, key, openmp::same_points}, exchange_in(the_recorder.directory()));
    if (!fresh.mistake.empty())
      the_recorder.unavailable("a tunable of --threads", fresh.mistake.c_str(),
                               "docs/reference/thread-policies.md lists them");
    if (!fresh.made) return;
    if (description.kind == "history") history = dynamic_cast<steer::history_policy*>(fresh.made.get());
    if (description.kind == steer::outside_kind) outside = dynamic_cast<steer::outside_policy*>(fresh.made.get());
    engine.add(std::move(fresh.made));
  }
  std::unique_ptr<steer::recording_writer> recording_into(std::string folder) const {
    return std::make_unique<steer::recording_writer>(
        built, steer::recording_writer::into{[file = std::move(folder) + "/snapshots.txt"](std::string_view text) {
                                               return base::append_file(file.c_str(), text);
                                             },
                                             [](const std::string& reason) {
                                               the_recorder.unavailable("further snapshots", reason.c_str(),
                                                                        "the run can be replayed until there");
                                             }});
  }
  void write_down(const steer::snapshot& latest_snapshot, steer::decision_number decided) {
    if (!recorded) return;
    for (const steer::subject_info& subject : latest_snapshot.appeared)
      recorded->about({subject.id, registry.key_of(subject.id), subject.id});
    if (outside != nullptr) {
      if (auto answer = outside->take_answered()) recorded->answered(*std::move(answer));
      if (auto fault = outside->take_fault()) recorded->failed(*std::move(fault));
    }
    recorded->step(latest_snapshot, decided);
  }

  // Since the first use.
  static double seconds() {
    static const base::ticks begin = base::now();
    return static_cast<double>(base::now() - begin) * the_recorder.clock().ns_per_tick * 1e-9;
  }
  static rhythm rhythm_of(const steering_options& chosen) {
    if (chosen.threads == thread_policy::off && chosen.has_settings_only()) return of_recall;
    if (chosen.threads == thread_policy::regions || chosen.policy == steer_policy::outside) return of_others;
    return chosen.threads != thread_policy::off ? of_fitting : of_searches;
  }
  static steer::engine_options options_with_clock(const steer::recording_head& built) {
    steer::engine_options options = steer::options_of(built);
    options.clock = base::thread_seconds;
    return options;
  }
  void offer(const steer::knob_offer& offered) {
    record.add(offered.info, offered.key);
    by_hand.add(offered.info, offered.info.id, record.knobs_of(offered.info.id));
    if (by_hand.failure() == 0 || std::exchange(has_told_of_panel, true)) return;
    the_recorder.unavailable("turning knobs by hand", std::strerror(by_hand.failure()),
                             "everything but trimtab top --set works");
  }
  void tell(const steer::decision& decision_made, bool is_applied) {
    by_hand.decided(decision_made, is_applied);
    if (!is_applied && recorded) recorded->unapplied(decision_made.number);
    if (!is_applied) return;
    record.write(decision_made, base::now());
    looks.decided(decision_made.time_s);
    for (const auto& source : sources) source->decided(decision_made);
  }
  // By the sampler's thread: how long a policy takes is not counted while nothing of the process gets on.
  void tick() {
    const double now_s = seconds();
    ticked_s.store(ticked_s.load() + std::min(now_s - latest_tick_s, longest_tick_s));
    latest_tick_s = now_s;
  }
  // Where numbers of threads are fitted it is not crowded for long, and whoever fits them must not be late.
  void pace_by(steer::snapshot& now) {
    for (const steer::subject_state& subject : now.subjects)
      for (const steer::figure& figure : subject.figures)
        if (figure.name == steer::figures::instance_seconds) looks.measured(now.time_s, subject.id, figure.value);
    if (looks.asks(now.time_s)) looks.told(now.time_s, delayed = lanes.delay_share());
    // Of nobody else: loops have no knob against it.
    if ((has_regions || outside != nullptr) && delayed)
      now.figures.push_back({std::string(steer::figures::run_delay_share), *delayed});
  }
  double period_s() const {
    const double now_s = seconds();
    return looks.period_s(
        now_s, outside == nullptr && std::all_of(sources.begin(), sources.end(),
                                                 [now_s](const auto& source) { return source->is_at_rest(now_s); }));
  }
  void advance(bool is_last) {
    steer::snapshot now;
    now.time_s = seconds();
    now.is_last = is_last;
    for (const auto& source : sources) source->add_to(now);
    if (!fits_threads) pace_by(now);
    if (machine) machine->add_to(now.figures);
    by_hand.add_to(now);
    conductor.advance(std::move(now));
    for (; misfits < history->misfits().size(); ++misfits)
      the_recorder.unavailable("a setting of the history", history->misfits()[misfits].c_str(), "trimtab history forget");
  }
  void write_end() {
    for (const auto& source : sources) source->conclude();
    record.write(engine);
  }

  std::atomic<double> ticked_s{0};
  double latest_tick_s = 0;
  steer::board knobs;
  steer::decision_record record;
  steer::manual_panel by_hand;
  bool has_told_of_panel = false;
  steer::knob_registry registry;
  const knob_sources sources;
  const bool fits_threads, has_regions;
  pace looks;
  const steer::recording_head built;
  steer::engine engine;
  steer::conductor conductor;
  std::unique_ptr<steer::recording_writer> recorded;  // nullptr: nobody asked for it
  const steer::history_policy* history = nullptr;
  steer::outside_policy* outside = nullptr;  // nullptr: there is none
  std::optional<machine_look> machine;       // of a policy outside, where nobody fits threads
  std::size_t misfits = 0;
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
  return state->thread.start("trimtab-steer", {[all] { return all->period_s(); },
                                               [all](bool is_last) {
                                                 if (!is_last || !all->conductor.is_given_up()) all->advance(is_last);
                                               },
                                               [all](const char* feature) {
                                                 all->knobs.restore();
                                                 the_recorder.unavailable(
                                                     "tuning", feature,
                                                     "the program goes on with what was accepted until then");
                                               }});
}

// "" where it cannot be read; that is told.
std::string read_file(const char* path, const char* feature, const char* remedy) {
  std::string text;
  const int error = base::read_whole_file(path, text);
  if (error != 0) the_recorder.unavailable(feature, (std::string(path) + ": " + std::strerror(error)).c_str(), remedy);
  return error == 0 ? text : std::string();
}

std::vector<steer::setting> read_settings(const char* path) {
  if (path == nullptr) return {};
  constexpr auto feature = "what earlier runs found", remedy = "trimtab history list";
  const std::string text = read_file(path, feature, remedy);
  if (text.empty()) return {};
  steer::parsed_settings read = steer::settings_from_text(text);
  if (!read.error.empty()) the_recorder.unavailable(feature, (std::string(path) + ": " + read.error).c_str(), remedy);
  return std::move(read.settings);
}

}  // namespace

void steering_configure(const steering_options& chosen) noexcept {
  if (!chosen.is_on()) return;
  try {
    auto fresh = std::make_unique<steering_state>();
    fresh->all = new parts(chosen, read_settings(chosen.settings));
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
    const std::string overdue = state->all->conductor.look_after(policy_limit_s);
    if (!overdue.empty())
      the_recorder.unavailable(("policy " + overdue).c_str(), "it has been busy for longer than a second",
                               "tuning has ended; what was accepted until then stays");
  } catch (const std::exception&) {
    return;  // no memory for the message
  }
}

namespace {
bool stop_within(double patience_s) noexcept {
  if (state == nullptr || !state->is_started || state->is_stopped) return true;
  state->is_stopped = true;
  bool has_ended = false;
  try {
    has_ended = state->thread.end(patience_s);
    if (has_ended)
      state->all->write_end();
    else
      state->all->knobs.restore();
  } catch (const std::exception&) {
    state->all->knobs.restore();
  }
  return has_ended;
}
}  // namespace

void steering_stop() noexcept { stop_within(longest_stop_s); }

bool steering_end_thread() noexcept { return stop_within(longest_end_s); }

void steering_after_fork() noexcept {
  if (state == nullptr) return;
  for (const auto& source : state->all->sources) source->after_fork();
  state = nullptr;
}

}  // namespace trimtab::session
