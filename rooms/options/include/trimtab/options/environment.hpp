// The environment of this process: nothing else in any room reads or changes it. Whoever wants a variable shows its row, so
// none is read that is in no table.
#pragma once

#include "trimtab/options/option.hpp"

namespace trimtab::options {

// nullptr: the variable is not set, or empty. Of the program, which may change it: copy what is kept.
const char* value_of(const option& option_row) noexcept;

// All of them, NAME=VALUE, with a null pointer behind them: what a program that is started gets.
char* const* all_variables() noexcept;

// The variable is removed: processes that this one starts do not get it.
void forget(const option& option_row) noexcept;
// The variable becomes empty, in place: other threads may be reading the environment.
void make_empty(const option& option_row) noexcept;
// The first library of LD_PRELOAD is removed, in place; that of `trimtab run` stands first.
void forget_first_preload() noexcept;

}  // namespace trimtab::options
