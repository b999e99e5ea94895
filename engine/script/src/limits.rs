//! What a script may use at most. Each bound is named here, once.

/// Longest source, in bytes (`script.max_size_in_bytes`).
pub const SOURCE_BYTES_MAX: usize = 65_535;

/// Deepest nesting of expressions and statements. Parser and compiler recurse so deep.
pub const DEPTH_MAX: u16 = 160;

/// Rounds of all loops of one call of a function, as Elasticsearch has it.
pub const LOOP_ROUNDS_MAX: u32 = 1_000_000;

/// Steps of one run, so that a recursion without loops ends too.
pub const STEPS_MAX: u64 = 200_000_000;

/// Steps that functions called by the library take in one run: they cannot stop in between.
pub const NESTED_STEPS_MAX: u64 = 1_000_000;

/// Calls of functions under way.
pub const CALLS_MAX: usize = 1_000;

/// Parts of values that one operation compares: it cannot stop in between.
pub const LOOKED_MAX: u64 = 1 << 20;

/// Lambdas called by library functions called by lambdas…
pub const NESTED_MAX: u8 = 12;

/// Memory of one run, garbage included, in bytes.
pub const HEAP_BYTES_MAX: usize = 64 << 20;

/// Slots of one function.
pub const SLOTS_MAX: usize = 1_000;

/// Deepest value that is printed, compared or handed out.
pub const VALUE_DEPTH_MAX: u16 = 100;
