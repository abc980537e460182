use super::{draw, text};
use crate::app::{App, Page};
use crate::client::read;
use crossterm::event::KeyCode;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

const STATE: &str = r#"{"protocol":1,"program":"shop","pid":77,"seconds":7500,"window":0.5,"level":1,
    "measures_waits":true,"tasks":12,"active_workers":2,"cpus":2,"colors_in_use":3,
    "wakes":{"total":100,"window":5},
    "workers":[
        {"total":{"run":10,"parked":90},"window":{"run":0.45,"search":0.05,"slices":100,"delayed":0.1}},
        {"total":{"run":50,"parked":50},"window":{"parked":0.25,"io":0.125,"timers":0.125}},
        {"total":{"run":1,"parked":9},"window":{"parked":0.5}}],
    "colors":[
        {"color":"color default","priority":"normal","total":{"run":100,"wait_cpu":1},"window":{"run":0.1}},
        {"color":"color \"orders\"","priority":"high",
            "total":{"run":9,"wait_color":50,"turns":1000},
            "window":{"run":0.45,"wait_color":2.05,"wait_cpu":0.05,"turns":1000,"moves":10,"depth":4,"max_depth":9}},
        {"color":"color 0x7","priority":"normal","total":{"run":1,"wait_cpu":99},"window":null}],
    "others":{"total":{"run":750},"window":{"run":0.05}},
    "sites":[{"site":"src/main.rs:7:9","total":{"run_default":1},"window":{"run_colored":0.3}}],
    "timers":{"pending":5,"total":{"fired":9,"turns":3},"window":{"fired":50,"turns":25}},
    "partitions":[
        {"partition":"orders/0","lag":0,"in_flight":0,"first":null},
        {"partition":"orders/3","lag":12345,"in_flight":40,"done_above":38,"retries":7,"dead_letters":2,
            "paused":true,"first":{"key":"key \"k7\"","offset":812,"seconds":3.25,"attempts":2,
                "waits_for":"its handler, which waits for a lock"}}],
    "long_polls":[{"worker":1,"seconds":0.02,"color":"color \"orders\"","site":"src/shop.rs:1:2","cpu":0.01}],
    "report":{"fault":"hot-color","sentence":"color \"orders\" limits","length":5,"ceiling":1.1,
        "findings":[{"fault":"hot-color","sentence":"color \"orders\" limits","evidence":["it is full"],
            "remedy":"split it"},
            {"fault":"long-poll","sentence":"a poll is long","evidence":[],"remedy":"call yield_now"}]}}"#;

fn app() -> App {
    let mut app = App::default();
    app.show(read(STATE).unwrap());
    app
}

fn shown(app: &App) -> String {
    text(app, 110, 40)
}

/// The places of these texts in the whole are in this order.
#[track_caller]
fn assert_order(whole: &str, parts: &[&str]) {
    let mut rest = whole;
    for part in parts {
        let place =
            rest.find(part).unwrap_or_else(|| panic!("{part:?} is missing, or early:\n{whole}"));
        rest = &rest[place + part.len()..];
    }
}

#[test]
fn the_overview_has_the_verdict_workers_colors_warnings_and_the_recorder() {
    let text = shown(&app());
    assert_order(
        &text,
        &[
            "shop[77] runs for 2 h 5 min: the last 500 ms, 12 tasks, 3 colors, 2 workers, 2 CPUs",
            "hot-color: color \"orders\" limits",
            "worker  0 [████████████████████████████████████▒▒▒▒] run 90 %  search 10 %  I/O 0 %",
            "worker  1 [▓▓▓▓▓▓▓▓▓▓▚▚▚▚▚▚▚▚▚▚····················] run 0 %",
            "█ run  ▒ search  ▓ I/O  ▚ timers  · parked",
            "color",
            "busy",
            "waits",
            "for color",
            "for CPU",
            "depth",
            "turns/s",
            "moves/s",
            "0x7",
            "\"orders\" (high)",
            "90 %",
            "4.2",
            "4.1",
            "0.1",
            "4",
            "2000",
            "20",
            "default",
            "20 %",
            "  to mend it: split it",
            "long-poll: a poll is long",
            "  to mend it: call yield_now",
            "recorder: level 1, waits are measured",
        ],
    );
    // A spare worker that has done nothing in the window.
    assert!(!text.contains("worker  2"), "{text}");
}

#[test]
fn every_page_has_a_key() {
    let mut app = app();
    let pages = [
        ('2', vec!["3 of 3 colors in use; colors that are gone: busy 10 %"]),
        ('3', vec!["worker  0 [", "polls/s", "worker 0", "200", "4.5 ms", "20 %"]),
        ('4', vec!["spawned at", "100 %", "300 ms", "src/main.rs:7:9"]),
        ('5', vec!["long poll", "on a CPU", "20 ms", "50 %", "\"orders\"", "src/shop.rs:1:2"]),
        ('6', vec!["5 timers are set", "100 fired a second, 2 at a time", "10 times a second"]),
        (
            '7',
            vec!["hot-color", "  it is full", "  to mend it: split it", "long-poll", "last 5.0 s"],
        ),
        (
            '9',
            vec![
                "lag    in flight   done above      retries dead letters       stands",
                "orders/3 (paused)",
                "12 k",
                "40",
                "38",
                "7",
                "2",
                "3.2 s",
                "  key \"k7\" at 812, failed 2 times: its handler, which waits for a lock",
                "orders/0",
            ],
        ),
        ('?', vec!["the mean number of tasks"]),
        ('1', vec!["recorder: level 1"]),
    ];
    for (key, parts) in pages {
        app.press(KeyCode::Char(key));
        assert_order(&shown(&app), &parts);
    }
}

#[test]
fn a_program_without_consumers_has_an_empty_page_of_partitions() {
    let mut app = App::default();
    app.show(read(r#"{"protocol":1}"#).unwrap());
    app.press(KeyCode::Char('9'));
    assert!(shown(&app).contains("partitions: none"));
}

#[test]
fn colors_are_sorted_by_any_column_and_by_window_or_total() {
    let mut app = app();
    let first = |app: &App| app.colors()[0].name().to_owned();
    let mut seen = Vec::new();
    for _ in 0..8 {
        seen.push(first(&app));
        app.press(KeyCode::Char('s'));
    }
    // By waits, for the color, for a CPU, depth, turns, moves, name, busy. The color without a window counts by its total.
    let orders = "\"orders\"";
    assert_eq!(seen, ["0x7", orders, "0x7", orders, orders, orders, orders, "0x7"]);
    assert_eq!(first(&app), "0x7");
    app.press(KeyCode::Left);
    app.press(KeyCode::Char('t'));
    assert_eq!(first(&app), "default", "by busy time in total");
    assert!(shown(&app).contains("since its begin"));
}

#[test]
fn enter_shows_the_marked_color_and_escape_goes_back() {
    let mut app = app();
    app.press(KeyCode::Down);
    app.press(KeyCode::Enter);
    assert_eq!(app.page, Page::Color);
    assert_order(
        &shown(&app),
        &[
            "color \"orders\" (high)",
            "since the begin, 2 h 5 min",
            "in the window, 500 ms",
            "busy 90 %: ran 450 ms, kept 0 s",
            "waits for the color 2.0 s, 2.0 ms a turn",
            "1000 turns of 450 µs",
            "depth 4, at most 9",
            "latest long polls",
            "20 ms by src/shop.rs:1:2",
        ],
    );
    app.press(KeyCode::Esc);
    assert_eq!(app.page, Page::Colors);
    app.press(KeyCode::Esc);
    assert_eq!(app.page, Page::Overview);
    for _ in 0..9 {
        app.press(KeyCode::Down);
    }
    assert_eq!(app.row, 2);
}

#[test]
fn tasks_are_listed_by_their_waits_and_have_a_page_each() {
    let mut app = app();
    app.press(KeyCode::Char('8'));
    assert!(app.wants_tasks() && shown(&app).contains("waiting for the list"));
    let dump = r#"{"tasks":[
        {"id":3,"name":null,"color":"color default","spawned":"src/a.rs:1:1","state":"queued","waits":[]},
        {"id":4,"name":"courier","color":"color \"orders\"","spawned":"src/b.rs:2:2","state":"waiting",
            "waits":[{"text":"waits for task 3","site":"src/c.rs:3:3","seconds":1.5},{"text":"or a timer"}]}],
        "deadlocks":["task 4 waits for itself"],"unread":["color 0x7"]}"#;
    app.show_tasks(serde_json::from_str(dump).unwrap());
    assert_order(
        &shown(&app),
        &[
            "task 4 waits for itself",
            "1 color could not be read",
            "courier (4)",
            "\"orders\"",
            "waits for task 3; or a timer",
            "src/b.rs:2:2",
            "3",
            "default",
            "queued",
        ],
    );
    app.press(KeyCode::Enter);
    assert_order(
        &shown(&app),
        &[
            "task courier (4)",
            "spawned at src/b.rs:2:2",
            "waits for task 3",
            "for 1.5 s, at src/c.rs:3:3",
        ],
    );
    app.press(KeyCode::Esc);
    assert_eq!(app.page, Page::Tasks);
    app.press(KeyCode::Esc);
    assert!(!app.wants_tasks());
}

#[test]
fn a_pause_keeps_what_is_shown() {
    let mut app = app();
    app.press(KeyCode::Char('p'));
    app.show(read(r#"{"protocol":1,"program":"other"}"#).unwrap());
    assert_order(&shown(&app), &["shop[77]", "PAUSED"]);
    app.press(KeyCode::Char('p'));
    app.show(read(r#"{"protocol":1,"program":"other"}"#).unwrap());
    assert!(shown(&app).starts_with("other["));
    app.press(KeyCode::Char('q'));
    assert!(app.ends);
}

#[test]
fn a_trace_is_wanted_once_and_its_file_is_shown_until_the_next_key() {
    let mut app = app();
    app.press(KeyCode::Char('w'));
    assert!(std::mem::take(&mut app.wants_trace));
    app.show_trace(String::from("wrote /tmp/shop.sock.pftrace"));
    let area = Rect::new(0, 0, 110, 40);
    let footer = |app: &App| -> String {
        let mut buffer = Buffer::empty(area);
        draw(app, area, &mut buffer);
        (0..area.width).map(|x| buffer[(x, area.height - 1)].symbol()).collect()
    };
    assert!(footer(&app).starts_with("wrote /tmp/shop.sock.pftrace"));
    app.press(KeyCode::Up);
    assert!(!app.wants_trace && footer(&app).contains("q quit"));
}

#[test]
fn a_small_terminal_and_an_empty_snapshot_are_drawn() {
    let mut empty = App::default();
    assert!(shown(&empty).contains("waiting for the program"));
    empty.show(read(r#"{"protocol":1}"#).unwrap());
    for app in [&mut app(), &mut empty] {
        for key in "1234567891?".chars() {
            app.press(KeyCode::Char(key));
            for (width, height) in [(0, 0), (1, 1), (20, 3), (60, 10), (300, 100)] {
                let area = Rect::new(0, 0, width, height);
                draw(app, area, &mut Buffer::empty(area));
            }
        }
    }
}

#[test]
fn another_protocol_is_an_error() {
    let error = read(r#"{"protocol":2}"#).unwrap_err().to_string();
    assert!(error.contains("protocol 2") && error.contains("reads 1"), "{error}");
    assert!(read("{}x").unwrap_err().to_string().contains("does not write"));
}
