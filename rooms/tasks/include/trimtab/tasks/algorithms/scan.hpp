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
  scanner(places<input> from, places<output> to, operation& combine) : m_from(from), m_to(to), m_combine(combine) {}

  // Scans [first, last), with what is before it in `sum`.
  void scan(std::size_t first, std::size_t last, std::optional<value>& before) const {
    if (first == last) return;
    input in = m_from[first];
    output out = m_to[first];
    if (!before) {  // inclusive only
      before.emplace(*in);
      *out = *before;
      ++in, ++out, ++first;
    }
    value sum = std::move(*before);
    for (; first != last; ++first, ++in, ++out) {
      if constexpr (kind == scan_kind::inclusive) {
        sum = static_cast<value>(m_combine(std::move(sum), *in));
        *out = sum;
      } else {
        // In and out may be the same.
        value next = static_cast<value>(m_combine(sum, *in));
        *out = std::move(sum);
        sum = std::move(next);
      }
    }
    before.emplace(std::move(sum));
  }

  // As scan, without writing anything.
  void sum_up(std::size_t first, std::size_t last, std::optional<value>& before) const {
    input in = m_from[first];
    value sum = *in;
    for (++in, ++first; first != last; ++first, ++in) sum = static_cast<value>(m_combine(std::move(sum), *in));
    before.emplace(std::move(sum));
  }

  value combine(const value& before, const value& later) const {
    return static_cast<value>(m_combine(value(before), later));
  }

 private:
  places<input> m_from;
  places<output> m_to;
  operation& m_combine;
};

// In two passes, each in parallel: the sums of all parts but the last, of which the first is scanned at once; then the
// other parts, with what is before them. One part more than workers: each pass is then one part a worker.
template <class scans, class value>
void scan_parts(worker& here, const algorithm_call& how, const scans& all, std::size_t first, std::size_t length,
                std::optional<value>& before) {
  const std::uint32_t workers = here.owner().active_workers();
  std::size_t size = (length - first + workers) / (workers + 1);
  if (how.chunks.size() != 0) size = how.chunks.size();
  const std::size_t parts = (length - first + size - 1) / size;
  std::vector<std::optional<value>> sums(parts);
  sums[0] = std::move(before);
  loop_state state(how);
  const auto pass = [&](std::size_t begin, std::size_t end, const auto& part) {
    if (begin >= end) return;
    chunk_source source(dynamic_chunks{}, end - begin, workers);
    at_workers(here, state, static_cast<std::uint32_t>(std::min<std::size_t>(workers, end - begin)),
               [&](std::uint32_t number) {
                 chunk_source::cursor at(source, number);
                 for (chunk_source::chunk each; !state.is_over() && at.next(each);)
                   state.guarded([&] { part(begin + each.first, first + (begin + each.first) * size); });
               });
    state.check();
  };
  pass(0, std::max<std::size_t>(parts - 1, 1), [&](std::size_t part, std::size_t from) {
    const std::size_t to = std::min(from + size, length);
    part == 0 ? all.scan(from, to, sums[0]) : all.sum_up(from, to, sums[part]);
  });
  for (std::size_t part = 1; part + 1 < parts; ++part) sums[part] = all.combine(*sums[part - 1], *sums[part]);
  pass(1, parts, [&](std::size_t part, std::size_t from) {
    std::optional<value> own = sums[part - 1];
    all.scan(from, std::min(from + size, length), own);
  });
}

template <scan_kind kind, class input, class output, class value, class operation>
output scan(const algorithm_call& how, input first, input last, output to, std::optional<value> before, operation& combine) {
  const std::size_t length = length_of(first, last);
  const places<output> into(to, length);
  const scanner<value, input, output, operation, kind> all(places<input>(first, length), into, combine);
  on_worker(how, [&] {
    worker& here = *worker::current();
    std::size_t done = 0;
    if (how.chunks.how() == chunking::kind::adaptive) {
      // From the beginning on here, until it is clear that there is enough to share.
      loop_state state(how);
      const base::ticks begin = base::now();
      const bool is_alone = here.owner().active_workers() == 1 && !state.may_stop();
      for (std::size_t count = is_alone ? length : 16; done != length; count *= 2) {
        if (state.is_over()) break;
        const std::size_t end = done + std::min(count, length - done);
        all.scan(done, end, before);
        done = end;
        if (static_cast<double>(base::now() - begin) > lengths_of_pieces().shared) break;
      }
      state.check();
    }
    if (done != length) scan_parts(here, how, all, done, length, before);
  });
  return into[length];
}

}  // namespace detail

// *o = init + *first + ... + *i for each i, o from `to` on, which may be first; with `combine` as +, which must be
// associative. Returns the end of what was written. Of the chunking only a size matters.
template <detail::loop_how given = loop_options, std::forward_iterator input, std::forward_iterator output, class operation,
          class value>
output inclusive_scan(given&& how, input first, input last, output to, operation combine, value init,
                      detail::source_place at = detail::source_place::current()) {
  return detail::scan<detail::scan_kind::inclusive>(detail::call_of("inclusive_scan", how, at), first, last, to,
                                                    std::optional<value>(std::move(init)), combine);
}
template <std::forward_iterator input, std::forward_iterator output, class operation, class value>
output inclusive_scan(input first, input last, output to, operation combine, value init,
                      detail::source_place at = detail::source_place::current()) {
  return detail::scan<detail::scan_kind::inclusive>(detail::call_of("inclusive_scan", loop_options{}, at), first, last, to,
                                                    std::optional<value>(std::move(init)), combine);
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
