#ifndef APUS_CRC_H
#define APUS_CRC_H

#include <stddef.h>
#include <stdint.h>

/// The number of bytes of a block.
#define APUS_CRC_BLOCK 64

/// Factors that move a remainder over the bits after it, reflected: x^(distance + 63) and x^(distance - 1) modulo the
/// polynomial, as the most significant bits of a word.
struct apus_crc_factors {
  /// Over a block.
  uint64_t far[2];
  /// Over 16 bytes.
  uint64_t near[2];
};

/// Whether the processor can multiply without carries. ``apus_crc_fold`` must not be called otherwise.
int apus_crc_can_fold(void);

/// Replaces blocks of bytes by 16 bytes with the same remainder, for checks whose bits are reflected.
///
/// - bytes: the blocks, at any address.
/// - blocks: their number, not 0.
/// - check: the register before the bytes.
/// - result: the 16 bytes. The register after them, starting from 0, is the one after the blocks.
void apus_crc_fold(const void *bytes, size_t blocks, uint64_t check, const struct apus_crc_factors *factors,
                   void *result);

#endif
