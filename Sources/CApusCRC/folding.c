// The remainder of a long message by carry-less multiplication, which Swift cannot express: four remainders of 16 bytes
// are moved over the next block and added to it, so that the multiplications of a block do not wait for each other.

#include "CApusCRC.h"

#if defined(__x86_64__)

#include <cpuid.h>
#include <wmmintrin.h>

#define FOLDS 1
#define FOLDING __attribute__((target("pclmul,sse2")))

typedef __m128i bits128;

int apus_crc_can_fold(void) {
  unsigned int a, b, c, d;
  return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_PCLMUL) != 0;
}

static inline FOLDING bits128 words(uint64_t low, uint64_t high) {
  return _mm_set_epi64x((long long)high, (long long)low);
}

static inline FOLDING bits128 sum(bits128 a, bits128 b) { return _mm_xor_si128(a, b); }

/// The sum of the products of the low words and of the high words.
static inline FOLDING bits128 products(bits128 a, bits128 b) {
  return sum(_mm_clmulepi64_si128(a, b, 0x00), _mm_clmulepi64_si128(a, b, 0x11));
}

#elif defined(__AARCH64EL__) && (defined(__APPLE__) || defined(__linux__))

#include <arm_neon.h>

#if defined(__linux__)
#include <sys/auxv.h>
#endif

#define FOLDS 1
#define FOLDING __attribute__((target("aes")))

typedef uint64x2_t bits128;

int apus_crc_can_fold(void) {
#if defined(__APPLE__)
  return 1;
#else
  // HWCAP_PMULL
  return (getauxval(AT_HWCAP) >> 4 & 1) != 0;
#endif
}

static inline FOLDING bits128 words(uint64_t low, uint64_t high) {
  return vcombine_u64(vcreate_u64(low), vcreate_u64(high));
}

static inline FOLDING bits128 sum(bits128 a, bits128 b) { return veorq_u64(a, b); }

/// The sum of the products of the low words and of the high words.
static inline FOLDING bits128 products(bits128 a, bits128 b) {
  poly128_t low = vmull_p64((poly64_t)vgetq_lane_u64(a, 0), (poly64_t)vgetq_lane_u64(b, 0));
  poly128_t high = vmull_high_p64(vreinterpretq_p64_u64(a), vreinterpretq_p64_u64(b));
  return sum(vreinterpretq_u64_p128(low), vreinterpretq_u64_p128(high));
}

#else

int apus_crc_can_fold(void) { return 0; }

void apus_crc_fold(const void *bytes, size_t blocks, uint64_t check, const struct apus_crc_factors *factors,
                   void *result) {}

#endif

#if FOLDS

static inline FOLDING bits128 load(const uint8_t *bytes) {
  bits128 value;
  __builtin_memcpy(&value, bytes, sizeof value);
  return value;
}

FOLDING void apus_crc_fold(const void *bytes, size_t blocks, uint64_t check, const struct apus_crc_factors *factors,
                           void *result) {
  const uint8_t *next = bytes;
  const bits128 far = words(factors->far[0], factors->far[1]);
  const bits128 near = words(factors->near[0], factors->near[1]);
  bits128 a = sum(load(next), words(check, 0));
  bits128 b = load(next + 16), c = load(next + 32), d = load(next + 48);
  while (--blocks > 0) {
    next += APUS_CRC_BLOCK;
    a = sum(products(a, far), load(next));
    b = sum(products(b, far), load(next + 16));
    c = sum(products(c, far), load(next + 32));
    d = sum(products(d, far), load(next + 48));
  }
  b = sum(b, products(a, near));
  c = sum(c, products(b, near));
  d = sum(d, products(c, near));
  __builtin_memcpy(result, &d, sizeof d);
}

#endif
