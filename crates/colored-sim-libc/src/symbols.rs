//! Functions of the C library, for threads that make a run of a simulation; all other threads get the library's.
//!
//! Allocators, and std before `main`, call these functions. So nothing here allocates, and the one thread-local
//! ([`colored_sim::thread`]) is a constant at first and has no destructor.

use colored_sim::thread;
use libc::{c_char, c_int, c_long, c_uint, c_void, clockid_t, size_t, ssize_t, timespec};
use std::mem::transmute;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

type ClockGettime = unsafe extern "C" fn(clockid_t, *mut timespec) -> c_int;
type Getrandom = unsafe extern "C" fn(*mut c_void, size_t, c_uint) -> ssize_t;
type Syscall =
    unsafe extern "C" fn(c_long, c_long, c_long, c_long, c_long, c_long, c_long) -> c_long;

/// The monotonic clock at the begin of a run. Programs may take a time before it.
const MONOTONIC_BEGIN: u64 = 1_000_000;

/// The time of day at the begin of a run, in seconds of Unix: 2026-01-01 00:00 UTC.
const REALTIME_BEGIN: u64 = 1_767_225_600;

/// A function of the C library that this file hides.
struct Hidden {
    name: &'static [u8],
    found: AtomicPtr<c_void>,
}

static CLOCK_GETTIME: Hidden = Hidden::new(b"clock_gettime\0");
static GETRANDOM: Hidden = Hidden::new(b"getrandom\0");
static SYSCALL: Hidden = Hidden::new(b"syscall\0");

impl Hidden {
    const fn new(name: &'static [u8]) -> Self {
        Self { name, found: AtomicPtr::new(null_mut()) }
    }

    /// The function's address; null if the library has none.
    fn find(&self) -> *mut c_void {
        // Ordering: the address is all there is, and every thread finds the same one.
        let found = self.found.load(Ordering::Relaxed);
        if !found.is_null() {
            return found;
        }
        // SAFETY: the name ends with a zero, and lives for ever. `RTLD_NEXT` asks for the definition behind this one.
        let found = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr().cast::<c_char>()) };
        // Ordering: as above.
        self.found.store(found, Ordering::Relaxed);
        found
    }
}

/// The error of a function that the C library does not have.
fn is_missing() -> c_int {
    // SAFETY: the function has no obligations.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: the address of this thread's `errno` is valid for as long as the thread.
    unsafe { errno.write(libc::ENOSYS) };
    -1
}

/// The seconds and nanoseconds of a clock, on a thread with a simulation. None for clocks of CPU time, and on other threads.
fn time_of(clock: clockid_t) -> Option<(i64, i32)> {
    let begin = match clock {
        libc::CLOCK_REALTIME | libc::CLOCK_REALTIME_COARSE | libc::CLOCK_TAI => REALTIME_BEGIN,
        libc::CLOCK_MONOTONIC
        | libc::CLOCK_MONOTONIC_COARSE
        | libc::CLOCK_MONOTONIC_RAW
        | libc::CLOCK_BOOTTIME => MONOTONIC_BEGIN,
        _ => return None,
    };
    let nanos = thread::time()?;
    let seconds = begin.wrapping_add(nanos / 1_000_000_000);
    Some((seconds.cast_signed(), (nanos % 1_000_000_000) as i32))
}

/// Fills the bytes by the seed, on a thread with a simulation. False on other threads.
///
/// # Safety
///
/// `bytes` is valid for writes of `length` bytes, or null.
unsafe fn fill(bytes: *mut c_void, length: size_t) -> bool {
    if bytes.is_null() || thread::time().is_none() {
        return false;
    }
    for at in 0..length {
        let random = thread::random_byte().unwrap_or(0);
        // SAFETY: the caller says that there are `length` bytes, and `at` is below that.
        let byte = unsafe { bytes.cast::<u8>().add(at) };
        // SAFETY: the caller says that the byte may be written.
        unsafe { byte.write(random) };
    }
    true
}

/// The time of a clock: the simulation's, or the library's.
///
/// # Safety
///
/// As the library's: `time` is valid for a write.
#[unsafe(no_mangle)]
unsafe extern "C" fn clock_gettime(clock: clockid_t, time: *mut timespec) -> c_int {
    if let (Some((seconds, nanos)), false) = (time_of(clock), time.is_null()) {
        let now = timespec { tv_sec: seconds as libc::time_t, tv_nsec: nanos as _ };
        // SAFETY: `time` is not null, and the caller promises that it then leads to a place for a `timespec`.
        unsafe { time.write(now) };
        return 0;
    }
    let found = CLOCK_GETTIME.find();
    if found.is_null() {
        return is_missing();
    }
    // SAFETY: the library's function of this name has this type.
    let real = unsafe { transmute::<*mut c_void, ClockGettime>(found) };
    // SAFETY: the library's function asks for what this one asks of its caller: a place for a `timespec`.
    unsafe { real(clock, time) }
}

/// On 32 bits, where the seconds of `timespec` end in 2038, std calls another function for the time.
#[cfg(target_pointer_width = "32")]
mod wide {
    use super::{Hidden, c_int, c_long, c_void, clockid_t, is_missing, time_of, transmute};

    /// The number of the system call of this name, which `libc` does not have for each target. It is one number on all
    /// targets, but MIPS counts from 4,000.
    pub(super) const NUMBER: c_long =
        if cfg!(any(target_arch = "mips", target_arch = "mips32r6")) { 4403 } else { 403 };

    static CLOCK_GETTIME64: Hidden = Hidden::new(b"__clock_gettime64\0");

    type ClockGettime64 = unsafe extern "C" fn(clockid_t, *mut Timespec64) -> c_int;

    /// The library's `__timespec64`.
    #[repr(C)]
    pub(super) struct Timespec64 {
        seconds: i64,
        #[cfg(target_endian = "big")]
        padding: i32,
        nanos: i32,
        #[cfg(target_endian = "little")]
        padding: i32,
    }

    /// As `clock_gettime`, with seconds of 64 bits.
    ///
    /// # Safety
    ///
    /// As the library's: `time` is valid for a write.
    #[unsafe(no_mangle)]
    pub(super) unsafe extern "C" fn __clock_gettime64(
        clock: clockid_t,
        time: *mut Timespec64,
    ) -> c_int {
        if let (Some((seconds, nanos)), false) = (time_of(clock), time.is_null()) {
            // SAFETY: `time` is not null, and the caller promises that it then leads to a place for a `timespec`.
            unsafe { time.write(Timespec64 { seconds, nanos, padding: 0 }) };
            return 0;
        }
        let found = CLOCK_GETTIME64.find();
        if found.is_null() {
            return is_missing();
        }
        // SAFETY: the library's function of this name has this type.
        let real = unsafe { transmute::<*mut c_void, ClockGettime64>(found) };
        // SAFETY: the library's function asks for what this one asks of its caller: a place for a `timespec`.
        unsafe { real(clock, time) }
    }
}

/// Random bytes: by the seed, or the library's.
///
/// # Safety
///
/// As the library's: `bytes` is valid for writes of `length` bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn getrandom(bytes: *mut c_void, length: size_t, flags: c_uint) -> ssize_t {
    // SAFETY: the caller promises that `length` bytes at `bytes` may be written.
    if unsafe { fill(bytes, length) } {
        return length.cast_signed();
    }
    let found = GETRANDOM.find();
    if found.is_null() {
        return is_missing() as ssize_t;
    }
    // SAFETY: the library's function of this name has this type.
    let real = unsafe { transmute::<*mut c_void, Getrandom>(found) };
    // SAFETY: the library's function asks for what this one asks of its caller: `length` bytes that may be written.
    unsafe { real(bytes, length, flags) }
}

/// A system call by its number. `getrandom` and `clock_gettime` are those above; all others are the library's.
///
/// The library's function takes a variable number of arguments, at most six. On the systems of Linux these are passed as those
/// of this function, so the ones that a caller has not given are what happens to be in their places, here as there.
///
/// # Safety
///
/// As the library's: the arguments are right for this call.
#[unsafe(no_mangle)]
unsafe extern "C" fn syscall(
    number: c_long,
    first: c_long,
    second: c_long,
    third: c_long,
    fourth: c_long,
    fifth: c_long,
    sixth: c_long,
) -> c_long {
    let (pointer, is_on) = (first as *mut c_void, thread::time().is_some());
    if is_on && number == libc::SYS_getrandom {
        // SAFETY: the arguments are those of `getrandom`, says the caller.
        return unsafe { getrandom(pointer, second as size_t, third as c_uint) } as c_long;
    }
    if is_on && number == libc::SYS_clock_gettime {
        // SAFETY: the arguments are those of `clock_gettime`, says the caller.
        let result = unsafe { clock_gettime(first as clockid_t, second as *mut timespec) };
        return c_long::from(result);
    }
    #[cfg(target_pointer_width = "32")]
    if is_on && number == wide::NUMBER {
        // SAFETY: the arguments are those of `clock_gettime64`, says the caller.
        let result = unsafe { wide::__clock_gettime64(first as clockid_t, second as *mut _) };
        return c_long::from(result);
    }
    let found = SYSCALL.find();
    if found.is_null() {
        return c_long::from(is_missing());
    }
    // SAFETY: the library's function of this name takes these arguments in these places.
    let real = unsafe { transmute::<*mut c_void, Syscall>(found) };
    // SAFETY: the caller promises what the call of this number asks of its arguments, which go on unchanged.
    unsafe { real(number, first, second, third, fourth, fifth, sixth) }
}
