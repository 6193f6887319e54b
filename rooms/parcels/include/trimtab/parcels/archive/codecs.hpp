// How the types of the standard library and buffer<T> are sent.
#pragma once

#include "trimtab/parcels/archive/codecs/containers.hpp"
#include "trimtab/parcels/archive/codecs/sequences.hpp"
#include "trimtab/parcels/archive/codecs/values.hpp"
