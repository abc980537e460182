//! Names that are looked up.

use super::{Answer, Nfs, Request, file};
use crate::name::{Sought, sought};
use crate::nodes::Id;
use crate::users::SEARCH;
use nfs3_types::nfs3::{LOOKUP3args, LOOKUP3resok, fattr3};

impl Nfs {
    pub(crate) async fn lookup(
        &self,
        request: &Request,
        args: LOOKUP3args<'static>,
    ) -> Answer<LOOKUP3resok> {
        let above = file(&args.what.dir)?;
        let (id, attributes) = self.find(request, above, args.what.name.as_ref()).await?;
        Ok(LOOKUP3resok {
            object: id.handle(),
            obj_attributes: request.seen(attributes),
            dir_attributes: self.seen(request, above).await,
        })
    }

    /// The file of a name from the wire, if the user may search the directory.
    pub(crate) async fn find(
        &self,
        request: &Request,
        above: Id,
        name: &[u8],
    ) -> Answer<(Id, fattr3)> {
        let directory = self.tree.look(above).await?;
        request.user.check(&directory, SEARCH)?;
        match sought(name)? {
            Sought::Itself => Ok((above, directory)),
            Sought::Above => {
                let id = self.tree.above(above).await?;
                Ok((id, self.tree.look(id).await?))
            }
            Sought::Entry(name) => self.tree.find(above, &name).await,
        }
    }
}
