// The two files by which an engine in this process and a policy in another one know of each other, in the process's folder
// of the run. Each is replaced as a whole. docs/reference/policy-exchange.md has what is in them.
#pragma once

#include <string>

namespace trimtab::observe {

class policy_files {
 public:
  // engine: "" of the process; otherwise which one of it, such as "runtime-1".
  policy_files(const std::string& folder, const std::string& engine);
  // Both throw std::runtime_error where the other side cannot be reached.
  void put_snapshot(const std::string& text) const;
  // The latest; false: there is none yet.
  bool take_answer(std::string& answer) const;

 private:
  std::string m_snapshots, m_answers;
};

}  // namespace trimtab::observe
