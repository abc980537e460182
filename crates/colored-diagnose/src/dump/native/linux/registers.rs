//! The registers that unwinding needs.

use framehop::Unwinder;

#[cfg(target_arch = "aarch64")]
pub(super) type NativeUnwinder = framehop::aarch64::UnwinderAarch64<Vec<u8>>;
#[cfg(target_arch = "x86_64")]
pub(super) type NativeUnwinder = framehop::x86_64::UnwinderX86_64<Vec<u8>>;

/// The registers of a thread.
#[derive(Clone, Copy, Default)]
pub(super) struct Registers {
    pub(super) instruction: u64,
    pub(super) stack: u64,
    frame: u64,
    /// The return address of the innermost function, where the architecture has a register for it.
    #[cfg(target_arch = "aarch64")]
    link: u64,
}

impl Registers {
    #[cfg(target_arch = "x86_64")]
    pub(super) fn of(context: &libc::ucontext_t) -> Self {
        let all = &context.uc_mcontext.gregs;
        let of = |register: i32| all[register as usize].cast_unsigned();
        Self { instruction: of(libc::REG_RIP), stack: of(libc::REG_RSP), frame: of(libc::REG_RBP) }
    }

    #[cfg(target_arch = "aarch64")]
    pub(super) fn of(context: &libc::ucontext_t) -> Self {
        let all = &context.uc_mcontext;
        Self { instruction: all.pc, stack: all.sp, frame: all.regs[29], link: all.regs[30] }
    }

    /// The addresses of the instructions: the one that runs, then those that have called it, each inside the call. At most
    /// `most`, and up to the first one that the tables do not explain.
    pub(super) fn unwind(
        self,
        unwinder: &NativeUnwinder,
        most: usize,
        word: impl Fn(u64) -> Option<u64>,
    ) -> Vec<u64> {
        let mut cache = <NativeUnwinder as Unwinder>::Cache::default();
        let mut read = |address| word(address).ok_or(());
        let registers = self.for_unwinding();
        let mut frames = unwinder.iter_frames(self.instruction, registers, &mut cache, &mut read);
        let mut addresses = Vec::new();
        while let Ok(Some(frame)) = frames.next() {
            addresses.push(frame.address_for_lookup());
            if addresses.len() == most {
                break;
            }
        }
        addresses
    }

    #[cfg(target_arch = "x86_64")]
    fn for_unwinding(self) -> framehop::x86_64::UnwindRegsX86_64 {
        framehop::x86_64::UnwindRegsX86_64::new(self.instruction, self.stack, self.frame)
    }

    #[cfg(target_arch = "aarch64")]
    fn for_unwinding(self) -> framehop::aarch64::UnwindRegsAarch64 {
        framehop::aarch64::UnwindRegsAarch64::new(self.link, self.stack, self.frame)
    }
}
