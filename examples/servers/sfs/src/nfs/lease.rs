//! Leases.

use super::{Answer, Nfs, Request, file};
use crate::lease_protocol::{FileArgs, Taken};

impl Nfs {
    /// Takes a lease, if the client has a cache that can be called back.
    pub(crate) async fn take(&self, request: &Request, args: FileArgs) -> Answer<Taken> {
        let id = file(&args.file)?;
        // Before it is known to be a file, no lease of it is kept.
        self.tree.look(id).await?;
        let is_leased = match request.holder {
            Some(holder) => self.recall.take(id, holder).await,
            None => false,
        };
        // A look before the lease could be at old attributes, of which no change would tell.
        let attributes = request.users.outward(self.tree.look(id).await?);
        Ok(Taken { is_leased, attributes })
    }
}
