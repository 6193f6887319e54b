// Calls of functions of a C library by the million, for the command: from Python each takes as long as ten of them.
#include <array>
#include <cstddef>
#include <cstdint>

namespace {

// As python/trimtab/otf2/calls.py has it.
constexpr std::size_t most_arguments = 8;
using arguments = std::array<std::uint64_t, most_arguments>;

// Functions that take whole numbers and pointers, and answer with a code. In the calling conventions of Linux on x86-64 and
// AArch64 each of these takes a register or a place of eight bytes on the stack, and a function may be given more than it
// takes.
using function = int (*)(std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
                         std::uint64_t, std::uint64_t);
static_assert(sizeof(function) == sizeof(std::uint64_t));

struct call_table {
  const function* functions;
  const std::uint32_t* function_of;  // of each row, by its place
  const arguments* rows;
  const std::int64_t* order;  // of rows
  std::size_t count;
};

}  // namespace

// Makes all calls up to the first that does not answer 0. Returns how many answered 0; `code` is what the next one answered.
extern "C" __attribute__((visibility("default"))) std::size_t trimtab_make_calls(const call_table* table,
                                                                                 std::int32_t* code) noexcept {
  for (std::size_t at = 0; at < table->count; ++at) {
    const auto row = static_cast<std::size_t>(table->order[at]);
    const arguments& given = table->rows[row];
    *code = table->functions[table->function_of[row]](given[0], given[1], given[2], given[3], given[4], given[5], given[6],
                                                      given[7]);
    if (*code != 0) return at;
  }
  return table->count;
}
