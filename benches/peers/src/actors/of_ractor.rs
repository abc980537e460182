//! ractor, on tokio.

use super::{Call, Post, clients, produce};
use crate::executors::Executor;
use ractor::rpc::CallResult;
use ractor::{Actor, ActorProcessingErr, ActorRef, RpcReplyPort};

struct Counter;

enum Message {
    Add,
    AddAndTell(RpcReplyPort<u64>),
    Take(RpcReplyPort<u64>),
}

impl Actor for Counter {
    type Msg = Message;
    type State = u64;
    type Arguments = ();

    async fn pre_start(&self, _: ActorRef<Message>, (): ()) -> Result<u64, ActorProcessingErr> {
        Ok(0)
    }

    async fn handle(
        &self,
        _: ActorRef<Message>,
        message: Message,
        sum: &mut u64,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            Message::Add => *sum += 1,
            Message::AddAndTell(answer) => {
                *sum += 1;
                answer.send(*sum)?;
            }
            Message::Take(answer) => answer.send(std::mem::take(sum))?,
        }
        Ok(())
    }
}

fn start(on: impl Executor) -> &'static ActorRef<Message> {
    let start = async { Actor::spawn(None, Counter, ()).await.expect("an actor starts").0 };
    Box::leak(Box::new(on.run(start)))
}

async fn ask(actor: &ActorRef<Message>, message: fn(RpcReplyPort<u64>) -> Message) -> u64 {
    match actor.call(message, None).await {
        Ok(CallResult::Success(sum)) => sum,
        other => panic!("the actor answers: {}", other.is_ok()),
    }
}

pub(super) fn post(on: impl Executor) -> Post {
    let actor = start(on);
    Box::new(move |count| {
        on.run(async move {
            let send = || actor.cast(Message::Add).expect("the actor lives");
            produce(on, count, send).await;
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
