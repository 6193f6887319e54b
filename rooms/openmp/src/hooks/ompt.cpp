#include "hooks/ompt.hpp"

#include <dlfcn.h>

#include <utility>

#include "accounting/identified_tasks.hpp"
#include "accounting/task_identities.hpp"
#include "hooks/hook.hpp"

namespace trimtab::openmp {

namespace {

using observe::event_kind;
using observe::the_recorder;

enum class answer : std::uint8_t { not_asked, took_part, too_early, other_tool, tool_libraries };
std::atomic<answer> last_answer{answer::not_asked};
std::atomic<bool> is_yielding{false};

// Most tasks the program has just allocated itself. The pieces of a taskloop are made by the runtime: in the
// program's call, or in tasks of the runtime's own (which no function of ours has begun) that know whose they are.
std::uint32_t subject_created(lane_state& state) noexcept {
  if (state.created_subject != no_subject) return std::exchange(state.created_subject, no_subject);
  const bool is_by_program = state.scheduled_task == 0 || state.scheduled_task == state.begun_task;
  return is_by_program ? state.taskloop_subject : subject_of_identity(state.scheduled_task);
}

void task_was_created(const ompt_data* parent, const void*, ompt_data* task, int flags, int, const void*) noexcept {
  lane_context context;
  if ((flags & ompt_explicit_task) == 0 || !lookup(context)) return;
  const std::uint32_t subject = subject_created(*context.state);
  task->value = new_identity(context, subject);
  context.on->record(event_kind::task_created, subject, 0, task->value, parent == nullptr ? 0 : parent->value, base::now());
  context.on->count_hook(1);
}

// A lane leaves one task and goes on with another; implicit ones have no identity.
void task_was_scheduled(const ompt_data* left, int, const ompt_data* next) noexcept {
  lane_context context;
  if (next == nullptr || !lookup(context)) return;
  context.state->left_task = left->value;
  context.state->scheduled_task = next->value;
}

void dependence_was_found(const ompt_data* before, const ompt_data* after) noexcept {
  lane_context context;
  // A taskwait with dependences waits for tasks without being one.
  if (before->value == 0 || after->value == 0 || !lookup(context)) return;
  context.on->record(event_kind::edge, context.state->region, 0, before->value, after->value, base::now());
  context.on->count_hook(1);
}

int initialize(ompt_lookup lookup, int, ompt_data*) noexcept {
  const auto set = reinterpret_cast<ompt_set_callback>(lookup("ompt_set_callback"));
  if (set == nullptr) return 0;
  set(ompt_task_create, reinterpret_cast<ompt_any_function>(task_was_created));
  set(ompt_task_schedule, reinterpret_cast<ompt_any_function>(task_was_scheduled));
  set(ompt_task_dependence, reinterpret_cast<ompt_any_function>(dependence_was_found));
  return 1;
}

void finalize(ompt_data*) noexcept {}

constinit ompt_tool our_tool{initialize, finalize, {}};

}  // namespace

void ompt_yield_to_libraries() noexcept { is_yielding.store(true, std::memory_order_release); }

void ompt_detach() noexcept {
  constexpr const char* feature = "task identities and dependences";
  if (has_unnamed_tasks(runtime_family::gomp))
    the_recorder.unavailable(feature, "some of libgomp's tasks could not carry an identity: they are counted and timed only",
                             "run the program on LLVM's runtime: LD_PRELOAD=libomp.so.5");
  if (const std::uint64_t lost = lost_dependences(); lost != 0)
    the_recorder.unavailable("some dependences of tasks", "depend lists had more addresses and tasks than a lane keeps",
                             "fewer addresses in the depend clauses of one task's children");
  if (!has_unnamed_tasks(runtime_family::llvm)) return;
  switch (last_answer.load(std::memory_order_relaxed)) {
    case answer::other_tool:
      return the_recorder.unavailable(feature, "another OMPT tool is loaded, and a runtime takes one only",
                                      "run without that tool");
    case answer::tool_libraries:
      return the_recorder.unavailable(feature, "OMP_TOOL_LIBRARIES names another tool, and a runtime takes one only",
                                      "unset OMP_TOOL_LIBRARIES");
    case answer::too_early:
      return the_recorder.unavailable(feature, "the runtime started before the recording, in a constructor of a library",
                                      "start the first parallel region after main has begun");
    case answer::not_asked:
    case answer::took_part:
      return the_recorder.unavailable(feature, "the runtime asked for no OMPT tool, or found another one first",
                                      "unset OMP_TOOL, and run without a tool of the program's own");
  }
}

}  // namespace trimtab::openmp

using namespace trimtab::openmp;

// A runtime asks for its tool when it starts. Another tool of this name that comes after us would have been found
// without us, so it is asked first, whether we record or not.
TRIMTAB_HOOK ompt_tool* ompt_start_tool(unsigned version, const char* runtime_version) {
  using function = ompt_tool*(unsigned, const char*);
  ompt_tool* chosen = nullptr;
  answer result = answer::not_asked;
  auto* const next = reinterpret_cast<function*>(dlsym(RTLD_NEXT, "ompt_start_tool"));
  if (next != nullptr) chosen = next(version, runtime_version);
  if (chosen != nullptr) {
    result = answer::other_tool;
  } else if (is_yielding.load(std::memory_order_acquire)) {
    result = answer::tool_libraries;
  } else if (!is_recording.load(std::memory_order_acquire)) {
    result = answer::too_early;
  } else if (the_recorder.traces() && gives_identities(__builtin_return_address(0))) {
    result = answer::took_part;
    chosen = &our_tool;
  }
  last_answer.store(result, std::memory_order_relaxed);
  return chosen;
}
