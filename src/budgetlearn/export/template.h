//= model
/* @name@: @about@.
 * Written by budgetlearn. Plain C99: no malloc, no libm, no state. Include it in one source file.
 * With @NAME@_MAIN defined it is a program: it reads rows of @n_features@ numbers from the standard input
 * and prints the prediction and the scores of each; at anything else it stops with status 1. */
#ifndef @guard@
#define @guard@

#include <stdint.h>

#define @NAME@_N_FEATURES @n_features@
#define @NAME@_N_SCORES @n_columns@
#define @NAME@_N_TREES @n_trees@

@tables@

@half@

@function@

@predict@

#ifdef @NAME@_MAIN
#include <stdio.h>

int main(void)
{
    float x[@NAME@_N_FEATURES], scores[@NAME@_N_SCORES];
    int i;
    for (;;) {
        for (i = 0; i < @NAME@_N_FEATURES; ++i) {
            if (scanf("%f", &x[i]) != 1) { return i != 0 || !feof(stdin); }
        }
        @print@
        @name@_scores(x, scores);
        for (i = 0; i < @NAME@_N_SCORES; ++i) { printf(" %.9g", (double)scores[i]); }
        printf("\n");
    }
}
#endif

#endif
//= small
/* Write the @NAME@_N_SCORES scores of an example of @NAME@_N_FEATURES numbers. */
static inline void @name@_scores(const float *x, float *scores)
{
    @sum_type@ sums[@NAME@_N_SCORES];
    uint32_t k, split = 0, first = 0;
    int32_t tree;
    for (k = 0; k < @NAME@_N_SCORES; ++k) { sums[k] = @name@_constant[k]; }
    for (tree = 0; tree < @NAME@_N_TREES; ++tree) {
        /* The head has the number of splits, and the side of the root, if any, that is a stop of
         * value zero. The left side of a split has `before` splits and before + 1 stops. */
        const uint32_t n_splits = @name@_head[tree] >> 2, empty = @name@_head[tree] & 3u;
        uint32_t n = n_splits, at = split, stop = 0;
        while (n > 0) {
            const uint32_t before = @name@_left[at];
            if (x[@feature@] <= @threshold@@missing@) {
                n = before;
                at += 1;
            } else {
                n -= 1 + before;
                at += 1 + before;
                stop += 1 + before;
            }
        }
        if (!(empty == 1 && stop == 0) && !(empty == 2 && stop == n_splits)) {
            stop += first - (empty == 1);
            @add@
        }
        split += n_splits;
        first += n_splits + (empty == 0);
    }
    for (k = 0; k < @NAME@_N_SCORES; ++k) { scores[k] = @scores@; }
}
//= fast
/* Convert a number to an integer in the same order, and NaN to `nan`. Integers are compared without
 * a branch and without floating-point hardware. */
static inline uint32_t @name@_key(float number, uint32_t nan)
{
    union { float number; uint32_t bits; } as;
    as.number = number;
    if (as.bits << 1 > 0xFF000000u) { return nan; }
    return as.bits ^ ((0u - (as.bits >> 31)) | 0x80000000u);
}

/* Write the @NAME@_N_SCORES scores of an example of @NAME@_N_FEATURES numbers. */
static inline void @name@_scores(const float *x, float *scores)
{
    @sum_type@ sums[@lanes@] = {0};
    uint32_t keys[@n_used@], k, stop@rows@;
    for (k = 0; k < @n_used@; ++k) { keys[k] = @name@_key(x[@name@_used[k]], @nan@); }
    @start@
@trees@
    for (k = 0; k < @NAME@_N_SCORES; ++k) { scores[k] = @scores@; }
}
//= network
/* Write the @NAME@_N_SCORES scores of an example of @NAME@_N_FEATURES numbers; NaN counts as the
 * mean of training. */
static inline void @name@_scores(const float *x, float *scores)
{
    float hidden[@n_hidden@];
    int32_t i, j, k; /* int may have 16 bits */
    /* Products are rounded before they are added, even where expressions are more precise. */
    float product;
    for (j = 0; j < @n_hidden@; ++j) { hidden[j] = @name@_bias[j]; }
    for (i = 0; i < @NAME@_N_FEATURES; ++i) {
        float z = x[i] - @name@_centre[i];
        z *= @name@_step[i];
        z = z != z ? 0.0f : z > 1e6f ? 1e6f : z < -1e6f ? -1e6f : z;
        for (j = 0; j < @n_hidden@; ++j) {
            product = z * (float)@name@_weight[i * @n_hidden@ + j];
            hidden[j] += product;
        }
    }
    for (k = 0; k < @NAME@_N_SCORES; ++k) { scores[k] = 0.0f; }
    for (j = 0; j < @n_hidden@; ++j) {
        if (!(hidden[j] > 0.0f)) { continue; }
        for (k = 0; k < @NAME@_N_SCORES; ++k) {
            product = hidden[j] * (float)@name@_outer[j * @NAME@_N_SCORES + k];
            scores[k] += product;
        }
    }
    for (k = 0; k < @NAME@_N_SCORES; ++k) {
        product = @name@_scale[0] * scores[k];
        scores[k] = @name@_constant[k] + product;
    }
}
//= adder
/* Add the values of n stops. Sums in local variables stay in registers. A vector unit adds several
 * columns at once; the last lanes may add values after the row, and are not used. */
static void @name@_add(const uint32_t *stops, int n, @sum_type@ *sums)
{
    @sum_type@ sum[@lanes@];
    int i;
    for (i = 0; i < @lanes@; ++i) { sum[i] = sums[i]; }
    for (i = 0; i < n; ++i) {
        const @value_type@ *value = @name@_value + stops[i] * @NAME@_N_SCORES;
@adds@
    }
    for (i = 0; i < @lanes@; ++i) { sums[i] = sum[i]; }
}
//= half
/* Convert the 16 bits of a float16 number to float exactly. */
static inline float @name@_half(uint16_t bits)
{
    const uint32_t exponent = (bits >> 10) & 31u, fraction = bits & 1023u;
    union { float number; uint32_t bits; } as;
    as.bits = ((exponent + 112u) << 23) | (fraction << 13);
    if (!exponent) { as.number = (float)fraction * 5.96046448e-8f; }
    return bits & 0x8000u ? -as.number : as.number;
}
//= first
/* Return the predicted number, or the first of several; @name@_scores writes all of them. */
static inline float @name@_predict(const float *x)
{
    float scores[@NAME@_N_SCORES];
    @name@_scores(x, scores);
    return scores[0];
}
//= sign
/* Return the number of the predicted class, 0 or 1. */
static inline int @name@_predict(const float *x)
{
    float score;
    @name@_scores(x, &score);
    return score > 0.0f;
}
//= argmax
/* Return the number of the predicted class, from 0. Ties go to the first class. */
static inline int @name@_predict(const float *x)
{
    float scores[@NAME@_N_SCORES];
    int k, best = 0;
    @name@_scores(x, scores);
    for (k = 1; k < @NAME@_N_SCORES; ++k) {
        if (scores[k] > scores[best]) { best = k; }
    }
    return best;
}
