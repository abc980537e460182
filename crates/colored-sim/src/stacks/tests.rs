use super::{ARE_HERE, begin, running, start, switch_to};
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::thread;

type Log = Rc<RefCell<Vec<u32>>>;

fn on_a_thread(body: impl FnOnce(Log) + Send + 'static) {
    if ARE_HERE {
        let body = || {
            begin();
            body(Log::default());
        };
        thread::spawn(body).join().unwrap();
    }
}

#[test]
fn stacks_go_on_where_they_were() {
    on_a_thread(|log| {
        let note = |log: &Log, number| log.borrow_mut().push(number);
        let second = log.clone();
        let first = log.clone();
        let one = start(move || {
            note(&first, 1);
            switch_to(2);
            note(&first, 3);
            switch_to(0);
            note(&first, 5);
            0
        });
        let two = start(move || {
            assert_eq!(running(), 2);
            note(&second, 2);
            1
        });
        assert_eq!((one, two, running()), (1, 2, 0));
        switch_to(one);
        note(&log, 4);
        switch_to(one);
        assert_eq!((running(), &**log.borrow()), (0, &[1, 2, 3, 4, 5][..]));
        // Both have ended.
        begin();
        assert_eq!(start(|| 0), 1);
    });
}

#[test]
fn a_stack_may_start_another_one() {
    on_a_thread(|log| {
        let notes = log.clone();
        let one = start(move || {
            let inner = notes.clone();
            let two = start(move || {
                inner.borrow_mut().push(2);
                1
            });
            switch_to(two);
            notes.borrow_mut().push(1);
            0
        });
        switch_to(one);
        assert_eq!(*log.borrow(), [2, 1]);
    });
}

#[test]
fn a_panic_of_a_body_continues_on_the_own_stack() {
    on_a_thread(|_| {
        let one = start(|| panic!("of a body"));
        let caught = catch_unwind(AssertUnwindSafe(|| switch_to(one))).unwrap_err();
        assert_eq!(caught.downcast_ref(), Some(&"of a body"));
        let ended = catch_unwind(AssertUnwindSafe(|| switch_to(one))).unwrap_err();
        assert_eq!(ended.downcast_ref(), Some(&"there is no stack 1 that waits".to_owned()));
    });
}

#[test]
fn a_stack_that_has_not_ended_is_left_as_it_is() {
    struct Never;
    impl Drop for Never {
        fn drop(&mut self) {
            panic!("its frame is given up");
        }
    }
    on_a_thread(|_| {
        let one = start(|| {
            let never = Never;
            switch_to(0);
            drop(never);
            0
        });
        switch_to(one);
    });
}
