#include "knob_sources.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "block_time_steering.hpp"
#include "memory_steering.hpp"
#include "placement_steering.hpp"
#include "program_knobs.hpp"
#include "thread_fit.hpp"
#include "trimtab/base/read_file.hpp"
#include "trimtab/observe/recorder.hpp"
#include "trimtab/observe/words.hpp"
#include "trimtab/openmp/region_steering.hpp"
#include "trimtab/openmp/steering.hpp"

namespace trimtab::session {

namespace {

using observe::the_recorder;

struct source_context {
  const steering_options& chosen;
  steer::knob_registry& registry;
  const std::vector<steer::setting>& known;
};
using source = std::unique_ptr<steer::knob_source>;  // nullptr: not with these options

// One function a line.
std::vector<std::string> read_functions(const char* path) {
  std::string text;
  if (const int error = base::read_whole_file(path, text); error != 0)
    the_recorder.unavailable(observe::words::missing_kind::virtual_threads,
                             (std::string(path) + ": " + std::strerror(error)).c_str(),
                             "trimtab run --virtual-threads writes the file");
  std::vector<std::string> functions;
  for (std::size_t begin = 0, end; begin < text.size(); begin = end + 1) {
    end = std::min(text.find('\n', begin), text.size());
    if (end > begin) functions.push_back(text.substr(begin, end - begin));
  }
  return functions;
}

class loops final : public openmp::loop_steering {
 public:
  explicit loops(const source_context& context)
      : loop_steering(context.registry, context.known, !context.chosen.has_settings_only(),
                      context.chosen.has_rules_of_ours() && context.chosen.threads != thread_policy::regions),
        m_is_changed(context.chosen.how != tuning_mode::off),
        m_virtual_threads(context.chosen.virtual_threads),
        m_known(context.known) {}
  void begin() override {
    if (!m_is_changed) return;
    if (!openmp::begin_steering(m_known)) throw std::bad_alloc();
    if (m_virtual_threads != nullptr) openmp::allow_virtual_threads(read_functions(m_virtual_threads));
  }

 private:
  bool m_is_changed;
  const char* m_virtual_threads;  // a path; nullptr: no consent
  std::vector<steer::setting> m_known;
};

bool turns_waiting(const steering_options& chosen) noexcept {
  return !chosen.is_waiting_set && (chosen.how == tuning_mode::on || chosen.how == tuning_mode::shuffle);
}

bool turns_memory(const steering_options& chosen) noexcept {
  return !chosen.is_memory_set && (chosen.how == tuning_mode::on || chosen.how == tuning_mode::shuffle);
}

constexpr source (*table[])(const source_context&) = {
    [](const source_context& with) -> source { return std::make_unique<loops>(with); },
    [](const source_context& with) -> source {
      if (with.chosen.threads != thread_policy::regions) return nullptr;
      return std::make_unique<openmp::region_steering>(with.registry, with.known, with.chosen.is_even_if_fixed);
    },
    [](const source_context& with) -> source { return steer_threads(with.chosen, with.registry); },
    [](const source_context& with) -> source {
      return turns_waiting(with.chosen) ? std::make_unique<block_time_steering>(with.registry) : nullptr;
    },
    [](const source_context& with) -> source {
      if (!turns_memory(with.chosen)) return nullptr;
      return std::make_unique<memory_steering>(with.registry, with.chosen.max_memory_bytes);
    },
    [](const source_context& with) -> source {
      return with.chosen.has_rules_of_ours() ? std::make_unique<placement_steering>(with.registry) : nullptr;
    },
    [](const source_context& with) -> source {
      if (with.chosen.how == tuning_mode::off) return nullptr;
      return std::make_unique<program_knobs>(with.registry, with.known);
    },
};

}  // namespace

knob_sources make_sources(const steering_options& chosen, steer::knob_registry& registry,
                          const std::vector<steer::setting>& settings) {
  knob_sources sources;
  for (const auto make_source : table)
    if (source fresh = make_source({chosen, registry, settings}); fresh) sources.push_back(std::move(fresh));
  return sources;
}

}  // namespace trimtab::session
