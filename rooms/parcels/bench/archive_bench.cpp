// What it costs to write and read values, next to a copy of the same bytes.
#include <benchmark/benchmark.h>

#include <cstring>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "trimtab/parcels/archive/archive.hpp"

namespace {

using trimtab::parcels::buffer;
using trimtab::parcels::byte_buffer;
using trimtab::parcels::large_blocks;
using trimtab::parcels::reader;
using trimtab::parcels::writer;

using small = std::tuple<int, double>;
using numbers = std::vector<double>;
using names = std::map<std::string, std::string>;

template <class T>
T sample();
template <>
small sample() {
  return {42, 1.5};
}
template <>
numbers sample() {
  return numbers(1000, 1.5);
}
template <>
names sample() {
  names values;
  for (int i = 0; i < 100; ++i)
    values.emplace("name " + std::to_string(i), "a value that is not too short " + std::to_string(i));
  return values;
}

void count_bytes(benchmark::State& state, std::size_t bytes) {
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
  state.counters["bytes"] = static_cast<double>(bytes);
}

template <class T>
void write(benchmark::State& state) {
  const T value = sample<T>();
  byte_buffer bytes;
  for (auto _ : state) {
    bytes.clear();
    writer{bytes}(value);
    benchmark::DoNotOptimize(bytes.data());
    benchmark::ClobberMemory();
  }
  count_bytes(state, bytes.size());
}

template <class T>
void read(benchmark::State& state) {
  const T value = sample<T>();
  byte_buffer bytes;
  writer{bytes}(value);
  for (auto _ : state) {
    reader in(bytes.view());
    const T copy = in.read<T>();
    if (in.left() != 0) state.SkipWithError("not all was read");
    benchmark::DoNotOptimize(&copy);
    benchmark::ClobberMemory();
  }
  if (reader(bytes.view()).read<T>() != value) state.SkipWithError("a wrong value");
  count_bytes(state, bytes.size());
}

// As many bytes as the message of T has.
template <class T>
void copy_bytes(benchmark::State& state) {
  byte_buffer from;
  writer{from}(sample<T>());
  byte_buffer to(from.size());
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), from.size());
    benchmark::DoNotOptimize(to.data());
    benchmark::ClobberMemory();
  }
  count_bytes(state, from.size());
}

void write_referenced(benchmark::State& state) {
  const numbers value(static_cast<std::size_t>(state.range(0)), 1.5);
  byte_buffer bytes;
  for (auto _ : state) {
    bytes.clear();
    writer out(bytes, large_blocks::referenced);
    out(value);
    benchmark::DoNotOptimize(out.parts().data());
  }
  count_bytes(state, value.size() * sizeof(double));
}

BENCHMARK(write<small>);
BENCHMARK(read<small>);
BENCHMARK(copy_bytes<small>);
BENCHMARK(write<numbers>);
BENCHMARK(read<numbers>);
BENCHMARK(copy_bytes<numbers>);
BENCHMARK(write<names>);
BENCHMARK(read<names>);
BENCHMARK(copy_bytes<names>);
BENCHMARK(write_referenced)->Arg(1000)->Arg(1'000'000);

}  // namespace

BENCHMARK_MAIN();
