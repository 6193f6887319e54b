// Fourteen task programs as the Innsbruck C++11 Async Benchmark Suite has them (Thoman, Gschwandtner and Fahringer 2015),
// written for trimtab::async: task_programs NAME [--size N] [--no-check]. Each compares its answer with a serial or known
// one.
#include <cstring>
#include <string>

#include "../command_line.hpp"
#include "../figures.hpp"
#include "../verdict.hpp"
#include "program.hpp"

namespace {

const programs::program* const all_programs[] = {
    &programs::alignment_program, &programs::fft_program,      &programs::fib_program,     &programs::floorplan_program,
    &programs::health_program,    &programs::intersim_program, &programs::nqueens_program, &programs::pyramids_program,
    &programs::qap_program,       &programs::round_program,    &programs::sort_program,    &programs::sparselu_program,
    &programs::strassen_program,  &programs::uts_program};

// The program that the first argument names; ends with code 2 where it names none.
const programs::program& chosen(const char* name) {
  std::string names;
  for (const programs::program* const element : all_programs) {
    if (name != nullptr && std::strcmp(name, element->name) == 0) return *element;
    names.append(names.empty() ? "" : ", ").append(element->name);
  }
  std::fprintf(stderr, "task_programs: expected a program (%s), found '%s'\n", names.c_str(), name == nullptr ? "" : name);
  std::exit(2);
}

}  // namespace

int main(int argc, char** argv) {
  const programs::program& program = chosen(argc > 1 ? argv[1] : nullptr);
  workload::command_line line(argc - 1, argv + 1);
  const std::int64_t size = line.number("--size", program.size, 1, 1'000'000'000);
  line.end();

  trimtab::runtime runtime(line.runtime);
  workload::figures figures(runtime);
  const std::int64_t answer = runtime.run([&] { return program.parallel(size); });
  figures.stop();

  std::printf("program=%s\nsize=%lld (%s)\n", program.name, static_cast<long long>(size), program.size_means);
  figures.print();
  return workload::conclude(program.name, line.is_checked, answer, line.is_checked ? program.expected(size) : answer);
}
