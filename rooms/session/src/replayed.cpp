#include "replayed.hpp"

#include <cstring>
#include <map>
#include <memory>
#include <stdexcept>
#include <utility>

#include "policies.hpp"
#include "trimtab/openmp/steering.hpp"
#include "trimtab/steer/json_text.hpp"
#include "trimtab/steer/record.hpp"
#include "trimtab/steer/replay.hpp"

namespace trimtab::session {

namespace {

// Decisions as the run's records have them, so that texts are cut off where they were.
class as_json final : public steer::record_target {
 public:
  as_json(std::string& lines, std::uint32_t runtime) : m_lines(lines), m_first(std::uint64_t{runtime} << 32) {}

  void begin(const steer::decision& decision_made, std::uint32_t recorded, bool is_applied) {
    m_line.raw("{").name("number").number(m_first + decision_made.number).name("time_s").number(decision_made.time_s);
    m_line.name("subject").number(std::uint64_t{recorded}).name("is_applied").truth(is_applied);
    m_line.name("policy").text(decision_made.policy).name("changes").raw("[");
  }
  void end() {
    const char* const evidence = m_latest.text + std::strlen(m_latest.text) + 1;
    m_line.raw("]").name("outcome").number(static_cast<std::uint64_t>(m_latest.outcome));
    m_line.name("gain").number(m_latest.gain).name("uncertainty").number(m_latest.uncertainty);
    m_line.name("pairs").number(std::uint64_t{m_latest.pairs});
    m_line.name("reason").text(m_latest.text).name("evidence").text(evidence).raw("}\n");
    m_lines += std::exchange(m_line, {}).take();
  }

  std::uint32_t add_knob(steer::subject_id, const char* name, const char*, const char*) override {
    m_knobs.emplace_back(name);
    return static_cast<std::uint32_t>(m_knobs.size() - 1);
  }
  std::uint16_t add_policy(const char*) override { return 0; }
  void decide(const observe::decision& record) override {
    m_latest = record;
    m_line.next().raw("{").name("knob").text(m_knobs[record.knob]);
    m_line.name("from").raw(std::to_string(record.from)).name("to").raw(std::to_string(record.to)).raw("}");
  }
  void fact(const char*, const char*) override {}
  void unavailable(const char*, const char*, const char*) override {}

 private:
  std::string& m_lines;
  std::uint64_t m_first;
  std::vector<std::string> m_knobs;
  steer::json m_line;
  observe::decision m_latest{};
};

std::string to_json(const steer::recording& recording, const std::optional<steer::replay_difference>& other,
                    std::uint64_t decisions) {
  steer::json line;
  line.raw("{").name("snapshots").number(std::uint64_t{recording.steps.size()}).name("decisions").number(decisions);
  line.name("first").number(std::uint64_t{recording.head.runtime} << 32);
  // Of one that was cut off nobody knows what else was decided.
  line.name("end_s").number(recording.steps.back().told.time_s);
  line.name("is_whole").truth(recording.steps.back().told.is_last);
  line.name("recorded_until").number(recording.steps.back().decided).name("difference");
  if (!other) return line.raw("null}\n").take();
  line.raw("{").name("snapshot").number(std::uint64_t{other->step + 1}).name("time_s").number(other->time_s);
  return line.name("recorded").number(other->recorded).name("found").number(other->found).raw("}}\n").take();
}

// An engine, and what the policies of it are to be told besides snapshots.
class rebuilt {
 public:
  explicit rebuilt(const steer::recording& recording) : m_of(recording), m_engine(steer::options_of(recording.head)) {}

  // What is missing; "": nothing.
  std::string add_policies() {
    const steer::policy_context context{m_of.head.settings,
                                        [this](const steer::subject_info& subject) { return m_about[subject.id].key; },
                                        openmp::same_points};
    for (const steer::policy_description& policy : m_of.head.policies) {
      steer::made_policy fresh = make_policy(policy, context, outside());
      if (!fresh.made)
        return fresh.mistake + (policy.kind == "of-the-program" ? " here: it is the program's own, and replayed by it" : "");
      m_engine.add(std::move(fresh.made));
    }
    return "";
  }

  std::optional<steer::replay_difference> run(std::string& lines, std::uint64_t& decisions) {
    const auto target = std::make_shared<as_json>(lines, m_of.head.runtime);
    steer::decision_record record(std::make_unique<shared_target>(target));
    return steer::replay(m_of, m_engine,
                         {[&](const steer::recorded_step& next) {
                            m_now = &next;
                            for (const steer::recorded_subject& subject : next.about) m_about[subject.id] = subject;
                            for (const steer::subject_info& subject : next.told.appeared) record.add(subject, "");
                          },
                          [&](const steer::decision& decision_made, const steer::recorded_step&, bool is_applied) {
                            decisions += 1;
                            target->begin(decision_made, m_about[decision_made.subject].recorded, is_applied);
                            record.write(decision_made, 0);
                            target->end();
                          }});
  }

 private:
  // The record owns its target, which is needed here, too.
  class shared_target final : public steer::record_target {
   public:
    explicit shared_target(std::shared_ptr<as_json> to) : m_to(std::move(to)) {}
    std::uint32_t add_knob(steer::subject_id subject, const char* name, const char* key, const char* names) override {
      return m_to->add_knob(subject, name, key, names);
    }
    std::uint16_t add_policy(const char* name) override { return m_to->add_policy(name); }
    void decide(const observe::decision& record) override { m_to->decide(record); }
    void fact(const char*, const char*) override {}
    void unavailable(const char*, const char*, const char*) override {}

   private:
    std::shared_ptr<as_json> m_to;
  };

  // What was said to a policy outside does not matter any more; what it said does.
  steer::outside_exchange outside() {
    return {[this](const std::string&) {
              if (m_now->fault) throw std::runtime_error(*m_now->fault);
            },
            [this](std::string& into) {
              if (m_now->answer) into = *m_now->answer;
              if (!m_now->answer && m_now->fault) throw std::runtime_error(*m_now->fault);
              return m_now->answer.has_value();
            }};
  }

  const steer::recording& m_of;
  const steer::recorded_step* m_now = nullptr;
  std::map<steer::subject_id, steer::recorded_subject> m_about;
  steer::engine m_engine;
};

}  // namespace

replayed replay(std::string_view text) {
  replayed result;
  const steer::recording recording = steer::recording_from_text(text);
  result.error = recording.error;
  if (!recording.error.empty()) return result;
  if (recording.steps.empty()) {
    result.error = "expected snapshots, found none that is whole: nothing was told yet";
    return result;
  }
  rebuilt again_built(recording);
  result.error = again_built.add_policies();
  if (!result.error.empty()) return result;
  std::uint64_t decisions = 0;
  const std::optional<steer::replay_difference> other = again_built.run(result.lines, decisions);
  result.lines += to_json(recording, other, decisions);
  result.is_same = !other;
  return result;
}

}  // namespace trimtab::session
