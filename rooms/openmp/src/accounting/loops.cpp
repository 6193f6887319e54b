#include "accounting/loops.hpp"

#include "accounting/waits.hpp"

namespace trimtab::openmp {

using observe::event_kind;
using observe::metric;
using observe::subject_kind;
using observe::the_recorder;
namespace loop_fields = observe::loop_fields;

void begin_loop(const lane_context& context, const loop_start& start, const char* source) noexcept {
  lane_state& state = *context.state;
  end_loop(context);
  open_loop& loop = state.loop;
  // A loop of the fork call itself has no call of its own: it stands where the region's function stands.
  const bool is_call = state.innermost == nullptr || start.place != state.innermost->outlined;
  const bool is_in_known_region = state.innermost != nullptr && is_sampled(start.schedule);
  const std::uint32_t region = is_in_known_region ? state.region : region_of_construct(state);
  loop.subject = subject_at(state, {subject_kind::loop, start.place, region, is_call, 0, source});
  loop.row = context.on->own_row(loop.subject, metric::loop, region, static_cast<std::uint16_t>(start.schedule));
  loop.schedule = start.schedule;
  loop.increment = start.increment == 0 ? 1 : start.increment;
  loop.iterations = 0;
  loop.chunks = 0;
  loop.dimensions = 0;
  if (loop.row == nullptr) return;
  loop.row->x[loop_fields::chunk_size] = start.chunk;
  loop.row->x[loop_fields::trip_count] = start.trip;
  loop.begin = base::now();
}

void take_chunk(const lane_context& context, std::int64_t first, std::uint64_t count) noexcept {
  open_loop& loop = context.state->loop;
  if (loop.row == nullptr || count == 0) return;
  loop.iterations += count;
  loop.chunks += 1;
  if (!the_recorder.traces()) return;
  context.on->record(event_kind::chunk, loop.subject, static_cast<std::uint16_t>(loop.schedule), count,
                     static_cast<std::uint64_t>(first), base::now());
  context.on->count_hook(1);
}

void end_loop(const lane_context& context) noexcept {
  open_loop& loop = context.state->loop;
  if (loop.row == nullptr) return;
  const ticks took = base::now() - loop.begin;
  lane::add(loop.row, took);
  loop.row->x[loop_fields::iterations] += loop.iterations;
  loop.row->x[loop_fields::chunks] += loop.chunks;
  context.on->record(event_kind::loop, loop.subject, static_cast<std::uint16_t>(loop.schedule), took, loop.iterations,
                     loop.begin);
  context.on->count_hook(2);
  loop.row = nullptr;
}

void inferred_loop_passed(const lane_context& context, const void* place) noexcept {
  inferred_loop& loop = context.state->inferred;
  if (loop.place != place || loop.region != context.state->region) {
    // Asked only now: the team is the forker's, and may be far away.
    if (!context.state->innermost->is_gcc) return;
    const std::uint32_t region = context.state->region;
    const std::uint32_t subject = subject_at(*context.state, {subject_kind::loop, place, region});
    loop = {
        place, region,
        context.on->own_row(subject, metric::loop, region, static_cast<std::uint16_t>(observe::schedule::static_inferred))};
    if (loop.row != nullptr) loop.row->x[loop_fields::trip_count] = observe::unknown;
  }
  if (loop.row != nullptr) loop.row->count += 1;
}

}  // namespace trimtab::openmp
