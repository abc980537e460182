//! A task with a channel; an answer comes by a oneshot channel.

use super::{Call, Post, clients, produce};
use crate::executors::Executor;
use tokio::sync::{mpsc, oneshot};

enum Message {
    Add,
    AddAndTell(oneshot::Sender<u64>),
    Take(oneshot::Sender<u64>),
}

type Sender = mpsc::UnboundedSender<Message>;

fn start(on: impl Executor) -> &'static Sender {
    let (sender, mut receiver) = mpsc::unbounded_channel();
    let actor = async move {
        let mut sum = 0;
        while let Some(message) = receiver.recv().await {
            // A client that has gone reads no answer, so `send` may fail.
            match message {
                Message::Add => sum += 1,
                Message::AddAndTell(answer) => {
                    sum += 1;
                    let _ = answer.send(sum);
                }
                Message::Take(answer) => {
                    let _ = answer.send(std::mem::take(&mut sum));
                }
            }
        }
    };
    // Its handle is dropped, which detaches it.
    on.run(async move { drop(on.spawn(actor)) });
    Box::leak(Box::new(sender))
}

fn send(actor: &Sender, message: Message) {
    // An `expect` would require `Message: Debug`.
    assert!(actor.send(message).is_ok(), "the actor lives");
}

async fn ask(actor: &Sender, message: fn(oneshot::Sender<u64>) -> Message) -> u64 {
    let (answer, answered) = oneshot::channel();
    send(actor, message(answer));
    answered.await.expect("the actor answers")
}

pub(super) fn post(on: impl Executor) -> Post {
    let actor = start(on);
    Box::new(move |count| {
        on.run(async move {
            produce(on, count, || send(actor, Message::Add)).await;
            ask(actor, Message::Take).await
        })
    })
}

pub(super) fn call(on: impl Executor) -> Call {
    let actor = start(on);
    Box::new(move |count, each| {
        on.run(async move {
            clients(on, count, each, || ask(actor, Message::AddAndTell)).await;
            ask(actor, Message::Take).await
        })
    })
}
