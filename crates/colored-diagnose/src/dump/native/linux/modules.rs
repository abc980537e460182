//! The unwind tables of the program and of its libraries.

use super::registers::NativeUnwinder;
use framehop::{ExplicitModuleSectionInfo, Module, Unwinder};
use object::elf::PF_X;
use object::{Object, ObjectSection, ObjectSegment, ReadCache, ReadRef, SegmentFlags};
use std::fs::{self, File};
use std::ops::Range;
use std::os::unix::fs::FileExt;

/// A part of a file that is mapped as code.
pub(super) struct Mapping<'a> {
    pub(super) range: Range<u64>,
    offset: u64,
    pub(super) path: &'a str,
}

/// An unwinder for the code that the process has mapped, as far as its files can be read.
pub(super) fn unwinder() -> NativeUnwinder {
    let mut unwinder = NativeUnwinder::new();
    let maps = maps();
    Mapping::all(&maps)
        .filter_map(|mapping| mapping.read())
        .for_each(|module| unwinder.add_module(module));
    unwinder
}

/// The list of all mappings.
pub(super) fn maps() -> String {
    fs::read_to_string("/proc/self/maps").unwrap_or_default()
}

impl<'a> Mapping<'a> {
    /// The mappings in such a list that are code.
    pub(super) fn all(maps: &'a str) -> impl Iterator<Item = Self> {
        maps.lines().filter_map(Self::parse)
    }

    /// Of a line such as `7f00-7f10 r-xp 00001000 fd:00 1234   /lib/libc.so`; none if it is no code.
    fn parse(line: &'a str) -> Option<Self> {
        let mut words = line.splitn(6, ' ');
        let (begin, end) = words.next()?.split_once('-')?;
        let hex = |text| u64::from_str_radix(text, 16).ok();
        let range = hex(begin)?..hex(end)?;
        if !words.next()?.contains('x') {
            return None;
        }
        let offset = hex(words.next()?)?;
        let path = words.nth(2)?.trim_start();
        Some(Self { range, offset, path })
    }

    fn read(&self) -> Option<Module<Vec<u8>>> {
        match self.path {
            // Code of the kernel's that is in no file.
            "[vdso]" => {
                let mut bytes = vec![0; usize::try_from(self.range.end - self.range.start).ok()?];
                let memory = File::open("/proc/self/mem").ok()?;
                memory.read_exact_at(&mut bytes, self.range.start).ok()?;
                self.module(bytes.as_slice())
            }
            path if path.starts_with('/') => self.module(&ReadCache::new(File::open(path).ok()?)),
            _ => None,
        }
    }

    fn module<'d>(&self, data: impl ReadRef<'d>) -> Option<Module<Vec<u8>>> {
        let file = object::File::parse(data).ok()?;
        let moved = self.moved(&file)?;
        let section = |name| file.section_by_name(name);
        let place = |name| section(name).map(|it| it.address()..it.address() + it.size());
        let bytes = |name| Some(section(name)?.data().ok()?.to_vec());
        let sections = ExplicitModuleSectionInfo {
            text_svma: place(".text"),
            got_svma: place(".got"),
            eh_frame_svma: place(".eh_frame"),
            eh_frame: bytes(".eh_frame"),
            eh_frame_hdr_svma: place(".eh_frame_hdr"),
            eh_frame_hdr: bytes(".eh_frame_hdr"),
            ..ExplicitModuleSectionInfo::default()
        };
        Some(Module::new(self.path.to_owned(), self.range.clone(), moved, sections))
    }

    /// By how much the addresses of the file are moved.
    pub(super) fn moved<'d, R: ReadRef<'d>>(&self, file: &object::File<'d, R>) -> Option<u64> {
        let end = self.offset + (self.range.end - self.range.start);
        // The segment of code that this maps says so.
        let segment = file.segments().find(|segment| {
            let (begin, length) = segment.file_range();
            let overlaps = begin < end && self.offset < begin + length;
            overlaps && matches!(segment.flags(), SegmentFlags::Elf { p_flags, .. } if p_flags.contains(PF_X))
        })?;
        let begin = self.range.start.wrapping_add(segment.file_range().0).wrapping_sub(self.offset);
        Some(begin.wrapping_sub(segment.address()))
    }
}
