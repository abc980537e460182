//! Clients, which write and read the register, and note what they see.

use crate::history::{History, Operation};
use crate::message::{Address, Answer, Command, Message};
use crate::network::Socket;
use crate::node::HOSTS;
use colored::time::{Duration, Instant, sleep, timeout_at};

/// How long a client waits for an answer.
const PATIENCE: Duration = Duration::from_millis(400);

pub(crate) struct Client {
    socket: Socket,
    history: History,
    /// The host that has led last.
    leader: Address,
    requests: u64,
}

impl Client {
    pub(crate) fn new(socket: Socket, history: History) -> Self {
        Self { socket, history, leader: 0, requests: 0 }
    }

    /// Writes the values, and reads in between.
    pub(crate) async fn run(mut self, values: std::ops::Range<u64>) {
        for value in values {
            self.call(Command::Write(value)).await;
            sleep(Duration::from_millis(10 * (value % 10))).await;
            self.call(Command::Read).await;
        }
    }

    /// Makes a call, which a leader executes. Whether it is known to have been.
    pub(crate) async fn call(&mut self, command: Command) -> bool {
        let begin = self.history.now();
        let answer = self.ask(command).await;
        let is_known = matches!(answer, Some(Answer::Written | Answer::Value(_)));
        match (command, answer) {
            // One that was refused may count too: if its datagram comes twice, the second one may find a leader.
            (Command::Write(value), _) => {
                self.history.note(Operation::Write(value), begin, is_known);
            }
            (_, Some(Answer::Value(value))) => {
                self.history.note(Operation::Read(value), begin, true);
            }
            _ => {}
        }
        is_known
    }

    /// Asks one host after another until one does not refuse. `None` if there is no answer in time.
    async fn ask(&mut self, command: Command) -> Option<Answer> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            self.requests += 1;
            let number = self.requests;
            self.socket.send(self.leader, Message::Request { number, command });
            match self.answer(number, deadline).await {
                Some(Answer::Refused) => {
                    self.leader = (self.leader + 1) % HOSTS.len() as u64;
                    sleep(Duration::from_millis(20)).await;
                    if Instant::now() >= deadline {
                        return Some(Answer::Refused);
                    }
                }
                None => {
                    self.leader = (self.leader + 1) % HOSTS.len() as u64;
                    return None;
                }
                answer => return answer,
            }
        }
    }

    async fn answer(&mut self, number: u64, deadline: Instant) -> Option<Answer> {
        loop {
            let envelope = timeout_at(deadline, self.socket.receive()).await.ok()?;
            match envelope.message {
                Message::Answer { number: of, answer } if of == number => return Some(answer),
                _ => {}
            }
        }
    }
}
