// What `trimtab run` asks of every library in the program: the variables that more than one of them reads, each with one
// meaning.
#pragma once

#include "trimtab/options/option.hpp"

namespace trimtab::options {

// How the program is changed while it runs. In the order of tuning_mode_words.
enum class tuning_mode : std::uint8_t {
  off,      // nothing is changed, unless the program itself asks for it
  on,       // the settings that earlier runs found, and a search for better ones
  frozen,   // these settings, and no search, even where the program itself asks for one
  known,    // these settings; a search only where the program itself asks for one (an OpenMP program cannot)
  shuffle,  // random settings
};
inline constexpr std::string_view tuning_mode_words[] = {"off", "on", "frozen", "known", "shuffle"};

inline constexpr option tune_option = {
    "TRIMTAB_TUNE", "off", word(word_of<tuning_mode_words>),
    "what changes while the program runs. on: the settings of TRIMTAB_SETTINGS, and a search for better ones; frozen: these "
    "settings, and no search, even where the program itself asks for one; known: these settings, and a search only where "
    "the "
    "program itself asks for one; shuffle: random settings"};
// Whose searches change the program while it runs. In the order of steer_policy_words; outside: a file of the user's.
enum class steer_policy : std::uint8_t { tuner, arcs_online, arcs_offline, outside };
inline constexpr std::string_view steer_policy_words[] = {"tuner", "arcs-online", "arcs-offline"};
constexpr values search_policies() noexcept {
  values allowed_words = word(word_of<steer_policy_words>);
  allowed_words.file_ending = ".py";
  return allowed_words;
}
inline constexpr option policy_option = {"TRIMTAB_STEER_POLICY", "tuner", search_policies(),
                                         "policy that decides within a run"};
inline constexpr option settings_option = {"TRIMTAB_SETTINGS", "", path(), "file of the settings that earlier runs found"};
inline constexpr option runtime_directory_option = {
    "XDG_RUNTIME_DIR", "", path(),
    "folder of the file by which processes that fit their threads see each other, where /dev/shm is missing"};

inline constexpr option workers_option = {"TRIMTAB_WORKERS", "0", number(0, 4096),
                                          "threads that run tasks; 0: one for each CPU that the process may use", "workers"};

// Of a word's index.
constexpr tuning_mode tuning_mode_of(const value& checked) noexcept { return static_cast<tuning_mode>(checked.index); }
// The settings of earlier runs are used.
constexpr bool uses_settings(tuning_mode mode) noexcept {
  return mode == tuning_mode::on || mode == tuning_mode::frozen || mode == tuning_mode::known;
}

}  // namespace trimtab::options
