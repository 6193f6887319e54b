#include "trimtab/options/rank_variables.hpp"

namespace trimtab::options {

namespace {

const char* text_of(look_up_function look_up, const char* variable) noexcept {
  const char* const text = look_up({variable, "", any_text(), ""});
  return text == nullptr ? "" : text;
}

}  // namespace

job_rank find_rank(look_up_function look_up) noexcept {
  for (const rank_variables& variables : rank_table) {
    const auto rank = check(number(0, most_ranks), text_of(look_up, variables.rank));
    if (!rank || (variables.required[0] != '\0' && text_of(look_up, variables.required)[0] == '\0')) continue;
    job_rank place{static_cast<job_launcher>(&variables - rank_table), static_cast<std::int64_t>(rank->number), -1};
    if (const auto size = check(number(rank->number + 1, most_ranks), text_of(look_up, variables.size)))
      place.size = static_cast<std::int64_t>(size->number);
    return place;
  }
  return {};
}

}  // namespace trimtab::options
