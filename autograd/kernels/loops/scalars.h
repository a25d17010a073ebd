/* What the loops need of C: bits, multiply-add, and sums whose order does not depend on the width of vectors. */

#include <math.h>
#include <stdint.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#if defined(_MSC_VER) && !defined(__clang__)
#define restrict __restrict
#endif

#if defined(__GNUC__)
#define ALWAYS static inline __attribute__((always_inline))
#else
#define ALWAYS static inline
#endif

/* pointers to numbers that no other argument of the same function writes to */
typedef float *restrict floats;
typedef double *restrict doubles;
typedef int64_t *restrict ints;
typedef uint16_t *restrict halves;

static inline float as_float(int32_t x) { float y; memcpy(&y, &x, 4); return y; }
static inline int32_t as_int32(float x) { int32_t y; memcpy(&y, &x, 4); return y; }
static inline int64_t as_int64(double x) { int64_t y; memcpy(&y, &x, 8); return y; }
static inline double as_double(int64_t x) { double y; memcpy(&y, &x, 8); return y; }

static inline int64_t ordinal(double x)
{
    int64_t bits = as_int64(x + 0.0);
    return x == x ? bits ^ ((bits >> 63) & INT64_MAX) : INT64_MAX;
}
static inline int64_t ordinalf(float x)
{
    int32_t bits = as_int32(x + 0.0f);
    return x == x ? bits ^ ((bits >> 31) & INT32_MAX) : INT64_MAX;
}

static inline ints memory(void) { static _Thread_local int64_t here[64]; return here; }

static inline double chosen(int64_t condition, double a, double b)
{
    return as_double((as_int64(a) & -condition) | (as_int64(b) & (condition - 1)));
}

/* a b + c, rounded once where the processor has it. Written out, for the compiler must not choose: -ffp-contract=off */
#if defined(__FMA__) || defined(__aarch64__)
#define fmaf_(a, b, c) __builtin_fmaf(a, b, c)
#define fma_(a, b, c) __builtin_fma(a, b, c)
#else
#define fmaf_(a, b, c) ((a) * (b) + (c))
#define fma_(a, b, c) ((a) * (b) + (c))
#endif
#define f32(x) ((float)(x))
#define f64(x) ((double)(x))

/* Sums in lanes, 32 of float and 16 of double, as many vectors as that takes: the same bits on every processor. Vectors wider
   than the processor's would go through memory (gcc 12). */
#if defined(__AVX512F__)
#define WIDTH 64
#elif defined(__AVX__)
#define WIDTH 32
#else
#define WIDTH 16
#endif
#define VECTORS (128 / WIDTH)
typedef float vector_float __attribute__((vector_size(WIDTH), aligned(4))), few_float __attribute__((vector_size(16), aligned(4)));
typedef double vector_double __attribute__((vector_size(WIDTH), aligned(8))), few_double __attribute__((vector_size(16), aligned(8)));

static inline float few_total_float(few_float rest)
{
#if defined(__SSE__)
    __m128 a4 = (__m128)rest, a2 = _mm_add_ps(a4, _mm_movehl_ps(a4, a4));
    return _mm_cvtss_f32(_mm_add_ss(a2, _mm_shuffle_ps(a2, a2, 1)));
#else
    return (rest[0] + rest[2]) + (rest[1] + rest[3]);
#endif
}
static inline double few_total_double(few_double rest) { return rest[0] + rest[1]; }

#if defined(__AVX512F__)
#define HALF(REAL) \
    __m512i a = (__m512i)(s[0] + s[1]); \
    __m256d b = (__m256d)((half_##REAL)_mm512_castsi512_si256(a) + (half_##REAL)_mm512_extracti64x4_epi64(a, 1));
#else
#define HALF(REAL) __m256d b = (__m256d)((s[0] + s[2]) + (s[1] + s[3]));
#endif
#if defined(__AVX__)
typedef float half_float __attribute__((vector_size(32)));
typedef double half_double __attribute__((vector_size(32)));
#define QUARTER(REAL) HALF(REAL) rest += (few_##REAL)_mm256_castpd256_pd128(b) + (few_##REAL)_mm256_extractf128_pd(b, 1);
#else
#define QUARTER(REAL) rest += ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
#endif
#define TOTAL(REAL) \
    static inline REAL total_##REAL(const vector_##REAL *s, few_##REAL rest) { QUARTER(REAL) return few_total_##REAL(rest); }
TOTAL(float)
TOTAL(double)

/* the sum over j < n of TERM, which reads by LOAD(x) the numbers of x from j on: a vector of them, 16 bytes, or one */
#define MANY(x) (*(const vector *)((x) + j + k * (int)(sizeof(vector) / sizeof *(x))))
#define FEW(x) (*(const few *)((x) + j))
#define ONE(x) ((x)[j])
#define SUM_OF(REAL, NAME, PARAMETERS, TERM) \
    static inline REAL NAME PARAMETERS \
    { \
        typedef vector_##REAL vector; \
        typedef few_##REAL few; \
        enum { LANES = 128 / sizeof(REAL), LEAST = 16 / sizeof(REAL) }; \
        vector s[VECTORS] = {{0}}; \
        few p = {0}; \
        REAL rest = 0; \
        int64_t j = 0; \
        for (; j + LANES <= n; j += LANES) \
            _Pragma("GCC unroll 8") for (int k = 0; k < VECTORS; k++) s[k] += TERM(MANY); \
        for (; j + LEAST <= n; j += LEAST) p += TERM(FEW); \
        for (; j < n; j++) rest += TERM(ONE); \
        return (n < LANES ? few_total_##REAL(p) : total_##REAL(s, p)) + rest; \
    }
/* two sums in one pass; the second goes to c[0] */
#define SUMS_OF(REAL, NAME, PARAMETERS, FIRST, SECOND) \
    static inline REAL NAME PARAMETERS \
    { \
        typedef vector_##REAL vector; \
        typedef few_##REAL few; \
        enum { LANES = 128 / sizeof(REAL), LEAST = 16 / sizeof(REAL) }; \
        vector s[VECTORS] = {{0}}, t[VECTORS] = {{0}}; \
        few p = {0}, q = {0}; \
        REAL rest = 0, remains = 0; \
        int64_t j = 0; \
        for (; j + LANES <= n; j += LANES) \
            _Pragma("GCC unroll 8") for (int k = 0; k < VECTORS; k++) { s[k] += FIRST(MANY); t[k] += SECOND(MANY); } \
        for (; j + LEAST <= n; j += LEAST) { p += FIRST(FEW); q += SECOND(FEW); } \
        for (; j < n; j++) { rest += FIRST(ONE); remains += SECOND(ONE); } \
        c[0] = (n < LANES ? few_total_##REAL(q) : total_##REAL(t, q)) + remains; \
        return (n < LANES ? few_total_##REAL(p) : total_##REAL(s, p)) + rest; \
    }
#define ITSELF(LOAD) LOAD(x)
#define PRODUCT(LOAD) (LOAD(x) * LOAD(y))
#define SQUARE(LOAD) ((LOAD(x) - mean) * (LOAD(x) - mean))
#define STANDARDIZED(LOAD) (LOAD(y) * ((LOAD(x) - mean) * scale))
#define GRADIENT(LOAD) LOAD(y)
#define PRODUCT_W(LOAD) (LOAD(y) * LOAD(w))
#define WEIGHTED(LOAD) (LOAD(y) * LOAD(w) * ((LOAD(x) - mean) * scale))
#define SUMS(REAL, END) \
    SUM_OF(REAL, sum_of##END, (const REAL *x, int64_t n), ITSELF) \
    SUM_OF(REAL, sum_of_products##END, (const REAL *x, const REAL *y, int64_t n), PRODUCT) \
    SUM_OF(REAL, sum_of_squares##END, (const REAL *x, REAL mean, int64_t n), SQUARE) \
    SUMS_OF(REAL, sums_of_gradient##END, (const REAL *y, const REAL *x, REAL mean, REAL scale, int64_t n, REAL *c), GRADIENT, \
            STANDARDIZED) \
    SUMS_OF(REAL, sums_of_weighted##END, \
            (const REAL *y, const REAL *w, const REAL *x, REAL mean, REAL scale, int64_t n, REAL *c), PRODUCT_W, WEIGHTED)
SUMS(float, )
SUMS(double, _double)

/* float32 <-> float16 by the processor, to nearest, ties to even; how many numbers it has done: 0 if it can't, else n */
static inline int64_t narrowed(const float *x, uint16_t *c, int64_t n)
{
    int64_t i = 0;
#if defined(__F16C__)
#if defined(__AVX512F__)
    for (; i + 16 <= n; i += 16)
        _mm256_storeu_si256((__m256i *)(c + i), _mm512_cvtps_ph(_mm512_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
#endif
    for (; i + 8 <= n; i += 8)
        _mm_storeu_si128((__m128i *)(c + i), _mm256_cvtps_ph(_mm256_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT));
    for (; i < n; i++) c[i] = _cvtss_sh(x[i], _MM_FROUND_TO_NEAREST_INT);
#endif
    return i;
}

static inline int64_t widened(const uint16_t *x, float *c, int64_t n)
{
    int64_t i = 0;
#if defined(__F16C__)
#if defined(__AVX512F__)
    for (; i + 16 <= n; i += 16) _mm512_storeu_ps(c + i, _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(x + i))));
#endif
    for (; i + 8 <= n; i += 8) _mm256_storeu_ps(c + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(x + i))));
    for (; i < n; i++) c[i] = _cvtsh_ss(x[i]);
#endif
    return i;
}

/* a float32 rounded to bfloat16, in its upper half; of nan 0x7FC0 and the sign */
static inline uint32_t rounded_to_bfloat16(float x)
{
    uint32_t bits = as_int32(x);
    return x != x ? 0x7FC00000 | (bits & 0x80000000) : bits + 0x7FFF + (bits >> 16 & 1);
}

/* float32 numbers to bfloat16, 64 at a time; how many it has done. In two loops 1.4 times as fast as in one, on all levels */
static inline int64_t cut_to_bfloat16(const float *x, uint16_t *c, int64_t n)
{
    int64_t i = 0;
    for (; i + 64 <= n; i += 64) {
        uint32_t rounded[64];
        for (int k = 0; k < 64; k++) rounded[k] = rounded_to_bfloat16(x[i + k]);
        for (int k = 0; k < 64; k++) c[i + k] = rounded[k] >> 16;
    }
    return i;
}

/* c = a b + beta c of row-major matrices, by the function at an address: oneDNN's sgemm, or what is called like it */
typedef int (*Gemm)(char, char, int64_t, int64_t, int64_t, float, const float *, int64_t, const float *, int64_t, float, float *,
                    int64_t);
static inline int gemm(size_t address, int64_t m, int64_t n, int64_t k, const float *a, const float *b, float beta, float *c)
{
    return ((Gemm)address)('N', 'N', m, n, k, 1, a, k, b, n, beta, c, n);
}

/* what this processor can run: 0 the baseline, 1 AVX2 and FMA, 2 AVX-512 as Ice Lake and later have it: before, wide vectors
   slowed the whole core. The system must save these registers, which __builtin_cpu_supports() asks, too. */
static inline int level(void)
{
#if (defined(__x86_64__) || defined(__i386__)) && defined(__GNUC__)
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return 0;
    return __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq")
           && __builtin_cpu_supports("avx512vl") ? 2 : 1;
#else
    return 0;
#endif
}
