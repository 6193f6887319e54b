// Values as bytes, and back.
#pragma once

#include "trimtab/parcels/archive/buffer.hpp"
#include "trimtab/parcels/archive/byte_buffer.hpp"
#include "trimtab/parcels/archive/customize.hpp"
#include "trimtab/parcels/archive/malformed_message.hpp"
#include "trimtab/parcels/archive/reader.hpp"
#include "trimtab/parcels/archive/serializable.hpp"
#include "trimtab/parcels/archive/type_signature.hpp"
#include "trimtab/parcels/archive/writer.hpp"
