// The same with the classes of trimtab.h: what is best is known, size 8 and way fast. Objectives: seconds by the clock, a
// count.
#include <trimtab.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

const trimtab::work transform("transform"), pack("pack");
constexpr std::int64_t sizes[] = {2, 4, 8, 64};
const trimtab::knob size(pack, "size", sizes, 2), way(transform, "way", "slow,slower,fast", 0),
    width(pack, "width", {1, 4, 1}, 4);

}  // namespace

int main(int, char** argv) {
  for (int i = 0; i < std::atoi(argv[1]); ++i) {
    trimtab::work_event step(transform);
    constexpr useconds_t duration_us[] = {400, 900, 100};
    usleep(duration_us[step[way]]);
    trimtab::work_event inner(pack);
    const auto away = static_cast<double>(std::abs(inner[size] - 8));
    inner.costs(10 + away + 5 * static_cast<double>(inner[width]));
  }
  const trimtab::work_event last(transform);
  const trimtab::work_event other(pack);
  std::printf("way %d, size %d, width %d\n", static_cast<int>(last[way]), static_cast<int>(other[size]),
              static_cast<int>(other[width]));
}
