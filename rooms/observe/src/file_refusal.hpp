// Why a file of the run could not be made or could not grow, as a user is told, and what helps.
#pragma once

namespace trimtab::observe {

struct file_refusal {
  char why[96];
  const char* remedy;
};

// error: what errno calls it.
file_refusal explain_file_error(int error) noexcept;

}  // namespace trimtab::observe
