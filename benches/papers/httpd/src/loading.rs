//! [`Loading`]: one reading of a file for all requests that miss it meanwhile.

use crate::cache::Shard;
use crate::entry::Entry;
use crate::key::Key;
use colored::ColorCell;
use colored::sync::OnceCell;
use std::sync::Arc;

/// What the first of these requests reads.
pub(crate) type Load = OnceCell<Arc<Entry>>;

/// The part of one request in a [`Load`].
#[derive(Debug)]
pub(crate) struct Loading {
    shard: ColorCell<Shard>,
    key: Key,
    load: Option<Arc<Load>>,
}

impl Loading {
    pub(crate) fn new(shard: &ColorCell<Shard>, key: &Key, load: Arc<Load>) -> Loading {
        Loading { shard: shard.clone(), key: key.clone(), load: Some(load) }
    }

    /// What the file has: by `read`, or by that of another request. If the other one fails or is given up, the next
    /// request reads.
    pub(crate) async fn join<E, F>(self, read: impl FnOnce() -> F) -> Result<Arc<Entry>, E>
    where
        F: Future<Output = Result<Arc<Entry>, E>>,
    {
        let load = self.load.as_ref().expect("it goes with the drop");
        // The entry is in the shard before anybody else has it, so later requests find it there.
        let read_and_put = async || {
            let entry = read().await?;
            let (key, same) = (self.key.clone(), Arc::clone(&entry));
            self.shard.post(move |shard| shard.put(key, same));
            Ok(entry)
        };
        load.get_or_try_init(read_and_put).await.cloned()
    }
}

/// Also where the request is given up.
impl Drop for Loading {
    fn drop(&mut self) {
        self.load = None;
        let key = self.key.clone();
        self.shard.post(move |shard| shard.leave(&key));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::tests::entry;
    use crate::cache::{Cache, Cached, Limits};
    use colored::sync::Semaphore;
    use colored::time::Duration;
    use colored::{Color, Runtime, spawn_unique};

    fn cache(bytes: usize) -> Cache {
        let limits = Limits { bytes, files: 10, recheck: Duration::from_secs(60) };
        Cache::new(1, limits, Color::unique)
    }

    /// Waits until so many requests have missed.
    async fn missed(cache: &Cache, count: u64) {
        while cache.counts().await.misses < count {
            colored::task::yield_now().await;
        }
    }

    #[test]
    fn a_file_is_read_once_for_all_requests_that_miss_it_meanwhile() {
        // A cache without room has no entry afterwards, and yet one reading is enough.
        for bytes in [1 << 20, 0] {
            Runtime::builder().workers(2).build().unwrap().block_on(async move {
                let (cache, gate) = (Arc::new(cache(bytes)), Arc::new(Semaphore::new(0)));
                let request = || {
                    let (cache, gate) = (Arc::clone(&cache), Arc::clone(&gate));
                    spawn_unique(async move {
                        let (key, made) = entry("a", 100);
                        let Cached::Missing(loading) = cache.get(&key).await else {
                            panic!("nobody has read it")
                        };
                        let read = async || {
                            gate.acquire().await.expect("nobody closes it").forget();
                            Ok::<_, ()>(made)
                        };
                        loading.join(read).await.unwrap()
                    })
                };
                let requests: Vec<_> = (0..50).map(|_| request()).collect();
                missed(&cache, 50).await;
                // Enough for one reading; a second one would wait for ever.
                gate.add_permits(1);
                let mut entries = Vec::new();
                for request in requests {
                    entries.push(request.await.unwrap());
                }
                assert!(entries.iter().all(|entry| Arc::ptr_eq(entry, &entries[0])));
                let counts = cache.counts().await;
                assert_eq!((counts.hits, counts.misses, counts.reads), (0, 50, 1));
                let shard = cache.shard(&entry("a", 0).0);
                assert_eq!(shard.call(|shard| shard.loading_count()).await, 0);
            });
        }
    }

    #[test]
    fn the_next_request_reads_if_the_first_one_fails_or_is_given_up() {
        Runtime::builder().workers(1).build().unwrap().block_on(async {
            let cache = Arc::new(cache(1 << 20));
            let first = {
                let cache = Arc::clone(&cache);
                spawn_unique(async move {
                    let Cached::Missing(loading) = cache.get(&entry("a", 0).0).await else {
                        panic!()
                    };
                    loading.join(std::future::pending::<Result<_, ()>>).await
                })
            };
            missed(&cache, 1).await;
            let (key, made) = entry("a", 100);
            let Cached::Missing(failing) = cache.get(&key).await else { panic!() };
            let Cached::Missing(last) = cache.get(&key).await else { panic!() };
            first.abort();
            assert_eq!(failing.join(async || Err("no")).await.unwrap_err(), "no");
            last.join(async || Ok::<_, ()>(made)).await.unwrap();
            assert!(matches!(cache.get(&key).await, Cached::Fresh(_)));
            assert_eq!(cache.counts().await.reads, 1);
            let loading = cache.shard(&key).call(|shard| shard.loading_count()).await;
            assert_eq!(loading, 0);
        });
    }
}
