//! Processes without address space layout randomization, on Linux.

/// Lets the processes that this thread starts from now on have the same addresses each time, if the system permits that.
pub(super) fn fix_addresses() {
    // SAFETY: the call takes no pointer. It changes a property of this thread, which only its children and the next `exec`
    // look at. This argument, by the manual, only asks.
    let persona = unsafe { libc::personality(0xffff_ffff) };
    if persona >= 0 {
        let persona = (persona | libc::ADDR_NO_RANDOMIZE) as libc::c_ulong;
        // SAFETY: as above; the other bits are as they were. A refusal, as in some containers, leaves all as it was.
        unsafe { libc::personality(persona) };
    }
}
