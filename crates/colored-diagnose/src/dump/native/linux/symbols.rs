//! The names of functions by the symbols in the files that are mapped.

use super::modules::{Mapping, maps};
use object::{Object, ObjectSymbol, ReadCache, SymbolKind};
use std::collections::HashMap;
use std::fs::File;

/// The functions at these addresses, as far as the files have symbols. Reads the symbols of each file that has one of the
/// addresses: some 0.1 ms for a thousand.
pub(super) fn at(mut addresses: Vec<u64>) -> HashMap<u64, String> {
    addresses.sort_unstable();
    let mut names = HashMap::new();
    for mapping in Mapping::all(&maps()) {
        let begin = addresses.partition_point(|address| *address < mapping.range.start);
        let end = addresses.partition_point(|address| *address < mapping.range.end);
        if begin < end {
            // A file that cannot be read has no symbols.
            let _ = read(&mapping, &addresses[begin..end], &mut names);
        }
    }
    names
}

/// The names at the addresses of one mapping, which are sorted.
fn read(mapping: &Mapping<'_>, sorted: &[u64], names: &mut HashMap<u64, String>) -> Option<()> {
    let data = ReadCache::new(File::open(mapping.path).ok()?);
    let file = object::File::parse(&data).ok()?;
    let moved = mapping.moved(&file)?;
    for symbol in file.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text) {
        let begin = symbol.address().wrapping_add(moved);
        let end = begin.wrapping_add(symbol.size());
        let first = sorted.partition_point(|address| *address < begin);
        for &address in sorted[first..].iter().take_while(|address| **address < end) {
            let name = symbol.name_bytes().ok()?;
            names.insert(address, format!("{:#}", backtrace::SymbolName::new(name)));
        }
    }
    Some(())
}
