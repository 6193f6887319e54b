// A recording's engine built and told again; what it decides, as text.
#pragma once

#include <string>
#include <string_view>

namespace trimtab::session {

struct replayed {
  std::string lines;    // of JSON: decisions, then a summary
  std::string error;    // why nothing, or no more, can be replayed; "": nothing is wrong
  bool is_same = true;  // each step has as many decisions as it had
};
replayed replay(std::string_view text);

}  // namespace trimtab::session
