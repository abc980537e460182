//! The programs that a server has: NFS, MOUNT and leases.

use crate::lease_protocol::{self, FileArgs, HelloAnswer, HelloArgs};
use crate::nfs::{Answer, Nfs, Request};
use crate::nodes::Id;
use crate::recall::CallBack;
use crate::replies::Key;
use crate::visit::Visit;
use colored::Color;
use colored::task::CancellationToken;
use nfs3_types::mount::{self, MOUNT_PROGRAM, dirpath};
use nfs3_types::nfs3::{
    self, ACCESS3args, COMMIT3args, CREATE3args, FSINFO3args, FSSTAT3args, GETATTR3args, LINK3args,
    LOOKUP3args, MKDIR3args, NFS_PROGRAM, PATHCONF3args, READ3args, READDIR3args, READDIRPLUS3args,
    READLINK3args, REMOVE3args, RENAME3args, RMDIR3args, SETATTR3args, SYMLINK3args, WRITE3args,
    nfs_fh3, nfsstat3,
};
use nfs3_types::xdr_codec::{self, Pack, Void};
use rpc::{Auth, Caller, Client, Procedure, Program, Refusal, Services};
use std::io::Write;
use std::pin::Pin;
use std::sync::Arc;

/// The color of the calls on a file.
pub(crate) type ColorOf = fn(Option<Id>) -> Color;

/// What a procedure of NFS replies. A refusal has no attributes: it is the status, and so many words of zeros.
struct Reply<T> {
    answer: Answer<T>,
    absent: usize,
}

impl<T: Pack> Pack for Reply<T> {
    fn packed_size(&self) -> usize {
        4 + match &self.answer {
            Ok(answer) => answer.packed_size(),
            Err(_) => 4 * self.absent,
        }
    }

    fn pack(&self, out: &mut impl Write) -> xdr_codec::Result<usize> {
        match &self.answer {
            Ok(answer) => Ok(nfsstat3::NFS3_OK.pack(out)? + answer.pack(out)?),
            Err(refused) => {
                let mut len = refused.0.pack(out)?;
                for _ in 0..self.absent {
                    len += 0_u32.pack(out)?;
                }
                Ok(len)
            }
        }
    }
}

/// The connection of a call.
fn visit(caller: &Caller) -> Result<&Visit, Refusal> {
    caller.identity().ok_or(Refusal::SystemError)
}

/// Whether and how a request says that it may be repeated.
fn key(request: &Request, caller: &Caller) -> Option<Key> {
    match (request.holder, caller.auth()) {
        (Some(holder), Auth::Unix(user)) if user.stamp != 0 => Some((holder, user.stamp)),
        _ => None,
    }
}

/// What a procedure replies that can be repeated.
async fn look<R>(_: &Nfs, _: Option<Key>, reply: impl Future<Output = R>) -> Result<R, Refusal> {
    Ok(reply.await)
}

/// What a procedure replies that makes a change, which it makes once.
async fn change<R: Pack>(
    nfs: &Nfs,
    key: Option<Key>,
    reply: impl Future<Output = R>,
) -> Result<Encoded, Refusal> {
    if let Some(key) = key
        && let Some(reply) = nfs.replies.call(move |replies| replies.get(key)).await
    {
        return Ok(Encoded(reply));
    }
    let mut bytes = Vec::new();
    reply.await.pack(&mut bytes).map_err(|_| Refusal::SystemError)?;
    let reply = Arc::new(bytes);
    if let Some(key) = key {
        let kept = Arc::clone(&reply);
        nfs.replies.call(move |replies| replies.keep(key, kept)).await;
    }
    Ok(Encoded(reply))
}

/// The bytes of a reply.
struct Encoded(Arc<Vec<u8>>);

impl Pack for Encoded {
    fn packed_size(&self) -> usize {
        self.0.len()
    }

    fn pack(&self, out: &mut impl Write) -> xdr_codec::Result<usize> {
        out.write_all(&self.0)?;
        Ok(self.0.len())
    }
}

/// A program whose procedures are methods of [`Nfs`]: number, method, arguments, the file that colors the call, and the words of a
/// refusal.
macro_rules! procedures {
    ($program:expr, $nfs:expr, $color:expr;
     $($number:expr => $how:ident $method:ident($args:ty), of $file:expr, absent $absent:expr;)*) => {
        $program$(.procedure(
            $number as u32,
            {
                let (color, file): (ColorOf, for<'a> fn(&'a $args) -> &'a nfs_fh3) = ($color, $file);
                move |_: &Caller, args: &$args| color(Id::from_handle(file(args)))
            },
            {
                let nfs = Arc::clone($nfs);
                move |caller: Caller, args: $args| {
                    let nfs = Arc::clone(&nfs);
                    async move {
                        let request = visit(&caller)?.request(&caller);
                        let reply = async {
                            let answer = nfs.$method(&request, args).await;
                            Reply { answer, absent: $absent }
                        };
                        $how(&nfs, key(&request, &caller), reply).await
                    }
                }
            },
        ))*
    };
}

/// All programs. `color` is the color of the calls on a file.
pub(crate) fn of(nfs: &Arc<Nfs>, color: ColorOf) -> Services {
    Services::new()
        .with(nfs_program(nfs, color))
        .with(mount_program(nfs, color))
        .with(lease_program(nfs, color))
}

fn nfs_program(nfs: &Arc<Nfs>, color: ColorOf) -> Program {
    use NFS_PROGRAM as P;
    procedures! {
        Program::new(nfs3::PROGRAM, nfs3::VERSION), nfs, color;
        P::NFSPROC3_GETATTR => look getattr(GETATTR3args), of |args| &args.object, absent 0;
        P::NFSPROC3_SETATTR => change setattr(SETATTR3args), of |args| &args.object, absent 2;
        P::NFSPROC3_LOOKUP => look lookup(LOOKUP3args<'static>), of |args| &args.what.dir, absent 1;
        P::NFSPROC3_ACCESS => look access(ACCESS3args), of |args| &args.object, absent 1;
        P::NFSPROC3_READLINK => look readlink(READLINK3args), of |args| &args.symlink, absent 1;
        P::NFSPROC3_READ => look read(READ3args), of |args| &args.file, absent 1;
        P::NFSPROC3_WRITE => change write(WRITE3args<'static>), of |args| &args.file, absent 2;
        P::NFSPROC3_CREATE => change create(CREATE3args<'static>), of |args| &args.where_.dir, absent 2;
        P::NFSPROC3_MKDIR => change mkdir(MKDIR3args<'static>), of |args| &args.where_.dir, absent 2;
        P::NFSPROC3_SYMLINK => change symlink(SYMLINK3args<'static>), of |args| &args.where_.dir, absent 2;
        P::NFSPROC3_REMOVE => change remove(REMOVE3args<'static>), of |args| &args.object.dir, absent 2;
        P::NFSPROC3_RMDIR => change rmdir(RMDIR3args<'static>), of |args| &args.object.dir, absent 2;
        P::NFSPROC3_RENAME => change rename(RENAME3args<'static, 'static>), of |args| &args.from.dir, absent 4;
        P::NFSPROC3_LINK => change link(LINK3args<'static>), of |args| &args.file, absent 3;
        P::NFSPROC3_READDIR => look readdir(READDIR3args), of |args| &args.dir, absent 1;
        P::NFSPROC3_READDIRPLUS => look readdirplus(READDIRPLUS3args), of |args| &args.dir, absent 1;
        P::NFSPROC3_FSSTAT => look fsstat(FSSTAT3args), of |args| &args.fsroot, absent 1;
        P::NFSPROC3_FSINFO => look fsinfo(FSINFO3args), of |args| &args.fsroot, absent 1;
        P::NFSPROC3_PATHCONF => look pathconf(PATHCONF3args), of |args| &args.object, absent 1;
        P::NFSPROC3_COMMIT => look commit(COMMIT3args), of |args| &args.file, absent 2;
    }
}

fn mount_program(nfs: &Arc<Nfs>, color: ColorOf) -> Program {
    let (mounter, exporter, lister) = (Arc::clone(nfs), Arc::clone(nfs), Arc::clone(nfs));
    Program::new(mount::PROGRAM, mount::VERSION)
        .procedure(
            MOUNT_PROGRAM::MOUNTPROC3_MNT as u32,
            move |_, _| color(None),
            move |caller: Caller, path: dirpath<'static>| {
                let nfs = Arc::clone(&mounter);
                async move { Ok(nfs.mount(&visit(&caller)?.request(&caller), path).await) }
            },
        )
        .procedure(MOUNT_PROGRAM::MOUNTPROC3_DUMP as u32, move |_, _| color(None), {
            move |_, Void| std::future::ready(Ok(lister.mounts()))
        })
        .procedure(MOUNT_PROGRAM::MOUNTPROC3_EXPORT as u32, move |_, _| color(None), {
            move |_, Void| std::future::ready(Ok(exporter.exports()))
        })
        .procedure(
            MOUNT_PROGRAM::MOUNTPROC3_UMNT as u32,
            move |_, _| color(None),
            |_, _: dirpath<'static>| std::future::ready(Ok(Void)),
        )
        .procedure(
            MOUNT_PROGRAM::MOUNTPROC3_UMNTALL as u32,
            move |_, _| color(None),
            |_, Void| std::future::ready(Ok(Void)),
        )
}

fn lease_program(nfs: &Arc<Nfs>, color: ColorOf) -> Program {
    let (greeter, taker) = (Arc::clone(nfs), Arc::clone(nfs));
    let program = procedures! {
        Program::new(lease_protocol::PROGRAM, lease_protocol::VERSION), nfs, color;
        lease_protocol::TAKE => look take(FileArgs), of |args| &args.file, absent 0;
    };
    program
        .procedure(
            lease_protocol::HELLO,
            move |_, _| color(None),
            move |caller: Caller, args: HelloArgs| {
                let nfs = Arc::clone(&greeter);
                async move { greet(&nfs, &caller, &args).await }
            },
        )
        .procedure(
            lease_protocol::GIVE_ALL_BACK,
            move |_, _| color(None),
            move |caller: Caller, Void| {
                let nfs = Arc::clone(&taker);
                async move {
                    if let Some(holder) = visit(&caller)?.request(&caller).holder {
                        nfs.recall.give_all_back(holder).await;
                    }
                    Ok(Void)
                }
            },
        )
}

/// Notes the way back to a client. A connection that it had before ends first, with its calls: one that is still under way
/// must not take effect behind those that the client sends from now on.
async fn greet(nfs: &Arc<Nfs>, caller: &Caller, args: &HelloArgs) -> Result<HelloAnswer, Refusal> {
    let (visit, client) = (visit(caller)?, caller.client().ok_or(Refusal::SystemError)?.clone());
    let (holder, number) = (visit.introduce(args.client), visit.number());
    let back = Arc::new(OnConnection { client, over: visit.over() });
    if let Some(before) = nfs.recall.meet(holder, number, back).await {
        before.end().await;
    }
    let (nfs, over) = (Arc::clone(nfs), visit.over());
    let lease_ms = nfs.recall.lease().as_millis() as u32;
    colored::spawn_here(async move {
        // Not at the end of the connection alone: while its calls are under way, the next one has to find it, and to wait.
        over.cancelled().await;
        nfs.recall.part(holder, number).await;
    });
    Ok(HelloAnswer { lease_ms })
}

#[derive(Debug)]
struct OnConnection {
    client: Client,
    over: CancellationToken,
}

impl CallBack for OnConnection {
    fn recall(&self, id: Id) -> Pin<Box<dyn Future<Output = bool> + Send>> {
        let client = self.client.clone();
        Box::pin(async move {
            let recall = Procedure::new(
                lease_protocol::CALL_BACK_PROGRAM,
                lease_protocol::VERSION,
                lease_protocol::RECALL,
            );
            client.call::<_, Void>(recall, &FileArgs { file: id.handle() }).await.is_ok()
        })
    }

    fn end(&self) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        self.client.close();
        let over = self.over.clone();
        Box::pin(async move { over.cancelled().await })
    }
}
