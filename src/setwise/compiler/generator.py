"""NumPy's PCG64 generator in compiled code.

Uniform numbers are computed in place; all others are drawn by NumPy's own C functions, which take a `bitgen_t`, NumPy's
public interface to generators. Compiled code has a state of its own, laid out as follows, which `arguments` fills from
a generator and writes back to it.

    byte  0  state, 128 bits                 48  bitgen_t: address of the state
         16  increment, 128 bits             56            next_uint64
         32  whether 32 bits are left over   64            next_uint32
         40  these bits                      72            next_double
                                             80            next_raw

O'Neill: PCG: A Family of Simple Fast Space-Efficient Statistically Good Algorithms for Random Number Generation (2014),
PCG XSL RR 128/64, as in NumPy.
"""

WORDS = 11
BITGEN = 48  # offset of the bitgen_t, in bytes

# Methods of a generator that take and return floats, by NumPy's C function and its parameters.
DRAWS = {
    "standard_normal": ("random_standard_normal", 0),
    "standard_exponential": ("random_standard_exponential", 0),
    "exponential": ("random_exponential", 1),
    "standard_gamma": ("random_standard_gamma", 1),
    "gamma": ("random_gamma", 2),
    "beta": ("random_beta", 2),
    "normal": ("random_normal", 2),
}

CODE = """
define internal i64 @next_uint64(ptr %rng) nounwind {
  %state = load i128, ptr %rng, align 8, !tbaa !8
  %place = getelementptr i8, ptr %rng, i64 16
  %increment = load i128, ptr %place, align 8, !tbaa !8
  %product = mul i128 %state, 47026247687942121848144207491837523525
  %next = add i128 %product, %increment
  store i128 %next, ptr %rng, align 8, !tbaa !8
  %upper = lshr i128 %next, 64
  %high = trunc i128 %upper to i64
  %low = trunc i128 %next to i64
  %mixed = xor i64 %high, %low
  %turn = lshr i64 %high, 58
  %out = call i64 @llvm.fshr.i64(i64 %mixed, i64 %mixed, i64 %turn)
  ret i64 %out
}

define internal double @next_double(ptr %rng) nounwind {
  %bits = call i64 @next_uint64(ptr %rng)
  %top = lshr i64 %bits, 11
  %whole = uitofp i64 %top to double
  %out = fmul double %whole, 0x3CA0000000000000
  ret double %out
}

define internal i32 @next_uint32(ptr %rng) nounwind {
  %flag = getelementptr i8, ptr %rng, i64 32
  %buffer = getelementptr i8, ptr %rng, i64 40
  %has = load i64, ptr %flag, align 8, !tbaa !8
  %some = icmp ne i64 %has, 0
  br i1 %some, label %left, label %fresh
left:
  store i64 0, ptr %flag, align 8, !tbaa !8
  %kept = load i64, ptr %buffer, align 8, !tbaa !8
  %upper = trunc i64 %kept to i32
  ret i32 %upper
fresh:
  %bits = call i64 @next_uint64(ptr %rng)
  %high = lshr i64 %bits, 32
  store i64 1, ptr %flag, align 8, !tbaa !8
  store i64 %high, ptr %buffer, align 8, !tbaa !8
  %lower = trunc i64 %bits to i32
  ret i32 %lower
}

define internal void @prepare_generator(ptr %rng) nounwind {
  %state = getelementptr i8, ptr %rng, i64 48
  store ptr %rng, ptr %state, align 8, !tbaa !8
  %first = getelementptr i8, ptr %rng, i64 56
  store ptr @next_uint64, ptr %first, align 8, !tbaa !8
  %second = getelementptr i8, ptr %rng, i64 64
  store ptr @next_uint32, ptr %second, align 8, !tbaa !8
  %third = getelementptr i8, ptr %rng, i64 72
  store ptr @next_double, ptr %third, align 8, !tbaa !8
  %fourth = getelementptr i8, ptr %rng, i64 80
  store ptr @next_uint64, ptr %fourth, align 8, !tbaa !8
  ret void
}

declare i64 @llvm.fshr.i64(i64, i64, i64)
"""
