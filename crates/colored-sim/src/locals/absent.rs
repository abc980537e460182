//! A system that does not show them.

use super::Block;

pub(super) fn ask_for_a_byte() {}

pub(super) fn read() -> Option<Vec<Block>> {
    None
}

pub(super) fn are_unchanged(_: &[Block], _: &[Vec<u8>]) -> bool {
    false
}
