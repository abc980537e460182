//! [`Services`]: from (program, version, procedure) to an async function under a color.

use crate::answer::Answer;
use crate::caller::Caller;
use crate::error::Refusal;
use crate::message::Call;
use crate::mistake::Mistake;
use crate::xdr::decode;
use colored::{Color, spawn_colored};
use nfs3_types::xdr_codec::{Pack, Unpack};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// A procedure: decodes its arguments and spawns its handler, which answers. Returns the answer if there are no such
/// arguments.
type Entry = Box<dyn Fn(Caller, &[u8], Answer) -> Result<(), Answer> + Send + Sync>;

/// A version of a program: its procedures. [`service!`](crate::service!) makes one from a table.
///
/// Procedure 0, which takes and returns nothing, is there without a handler.
pub struct Program {
    number: u32,
    version: u32,
    procedures: BTreeMap<u32, Entry>,
}

impl Program {
    /// A program without procedures.
    #[must_use]
    pub fn new(number: u32, version: u32) -> Self {
        Self { number, version, procedures: BTreeMap::new() }
    }

    /// Adds a procedure, in place of an earlier one with the same number.
    ///
    /// Each call is a task of its own, under the color that `color` returns. `color` runs under the color of the connection or
    /// the endpoint, in the order in which the calls have come, and so spawns the calls of one color in this order. If the
    /// handler panics, the caller gets [`Refusal::SystemError`].
    #[must_use]
    pub fn procedure<A, R, C, H, F>(mut self, number: u32, color: C, handler: H) -> Self
    where
        A: Unpack + Send + 'static,
        R: Pack,
        C: Fn(&Caller, &A) -> Color + Send + Sync + 'static,
        H: Fn(Caller, A) -> F + Send + Sync + 'static,
        F: Future<Output = Result<R, Refusal>> + Send + 'static,
    {
        let entry = move |caller: Caller, args: &[u8], answer: Answer| {
            let Ok(args) = decode::<A>(args) else { return Err(answer) };
            let color = color(&caller, &args);
            let handling = handler(caller, args);
            drop(spawn_colored(color, async move { answer.finish(handling.await) }));
            Ok(())
        };
        self.procedures.insert(number, Box::new(entry));
        self
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program")
            .field("number", &self.number)
            .field("version", &self.version)
            .field("procedures", &self.procedures.keys())
            .finish()
    }
}

/// The programs of a server. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Services {
    programs: Arc<BTreeMap<(u32, u32), Arc<Program>>>,
    pub(crate) mistake: Option<Mistake>,
}

impl Services {
    /// No programs.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a version of a program, in place of an earlier one with the same numbers.
    #[must_use]
    pub fn with(mut self, program: Program) -> Self {
        let key = (program.number, program.version);
        Arc::make_mut(&mut self.programs).insert(key, Arc::new(program));
        self
    }

    /// The same programs, on a server that makes this mistake: for tests.
    #[must_use]
    pub fn with_mistake(self, mistake: Mistake) -> Self {
        Self { mistake: Some(mistake), ..self }
    }

    /// Spawns the handler of a call, or refuses the call.
    pub(crate) fn dispatch(&self, call: &Call<'_>, caller: Caller, answer: Answer) {
        match self.find(call) {
            Ok(Some(entry)) => {
                if let Err(answer) = entry(caller, call.args, answer) {
                    self.refuse(answer, Refusal::GarbageArguments);
                }
            }
            Ok(None) => answer.finish(Ok(nfs3_types::xdr_codec::Void)),
            Err(refusal) => self.refuse(answer, refusal),
        }
    }

    fn refuse(&self, answer: Answer, refusal: Refusal) {
        match self.mistake {
            None => answer.refuse(refusal),
            Some(mistake) => answer.finish(mistake.reply(refusal)),
        }
    }

    /// The entry of a procedure; `None` for a procedure 0 that has none.
    fn find(&self, call: &Call<'_>) -> Result<Option<&Entry>, Refusal> {
        let procedure = call.procedure;
        let program = self.programs.get(&(procedure.program, procedure.version));
        let Some(program) = program else {
            let mut versions =
                self.programs.range((procedure.program, 0)..=(procedure.program, u32::MAX));
            let Some(((_, low), _)) = versions.next() else {
                return Err(Refusal::ProgramUnavailable);
            };
            let high = versions.next_back().map_or(*low, |((_, high), _)| *high);
            return Err(Refusal::ProgramMismatch { low: *low, high });
        };
        match program.procedures.get(&procedure.number) {
            Some(entry) => Ok(Some(entry)),
            None if procedure.number == 0 => Ok(None),
            None => Err(Refusal::ProcedureUnavailable),
        }
    }
}

/// A [`Program`] from a table.
///
/// Each line has the number of a procedure, its handler, and a closure that returns the color of a call. A handler is an
/// async function from a clone of the state, the [`Caller`] and the arguments to a result, or to a [`Refusal`].
///
/// ```
/// use colored::{Color, ColorCell};
/// use rpc::{Caller, Refusal, Services, service};
///
/// const PROGRAM: u32 = 0x2000_0001;
///
/// #[derive(Clone)]
/// struct Bank(Vec<ColorCell<u64>>);
///
/// /// Runs under the color of the account: `with` needs no lock and does not wait.
/// async fn deposit(bank: Bank, _caller: Caller, amounts: [u8; 4]) -> Result<u64, Refusal> {
///     let [account, amount, ..] = amounts;
///     let balance = bank.0.get(usize::from(account)).ok_or(Refusal::GarbageArguments)?;
///     Ok(balance.with(|balance| {
///         *balance += u64::from(amount);
///         *balance
///     }))
/// }
///
/// # #[colored::main]
/// # async fn main() {
/// let bank = Bank((0..4).map(|n| ColorCell::new(Color::of(("account", n)), 0)).collect());
/// let services = Services::new().with(service! {
///     program PROGRAM, version 1, state bank;
///     1 => deposit, under |_, amounts| Color::of(("account", usize::from(amounts[0])));
/// });
/// # }
/// ```
#[macro_export]
macro_rules! service {
    (
        program $program:expr, version $version:expr, state $state:expr;
        $($number:expr => $handler:expr, under $color:expr;)*
    ) => {{
        let state = $state;
        $crate::Program::new($program, $version)$(.procedure($number, $color, {
            let state = ::std::clone::Clone::clone(&state);
            move |caller, args| $handler(::std::clone::Clone::clone(&state), caller, args)
        }))*
    }};
}
