// What a program must not do with our objects ends it, with a message that says what and in which task.
#pragma once

namespace trimtab::tasks::detail {

// what: a phrase without a verb, of static storage; about: the object. Ends by std::terminate, whose handler tells the task.
[[noreturn]] void misused(const char* what, const void* about) noexcept;

}  // namespace trimtab::tasks::detail
