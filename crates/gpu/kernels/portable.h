/* What differs between CUDA and OpenCL, under one set of names. Every kernel file is compiled with this
   before it. Kernels are C: no templates, no references, no recursion.

   A kernel is written
       KERNEL name(GLOBAL const u32 *values, GLOBAL u32 *sums, u32 count) { ... }
   and runs in groups of GROUP lanes. Arrays that a group shares are declared at the top of the kernel with
       LOCAL_ARRAY(u32, shared, GROUP);
   and given to functions as LOCAL u32 *. All lanes of a group must come to every BARRIER. */

#ifdef __OPENCL_VERSION__

#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
typedef uchar u8;
typedef ushort u16;
typedef uint u32;
typedef ulong u64;
#define KERNEL __kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
/* Must be inlined: where a function is always given the same local array, PoCL would make that array one for all
   groups. */
#define FUNCTION static inline __attribute__((always_inline))
#define GLOBAL __global
#define LOCAL __local
#define LOCAL_ARRAY(type, name, length) __local type name[length]
#define GROUP_NUMBER ((u32)get_group_id(0))
#define GROUP_COUNT ((u32)get_num_groups(0))
#define LANE ((u32)get_local_id(0))
#define BARRIER barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
/* Writes before it are seen by other groups before writes behind it. */
#define FENCE mem_fence(CLK_GLOBAL_MEM_FENCE)
#define add_u32(place, value) atomic_add((volatile __global u32 *)(place), (u32)(value))
#define add_u64(place, value) atom_add((volatile __global u64 *)(place), (u64)(value))
#define max_u32(place, value) atomic_max((volatile __global u32 *)(place), (u32)(value))
#define min_u32(place, value) atomic_min((volatile __global u32 *)(place), (u32)(value))
#define or_u32(place, value) atomic_or((volatile __global u32 *)(place), (u32)(value))
#define swap_if_u32(place, expected, value) \
    atomic_cmpxchg((volatile __global u32 *)(place), (u32)(expected), (u32)(value))
#define swap_if_u64(place, expected, value) \
    atom_cmpxchg((volatile __global u64 *)(place), (u64)(expected), (u64)(value))
#define local_add_u32(place, value) atomic_add((volatile __local u32 *)(place), (u32)(value))
#define local_or_u32(place, value) atomic_or((volatile __local u32 *)(place), (u32)(value))
#define local_max_u32(place, value) atomic_max((volatile __local u32 *)(place), (u32)(value))
#define bits_set(word) ((u32)popcount((u32)(word)))
#define leading_zeros(word) ((u32)clz((u32)(word)))

#else

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
#define KERNEL extern "C" __global__ void __launch_bounds__(GROUP)
#define FUNCTION static __device__ __forceinline__
#define GLOBAL
#define LOCAL
#define LOCAL_ARRAY(type, name, length) __shared__ type name[length]
#define GROUP_NUMBER blockIdx.x
#define GROUP_COUNT gridDim.x
#define LANE threadIdx.x
#define BARRIER __syncthreads()
#define FENCE __threadfence()
#define add_u32(place, value) atomicAdd((u32 *)(place), (u32)(value))
#define add_u64(place, value) atomicAdd((u64 *)(place), (u64)(value))
#define max_u32(place, value) atomicMax((u32 *)(place), (u32)(value))
#define min_u32(place, value) atomicMin((u32 *)(place), (u32)(value))
#define or_u32(place, value) atomicOr((u32 *)(place), (u32)(value))
#define swap_if_u32(place, expected, value) \
    atomicCAS((u32 *)(place), (u32)(expected), (u32)(value))
#define swap_if_u64(place, expected, value) \
    atomicCAS((u64 *)(place), (u64)(expected), (u64)(value))
#define local_add_u32(place, value) atomicAdd((u32 *)(place), (u32)(value))
#define local_or_u32(place, value) atomicOr((u32 *)(place), (u32)(value))
#define local_max_u32(place, value) atomicMax((u32 *)(place), (u32)(value))
#define bits_set(word) ((u32)__popc((u32)(word)))
#define leading_zeros(word) ((u32)__clz((int)(word)))

#endif

/* The number of this lane among all lanes of the launch, and how many there are. */
#define LANE_OF_ALL ((u64)GROUP_NUMBER * GROUP + LANE)
#define LANES_OF_ALL ((u64)GROUP_COUNT * GROUP)

/* The last of the ascending numbers from `low` to `high` that is not above `number`; the first is not. Of rows that are given by where they begin,
   that is the one which a place is in. */
FUNCTION u32 last_not_above(GLOBAL const u32 *numbers, u32 low, u32 high, u32 number)
{
    while (high - low > 1) {
        u32 middle = low + (high - low) / 2;
        if (numbers[middle] <= number)
            low = middle;
        else
            high = middle;
    }
    return low;
}

FUNCTION u32 last_not_above_u64(GLOBAL const u64 *numbers, u32 low, u32 high, u64 number)
{
    while (high - low > 1) {
        u32 middle = low + (high - low) / 2;
        if (numbers[middle] <= number)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The sum of a value over the lanes before this one; `total` gets that over all. `scratch` has GROUP
   places, and may be used again after the call. The same for numbers of 32 and of 64 bits. */
#ifdef __OPENCL_VERSION__

FUNCTION u32 group_sum_before(u32 value, LOCAL u32 *scratch, u32 *total)
{
    u32 lane = LANE;
    scratch[lane] = value;
    BARRIER;
    for (u32 reach = 1; reach < GROUP; reach *= 2) {
        u32 more = lane >= reach ? scratch[lane - reach] : 0;
        BARRIER;
        scratch[lane] += more;
        BARRIER;
    }
    u32 through = scratch[lane];
    *total = scratch[GROUP - 1];
    BARRIER;
    return through - value;
}

FUNCTION u64 group_sum_before_u64(u64 value, LOCAL u64 *scratch, u64 *total)
{
    u32 lane = LANE;
    scratch[lane] = value;
    BARRIER;
    for (u32 reach = 1; reach < GROUP; reach *= 2) {
        u64 more = lane >= reach ? scratch[lane - reach] : 0;
        BARRIER;
        scratch[lane] += more;
        BARRIER;
    }
    u64 through = scratch[lane];
    *total = scratch[GROUP - 1];
    BARRIER;
    return through - value;
}

#else

/* 32 lanes see each other's values without a barrier. */
FUNCTION u32 group_sum_before(u32 value, LOCAL u32 *scratch, u32 *total)
{
    u32 warp = LANE / 32, lane = LANE % 32;
    u32 through = value;
    for (u32 reach = 1; reach < 32; reach *= 2) {
        u32 more = __shfl_up_sync(0xffffffffu, through, reach);
        if (lane >= reach)
            through += more;
    }
    if (lane == 31)
        scratch[warp] = through;
    BARRIER;
    u32 before = 0, sum = 0;
    for (u32 other = 0; other < GROUP / 32; other++) {
        before += other < warp ? scratch[other] : 0;
        sum += scratch[other];
    }
    BARRIER;
    *total = sum;
    return before + through - value;
}

FUNCTION u64 group_sum_before_u64(u64 value, LOCAL u64 *scratch, u64 *total)
{
    u32 warp = LANE / 32, lane = LANE % 32;
    u64 through = value;
    for (u32 reach = 1; reach < 32; reach *= 2) {
        u64 more = __shfl_up_sync(0xffffffffu, through, reach);
        if (lane >= reach)
            through += more;
    }
    if (lane == 31)
        scratch[warp] = through;
    BARRIER;
    u64 before = 0, sum = 0;
    for (u32 other = 0; other < GROUP / 32; other++) {
        before += other < warp ? scratch[other] : 0;
        sum += scratch[other];
    }
    BARRIER;
    *total = sum;
    return before + through - value;
}

#endif
