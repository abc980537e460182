use super::{Color, ColorKind, remembers_keys, text_of};

#[test]
fn equal_keys_are_equal_colors_and_unique_ones_equal_nothing() {
    assert_eq!(Color::from(7u32), Color::new(7));
    assert_eq!(Color::from(usize::MAX), Color::new(usize::MAX as u64));
    assert_eq!(Color::from(-1i32), Color::new(u64::MAX));
    assert_eq!(Color::of("a"), Color::of(String::from("a")));
    assert_eq!(Color::of(("a", 7)), Color::of(("a", &7)));
    assert_ne!(Color::of(("a", 7)), Color::of(("b", 7)));
    assert_ne!(Color::of("a"), Color::of("b"));
    let unique = Color::unique();
    assert_ne!(unique, Color::unique());
    assert_ne!(unique, Color::new(unique.number()));
}

#[test]
fn the_default_color_equals_no_number_and_no_unique_color() {
    assert_eq!(Color::default(), Color::DEFAULT);
    assert_eq!(Color::DEFAULT.number(), 0);
    assert!(Color::DEFAULT.is_default() && !Color::DEFAULT.is_unique());
    let zero = Color::from(0);
    assert_ne!(zero, Color::DEFAULT);
    assert!(!zero.is_default() && !zero.is_unique());
    assert_eq!(Color::DEFAULT.to_string(), "color default");
    assert_eq!(zero.to_string(), "color 0x0");
    let unique = Color::unique();
    let sorted = [Color::DEFAULT, zero, Color::new(u64::MAX), unique];
    assert!(sorted.is_sorted() && sorted.windows(2).all(|two| two[0] != two[1]));
    assert_eq!(size_of::<Color>(), size_of::<u64>() + align_of::<u64>(), "a key and a kind");
}

#[test]
fn a_unique_color_of_a_simulation_has_a_short_name() {
    let earlier = Color::set_next_unique(Color::FIRST_SIMULATED + 6);
    let color = Color::unique();
    Color::set_next_unique(earlier);
    assert_eq!(color.to_string(), "color unique-7");
    let other = Color::from_parts(ColorKind::Unique, u64::MAX);
    assert_eq!(other.to_string(), format!("color unique-{}", u64::MAX));
}

#[test]
fn the_parts_of_a_color_make_it_again() {
    for color in [Color::DEFAULT, Color::new(0), Color::new(u64::MAX), Color::unique()] {
        let kind = ColorKind::from_u8(color.kind() as u8);
        assert_eq!(Color::from_parts(kind, color.number()), color);
    }
}

/// The only test of this process that gives names, for it fills the table.
#[test]
fn a_name_is_shown_from_the_first_time_it_is_given_until_the_table_is_full() {
    let name = "accounts";
    assert_eq!(Color::of(name).name(), None);
    assert_eq!(Color::from(name), Color::of(name));
    assert_eq!(Color::of(name).name(), Some(name));
    assert_eq!(Color::of(name).to_string(), r#"color "accounts""#);
    let names: Vec<&str> = (1..=super::NAMED).map(|n| &*n.to_string().leak()).collect();
    let colors: Vec<Color> = names.iter().map(|name| Color::named(name)).collect();
    let (last, others) = colors.split_last().expect("there are some");
    assert!(others.iter().zip(&names).all(|(color, name)| color.name() == Some(name)));
    assert_eq!(last.name(), None, "one name is one too many");
    assert_eq!(Color::named(name).name(), Some(name));
    assert_eq!(Color::DEFAULT.name(), None);
    assert_eq!(Color::unique().name(), None);
}

#[test]
fn a_key_reads_as_it_was_written() {
    assert_eq!(text_of("shop"), r#""shop""#);
    assert_eq!(text_of(&String::from("a \"b\"")), r#""a \"b\"""#);
    assert_eq!(text_of(&3), "3");
    assert_eq!(text_of(&("shop", 3)), r#"("shop", 3)"#);
    assert_eq!(text_of(&(-1_i8, 2_u64, "x", true)), r#"(-1, 2, "x", 1)"#);
    let signed = (-1_i16, -2_i32, -3_i64, -4_i128, -5_isize);
    assert_eq!(text_of(&signed), "(-1, -2, -3, -4, -5)");
    let unsigned = (1_u16, 2_u32, 3_u64, 4_u128, 5_usize);
    assert_eq!(text_of(&unsigned), "(1, 2, 3, 4, 5)");
    // Its length, and its bytes.
    assert_eq!(text_of(&[127_u8, 0, 0, 1]), "(4, [127, 0, 0, 1])");
    assert_eq!(text_of(&()), "()");
    let long = text_of(&"ä".repeat(1000));
    assert_eq!(long.chars().count(), 65, "{long}");
}

/// The only test of this process that switches.
#[test]
fn a_color_of_a_key_is_shown_by_the_key_while_keys_are_remembered() {
    assert_eq!(remembers_keys(), cfg!(debug_assertions));
    Color::remember_keys(false);
    let before = Color::of(("a shop that is not remembered", 1));
    Color::remember_keys(true);
    let color = Color::of(("shop", 3));
    assert!(before.to_string().starts_with("color 0x"), "{before}");
    assert_eq!(color.to_string(), r#"color of ("shop", 3)"#);
    assert_eq!(Color::of("till").to_string(), r#"color "till""#);
    assert_eq!(color.name(), None, "it has no name");
    Color::remember_keys(cfg!(debug_assertions));
}
