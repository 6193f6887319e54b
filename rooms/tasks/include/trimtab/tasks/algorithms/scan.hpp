// inclusive_scan, exclusive_scan.
#pragma once

#include <functional>
#include <optional>

#include "trimtab/tasks/algorithms/engine.hpp"

namespace trimtab::tasks {

namespace detail {

enum class scan_kind : bool { inclusive, exclusive };

template <class value, class input, class output, class operation, scan_kind kind>
class scanner {
 public:
  scanner(places<input> source, places<output> target, operation& combine)
      : m_source(source), m_target(target), m_combine(combine) {}

  // Scans [first, last), with what is before it in `sum`.
  void scan(std::size_t first, std::size_t last, std::optional<value>& prefix) const {
    if (first == last) return;
    input source = m_source[first];
    output target = m_target[first];
    if (!prefix) {  // inclusive only
      prefix.emplace(*source);
      *target = *prefix;
      ++source, ++target, ++first;
    }
    value sum = std::move(*prefix);
    for (; first != last; ++first, ++source, ++target) {
      if constexpr (kind == scan_kind::inclusive) {
        sum = static_cast<value>(m_combine(std::move(sum), *source));
        *target = sum;
      } else {
        // In and out may be the same.
        value next = static_cast<value>(m_combine(sum, *source));
        *target = std::move(sum);
        sum = std::move(next);
      }
    }
    prefix.emplace(std::move(sum));
  }

  // As scan, without writing anything.
  void sum_up(std::size_t first, std::size_t last, std::optional<value>& prefix) const {
    input source = m_source[first];
    value sum = *source;
    for (++source, ++first; first != last; ++first, ++source) sum = static_cast<value>(m_combine(std::move(sum), *source));
    prefix.emplace(std::move(sum));
  }

  value combine(const value& left_sum, const value& right_sum) const {
    return static_cast<value>(m_combine(value(left_sum), right_sum));
  }

 private:
  places<input> m_source;
  places<output> m_target;
  operation& m_combine;
};

// In two passes, each in parallel: the sums of all parts but the last, of which the first is scanned at once; then the
// other parts, with what is before them. One part more than workers: each pass is then one part a worker.
template <class scans, class value>
void scan_parts(worker& this_worker, const algorithm_call& call, const scans& scan_steps, std::size_t first,
                std::size_t length, std::optional<value>& prefix) {
  const std::uint32_t workers = this_worker.owner().active_workers();
  std::size_t size = (length - first + workers) / (workers + 1);
  if (call.chunks.size() != 0) size = call.chunks.size();
  const std::size_t parts = (length - first + size - 1) / size;
  std::vector<std::optional<value>> sums(parts);
  sums[0] = std::move(prefix);
  loop_state state(call);
  const auto pass = [&](std::size_t begin, std::size_t end, const auto& part) {
    if (begin >= end) return;
    chunk_source source(dynamic_chunks{}, end - begin, workers);
    at_workers(this_worker, state, static_cast<std::uint32_t>(std::min<std::size_t>(workers, end - begin)),
               [&](std::uint32_t number) {
                 chunk_source::cursor position(source, number);
                 for (chunk_source::chunk piece; !state.has_ended() && position.next(piece);)
                   state.guarded([&] { part(begin + piece.first, first + (begin + piece.first) * size); });
               });
    state.check();
  };
  pass(0, std::max<std::size_t>(parts - 1, 1), [&](std::size_t part, std::size_t begin) {
    const std::size_t end = std::min(begin + size, length);
    part == 0 ? scan_steps.scan(begin, end, sums[0]) : scan_steps.sum_up(begin, end, sums[part]);
  });
  for (std::size_t part = 1; part + 1 < parts; ++part) sums[part] = scan_steps.combine(*sums[part - 1], *sums[part]);
  pass(1, parts, [&](std::size_t part, std::size_t begin) {
    std::optional<value> partial = sums[part - 1];
    scan_steps.scan(begin, std::min(begin + size, length), partial);
  });
}

template <scan_kind kind, class input, class output, class value, class operation>
output scan(const algorithm_call& how, input first, input last, output to, std::optional<value> before, operation& combine) {
  const std::size_t length = length_of(first, last);
  const places<output> into(to, length);
  const scanner<value, input, output, operation, kind> all(places<input>(first, length), into, combine);
  on_worker(how, [&] {
    worker& this_worker = *worker::current();
    std::size_t finished_count = 0;
    if (how.chunks.strategy() == chunking::kind::adaptive) {
      // From the beginning on here, until it is clear that there is enough to share.
      loop_state state(how);
      const base::ticks begin = base::now();
      const bool is_alone = this_worker.owner().active_workers() == 1 && !state.may_stop();
      for (std::size_t count = is_alone ? length : 16; finished_count != length; count *= 2) {
        if (state.has_ended()) break;
        const std::size_t end = finished_count + std::min(count, length - finished_count);
        all.scan(finished_count, end, before);
        finished_count = end;
        if (static_cast<double>(base::now() - begin) > lengths_of_pieces().shared) break;
      }
      state.check();
    }
    if (finished_count != length) scan_parts(this_worker, how, all, finished_count, length, before);
  });
  return into[length];
}

}  // namespace detail

// *o = init + *first + ... + *i for each i, o from `target` on, which may be `first`; with `combine` as +, which must be
// associative. Returns the end of what was written. Of the chunking only a size matters.
template <detail::loop_how given = loop_options, std::forward_iterator input, std::forward_iterator output, class operation,
          class value>
output inclusive_scan(given&& options, input first, input last, output target, operation combine, value init,
                      detail::source_place call_site = detail::source_place::current()) {
  return detail::scan<detail::scan_kind::inclusive>(detail::call_of("inclusive_scan", options, call_site), first, last,
                                                    target, std::optional<value>(std::move(init)), combine);
}
template <std::forward_iterator input, std::forward_iterator output, class operation, class value>
output inclusive_scan(input first, input last, output target, operation combine, value init,
                      detail::source_place call_site = detail::source_place::current()) {
  return detail::scan<detail::scan_kind::inclusive>(detail::call_of("inclusive_scan", loop_options{}, call_site), first,
                                                    last, target, std::optional<value>(std::move(init)), combine);
}

template <detail::loop_how given = loop_options, std::forward_iterator input, std::forward_iterator output,
          class operation = std::plus<>>
output inclusive_scan(given&& how, input first, input last, output to, operation combine = {},
                      detail::source_place at = detail::source_place::current()) {
  return detail::scan<detail::scan_kind::inclusive>(detail::call_of("inclusive_scan", how, at), first, last, to,
                                                    std::optional<std::iter_value_t<input>>(), combine);
}
template <std::forward_iterator input, std::forward_iterator output, class operation = std::plus<>>
output inclusive_scan(input first, input last, output to, operation combine = {},
                      detail::source_place at = detail::source_place::current()) {
  return detail::scan<detail::scan_kind::inclusive>(detail::call_of("inclusive_scan", loop_options{}, at), first, last, to,
                                                    std::optional<std::iter_value_t<input>>(), combine);
}

// As inclusive_scan, but each without *i itself.
template <detail::loop_how given = loop_options, std::forward_iterator input, std::forward_iterator output, class value,
          class operation = std::plus<>>
output exclusive_scan(given&& how, input first, input last, output to, value init, operation combine = {},
                      detail::source_place at = detail::source_place::current()) {
  return detail::scan<detail::scan_kind::exclusive>(detail::call_of("exclusive_scan", how, at), first, last, to,
                                                    std::optional<value>(std::move(init)), combine);
}
template <std::forward_iterator input, std::forward_iterator output, class value, class operation = std::plus<>>
output exclusive_scan(input first, input last, output to, value init, operation combine = {},
                      detail::source_place at = detail::source_place::current()) {
  return exclusive_scan(loop_options{}, first, last, to, std::move(init), std::move(combine), at);
}

}  // namespace trimtab::tasks
