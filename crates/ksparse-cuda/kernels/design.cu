// The kernels of ksparse-cuda: products with a design that no library has in this form (f32 storage with f64 sums, lists
// of columns, weighted squares). All sums are f64 and run in an order that follows from the sizes alone, without
// atomics: the same bits from run to run. Every argument is a pointer or a 64-bit number. `src/device.rs` says what each
// task computes, `src/stand_in.rs` does the same in Rust.

typedef unsigned long long u64;
typedef unsigned int u32;

enum { DOT = 0, SQUARE = 1, DEVIATION = 2, WEIGHT = 3 };

// What an entry x adds to the sum of its column, v being the vector's entry of its row.
template <int M> __device__ __forceinline__ double term(double x, double v, double centre) {
    if (M == DOT) return x * v;
    if (M == SQUARE) return x * x * v;
    if (M == DEVIATION) return (x - centre) * (x - centre) * v;
    return v;
}

__device__ __forceinline__ double warp_sum(double v) {
    for (int lane = 16; lane > 0; lane /= 2) v += __shfl_down_sync(0xffffffffu, v, lane);
    return v;
}

// Columns one after another (column_stride >= rows): a block sums a segment of the rows of several columns, so that the
// vector is read once for all of them.
const int TOGETHER = 8;
const int THREADS = 256;

template <class T, int M>
__device__ __forceinline__ void reduce_long(const T* x, u64 column_stride, u64 rows, const u32* list, u64 count,
                                            const double* vector, const double* centres, u64 segment, double* out) {
    __shared__ double sums[THREADS / 32][TOGETHER];
    const u64 first = (u64)blockIdx.x * TOGETHER, start = (u64)blockIdx.y * segment;
    const u64 end = start + segment < rows ? start + segment : rows;
    const T* column[TOGETHER];
    double centre[TOGETHER], sum[TOGETHER];
#pragma unroll
    for (int c = 0; c < TOGETHER; c++) {
        const u64 at = first + c < count ? first + c : count - 1;
        column[c] = x + column_stride * (list ? list[at] : at);
        centre[c] = M == DEVIATION ? centres[at] : 0.0;
        sum[c] = 0.0;
    }
#pragma unroll 2
    for (u64 i = start + threadIdx.x; i < end; i += THREADS) {
        const double v = vector[i];
#pragma unroll
        for (int c = 0; c < TOGETHER; c++) sum[c] += term<M>((double)column[c][i], v, centre[c]);
    }
#pragma unroll
    for (int c = 0; c < TOGETHER; c++) {
        const double whole = warp_sum(sum[c]);
        if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32][c] = whole;
    }
    __syncthreads();
    if (threadIdx.x < TOGETHER && first + threadIdx.x < count) {
        double whole = 0.0;
        for (int w = 0; w < THREADS / 32; w++) whole += sums[w][threadIdx.x];
        out[(u64)blockIdx.y * count + first + threadIdx.x] = whole;
    }
}

// Rows one after another (column_stride == 1): a thread sums a segment of the rows of its column.
template <class T, int M>
__device__ __forceinline__ void reduce_wide(const T* x, u64 row_stride, u64 rows, const u32* list, u64 count,
                                            const double* vector, const double* centres, u64 segment, double* out) {
    const u64 c = (u64)blockIdx.x * blockDim.x + threadIdx.x, start = (u64)blockIdx.y * segment;
    const u64 end = start + segment < rows ? start + segment : rows;
    if (c >= count) return;
    const double centre = M == DEVIATION ? centres[c] : 0.0;
    const T* entry = x + row_stride * start + (list ? list[c] : c);
    double sum = 0.0;
    u64 i = start;
    for (; i + 8 <= end; i += 8, entry += 8 * row_stride) {
        double eight[8];
#pragma unroll
        for (int r = 0; r < 8; r++) eight[r] = (double)entry[r * row_stride];
#pragma unroll
        for (int r = 0; r < 8; r++) sum += term<M>(eight[r], vector[i + r], centre);
    }
    for (; i < end; i++, entry += row_stride) sum += term<M>((double)*entry, vector[i], centre);
    out[(u64)blockIdx.y * count + c] = sum;
}

#define REDUCE(NAME, T, M)                                                                                            \
    extern "C" __global__ void __launch_bounds__(THREADS) reduce_long_##NAME(                                         \
        const T* x, u64 stride, u64 rows, const u32* list, u64 count, const double* vector, const double* centres,    \
        u64 segment, double* out) {                                                                                   \
        reduce_long<T, M>(x, stride, rows, list, count, vector, centres, segment, out);                               \
    }                                                                                                                 \
    extern "C" __global__ void __launch_bounds__(THREADS) reduce_wide_##NAME(                                         \
        const T* x, u64 stride, u64 rows, const u32* list, u64 count, const double* vector, const double* centres,    \
        u64 segment, double* out) {                                                                                   \
        reduce_wide<T, M>(x, stride, rows, list, count, vector, centres, segment, out);                               \
    }
REDUCE(dot_f64, double, DOT)
REDUCE(dot_f32, float, DOT)
REDUCE(square_f64, double, SQUARE)
REDUCE(square_f32, float, SQUARE)
REDUCE(deviation_f64, double, DEVIATION)
REDUCE(deviation_f32, float, DEVIATION)

// out[e] = sum_s parts[s * count + e]
extern "C" __global__ void add_up(const double* parts, u64 segments, u64 count, double* out) {
    const u64 e = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= count) return;
    double sum = 0.0;
    for (u64 s = 0; s < segments; s++) sum += parts[s * count + e];
    out[e] = sum;
}

// out[i] = sum_c factors[c] X[i, list[c]]
template <class T>
__device__ __forceinline__ void combine(const T* x, u64 row_stride, u64 column_stride, u64 rows, const u32* list,
                                        u64 count, const double* factors, double* out) {
    const u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows) return;
    const T* row = x + row_stride * i;
    double sum = 0.0;
#pragma unroll 8
    for (u64 c = 0; c < count; c++) sum += factors[c] * (double)row[column_stride * (list ? list[c] : c)];
    out[i] = sum;
}

// out[c * rows + i] = X[i, list[c]], times weights[i] (how = 1) or its root (how = 2)
template <class T>
__device__ __forceinline__ void gather(const T* x, u64 row_stride, u64 column_stride, u64 rows, const u32* list,
                                       u64 count, const double* weights, u64 how, double* out) {
    const u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows) return;
    const double factor = how == 0 ? 1.0 : how == 1 ? weights[i] : sqrt(weights[i]);
    for (u64 c = blockIdx.y; c < count; c += gridDim.y)
        out[c * rows + i] = factor * (double)x[row_stride * i + column_stride * (list ? list[c] : c)];
}

// out[s] = sum_j X[list[s], j] w[j], a block per row
template <class T>
__device__ __forceinline__ void dot_rows(const T* x, u64 row_stride, u64 column_stride, u64 columns, const u32* list,
                                         const double* w, double* out) {
    __shared__ double sums[THREADS / 32];
    const T* row = x + row_stride * list[blockIdx.x];
    double sum = 0.0;
    for (u64 j = threadIdx.x; j < columns; j += THREADS) sum += w[j] * (double)row[column_stride * j];
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        double whole = 0.0;
        for (int k = 0; k < THREADS / 32; k++) whole += sums[k];
        out[blockIdx.x] = whole;
    }
}

// out[j] += sum_s factors[s] X[list[s], j]
template <class T>
__device__ __forceinline__ void add_rows(const T* x, u64 row_stride, u64 column_stride, u64 columns, const u32* list,
                                         u64 count, const double* factors, double* out) {
    const u64 j = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= columns) return;
    double sum = 0.0;
    for (u64 s = 0; s < count; s++) sum += factors[s] * (double)x[row_stride * list[s] + column_stride * j];
    out[j] += sum;
}

// Sparse columns: an item is a piece of one, long columns have several.
struct Item {
    u64 start;
    u32 length, slot;
};

// A warp per item: what its entries add to the sum of its column.
template <class T, int M>
__device__ __forceinline__ void sparse_reduce(const u32* indices, const T* values, const Item* items, u64 count,
                                              const double* vector, const double* centres, double* out) {
    const u64 which = ((u64)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    const u32 lane = threadIdx.x % 32;
    if (which >= count) return;
    const Item item = items[which];
    const double centre = M == DEVIATION ? centres[item.slot] : 0.0;
    double sum = 0.0;
#pragma unroll 4
    for (u32 e = lane; e < item.length; e += 32) {
        const double x = M == WEIGHT ? 0.0 : (double)values[item.start + e];
        sum += term<M>(x, vector[indices[item.start + e]], centre);
    }
    sum = warp_sum(sum);
    if (lane == 0) out[which] = sum;
}

// out[which] = how many entries of a piece, whose slot is its column, do not come after the one before them in that
// column, or lie beyond the last row
extern "C" __global__ void misplaced(const u64* pointers, const u32* indices, const Item* items, u64 count, u64 rows,
                                     double* out) {
    const u64 which = ((u64)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    const u32 lane = threadIdx.x % 32;
    if (which >= count) return;
    const Item item = items[which];
    const u64 first = pointers[item.slot];
    double wrong = 0.0;
    for (u32 e = lane; e < item.length; e += 32) {
        const u64 at = item.start + e;
        const u32 row = indices[at];
        if (row >= rows) wrong += 1.0;
        if (at > first && indices[at - 1] >= row) wrong += 1.0;
    }
    wrong = warp_sum(wrong);
    if (lane == 0) out[which] = wrong;
}

// out[c] = the sum of parts[first[c]] to parts[first[c + 1]]
extern "C" __global__ void add_up_items(const double* parts, const u32* first, u64 count, double* out) {
    const u64 c = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= count) return;
    double sum = 0.0;
    for (u32 e = first[c]; e < first[c + 1]; e++) sum += parts[e];
    out[c] = sum;
}

// The first entry of a column, counted from its start, whose row is not below `row`.
__device__ __forceinline__ u32 entry_of(const u32* rows, u32 length, u64 row) {
    u32 low = 0, high = length;
    while (low < high) {
        const u32 middle = low + (high - low) / 2;
        if (rows[middle] < row) low = middle + 1;
        else high = middle;
    }
    return low;
}

// out[c * (blocks + 1) + b] = where block b of the rows begins in column list[c]
extern "C" __global__ void bounds(const u64* pointers, const u32* indices, const u32* list, u64 count, u64 block,
                                  u64 blocks, u32* out) {
    const u64 e = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= count * (blocks + 1)) return;
    const u64 c = e / (blocks + 1), b = e % (blocks + 1), start = pointers[list[c]];
    out[e] = entry_of(indices + start, (u32)(pointers[list[c] + 1] - start), b * block);
}

// out[i] = sum_c factors[c] X[i, list[c]]: a warp adds up a block of rows, column after column. The entries of the next
// columns are fetched while those before them are added.
const int ROWS = 256;
const int AHEAD = 8;

template <class T>
__device__ __forceinline__ void sparse_combine(const u64* pointers, const u32* indices, const T* values,
                                               const u32* list, u64 count, const u32* bounds, u64 blocks,
                                               const double* factors, u64 rows, double* out) {
    __shared__ double sums[ROWS];
    const u32 lane = threadIdx.x, b = blockIdx.x;
    const u64 first = (u64)b * ROWS;
    for (u32 i = lane; i < ROWS; i += 32) sums[i] = 0.0;
    __syncwarp();
    for (u64 group = 0; group < count; group += AHEAD) {
        u64 start[AHEAD];
        u32 length[AHEAD], row[AHEAD];
        double value[AHEAD];
#pragma unroll
        for (int a = 0; a < AHEAD; a++) {
            const u64 c = group + a;
            start[a] = length[a] = 0;
            if (c < count) {
                const u32 from = bounds[c * (blocks + 1) + b];
                start[a] = pointers[list[c]] + from;
                length[a] = bounds[c * (blocks + 1) + b + 1] - from;
            }
        }
#pragma unroll
        for (int a = 0; a < AHEAD; a++) {
            row[a] = 0;
            value[a] = 0.0;
            if (lane < length[a]) {
                row[a] = (u32)(indices[start[a] + lane] - first);
                value[a] = factors[group + a] * (double)values[start[a] + lane];
            }
        }
#pragma unroll
        for (int a = 0; a < AHEAD; a++) {
            if (lane < length[a]) sums[row[a]] += value[a];
            for (u32 e = lane + 32; e < length[a]; e += 32)
                sums[indices[start[a] + e] - first] += factors[group + a] * (double)values[start[a] + e];
            __syncwarp();
        }
    }
    for (u32 i = lane; i < ROWS && first + i < rows; i += 32) out[first + i] = sums[i];
}

// Some rows of some columns written out: out[c * height + (i - low)], times weights[i] or its root; `out` is zero before.
template <class T>
__device__ __forceinline__ void densify(const u64* pointers, const u32* indices, const T* values, const u32* list,
                                        u64 low, u64 height, const double* weights, u64 how, double* out) {
    __shared__ u32 range[2];
    const u64 start = pointers[list[blockIdx.x]];
    const u32 length = (u32)(pointers[list[blockIdx.x] + 1] - start);
    if (threadIdx.x < 2) range[threadIdx.x] = entry_of(indices + start, length, low + threadIdx.x * height);
    __syncthreads();
    for (u64 e = range[0] + threadIdx.x; e < range[1]; e += blockDim.x) {
        const u32 i = indices[start + e];
        const double factor = how == 0 ? 1.0 : how == 1 ? weights[i] : sqrt(weights[i]);
        out[blockIdx.x * height + (i - low)] = factor * (double)values[start + e];
    }
}

// out[i] = (a[i] + shift) * b[i], the shift given by its bits
extern "C" __global__ void multiply(const double* a, const double* b, u64 shift, u64 count, double* out) {
    const u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = (a[i] + __longlong_as_double((long long)shift)) * b[i];
}

#define EITHER(NAME, T)                                                                                               \
    extern "C" __global__ void combine_##NAME(const T* x, u64 row_stride, u64 column_stride, u64 rows,                \
                                              const u32* list, u64 count, const double* factors, double* out) {       \
        combine<T>(x, row_stride, column_stride, rows, list, count, factors, out);                                    \
    }                                                                                                                 \
    extern "C" __global__ void gather_##NAME(const T* x, u64 row_stride, u64 column_stride, u64 rows,                 \
                                             const u32* list, u64 count, const double* weights, u64 how,              \
                                             double* out) {                                                           \
        gather<T>(x, row_stride, column_stride, rows, list, count, weights, how, out);                                \
    }                                                                                                                 \
    extern "C" __global__ void __launch_bounds__(THREADS) dot_rows_##NAME(                                            \
        const T* x, u64 row_stride, u64 column_stride, u64 columns, const u32* list, const double* w, double* out) {  \
        dot_rows<T>(x, row_stride, column_stride, columns, list, w, out);                                             \
    }                                                                                                                 \
    extern "C" __global__ void add_rows_##NAME(const T* x, u64 row_stride, u64 column_stride, u64 columns,            \
                                               const u32* list, u64 count, const double* factors, double* out) {      \
        add_rows<T>(x, row_stride, column_stride, columns, list, count, factors, out);                                \
    }                                                                                                                 \
    extern "C" __global__ void sparse_combine_##NAME(const u64* pointers, const u32* indices, const T* values,        \
                                                     const u32* list, u64 count, const u32* bounds, u64 blocks,       \
                                                     const double* factors, u64 rows, double* out) {                  \
        sparse_combine<T>(pointers, indices, values, list, count, bounds, blocks, factors, rows, out);                \
    }                                                                                                                 \
    extern "C" __global__ void densify_##NAME(const u64* pointers, const u32* indices, const T* values,               \
                                              const u32* list, u64 low, u64 height, const double* weights, u64 how,   \
                                              double* out) {                                                          \
        densify<T>(pointers, indices, values, list, low, height, weights, how, out);                                  \
    }
EITHER(f64, double)
EITHER(f32, float)

#define SPARSE(NAME, T, M)                                                                                            \
    extern "C" __global__ void sparse_##NAME(const u32* indices, const T* values, const Item* items, u64 count,       \
                                             const double* vector, const double* centres, double* out) {              \
        sparse_reduce<T, M>(indices, values, items, count, vector, centres, out);                                     \
    }
SPARSE(dot_f64, double, DOT)
SPARSE(dot_f32, float, DOT)
SPARSE(square_f64, double, SQUARE)
SPARSE(square_f32, float, SQUARE)
SPARSE(deviation_f64, double, DEVIATION)
SPARSE(deviation_f32, float, DEVIATION)
SPARSE(weight_f64, double, WEIGHT)
SPARSE(weight_f32, float, WEIGHT)
