use super::Inner;

/// The size of a cell beside its lane: every word counts in a program with one cell per color.
#[test]
fn an_empty_cell_takes_two_words() {
    assert!(size_of::<Inner<()>>() <= 16);
    assert!(size_of::<Inner<u64>>() <= 24);
}
