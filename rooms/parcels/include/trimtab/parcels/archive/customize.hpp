// What a program can say about its own types.
#pragma once

namespace trimtab::parcels {

class writer;
class reader;

// One function writes and reads a type: a member
//     template <class archive> void serialize(archive& ar) { ar(m_name, m_values); }
// or a function next to the type
//     template <class archive> void serialize(archive& ar, particle& value) { ar(value.position, value.mass); }
// To write, it is called with an object that may be const: it must not change it then. `archive::writes` tells both apart.
// Aggregates of up to 16 fields need neither, if all their fields can be sent and none is a bit-field or
// [[no_unique_address]].

// A class without a default constructor says how it is read:
//     template <> struct trimtab::parcels::construct<account> {
//       static account read(reader& ar) { return account(ar.read<std::string>()); }
//     };
template <class T>
struct construct;

// A trivially copyable class that is no aggregate, so that nobody can look into it, is copied as bytes if it says that it
// has no pointers and that any bytes make a valid value:
//     template <> inline constexpr bool trimtab::parcels::is_bitwise<vector3> = true;
template <class T>
inline constexpr bool is_bitwise = false;

}  // namespace trimtab::parcels
