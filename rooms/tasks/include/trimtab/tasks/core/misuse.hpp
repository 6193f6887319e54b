// What a program must not do with our objects ends it, with a message that says what and in which task.
#pragma once

namespace trimtab::tasks::detail {

// mistake: a phrase without a verb, of static storage; object: where it was made. Ends by std::terminate, whose handler
// tells the task.
[[noreturn]] void misused(const char* mistake, const void* object) noexcept;

}  // namespace trimtab::tasks::detail
