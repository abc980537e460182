//! Messages as bytes: numbers of eight bytes each.

use crate::message::{Answer, Command, Entry, Envelope, Message};

pub(crate) fn encode(envelope: &Envelope) -> Vec<u8> {
    let mut words = vec![envelope.from];
    match &envelope.message {
        Message::RequestVote { term, length, last_term } => {
            words.extend([0, *term, *length as u64, *last_term]);
        }
        Message::Vote { term, is_granted } => words.extend([1, *term, u64::from(*is_granted)]),
        Message::Append { term, before, before_term, entries, committed } => {
            words.extend([2, *term, *before as u64, *before_term, *committed as u64]);
            entries.iter().for_each(|entry| words.extend(of_entry(entry)));
        }
        Message::Appended { term, is_same, length } => {
            words.extend([3, *term, u64::from(*is_same), *length as u64]);
        }
        Message::Request { number, command } => {
            words.extend([4, *number]);
            words.extend(of_command(*command));
        }
        Message::Answer { number, answer } => words.extend(match answer {
            Answer::Written => [5, *number, 0, 0],
            Answer::Value(value) => [5, *number, 1, *value],
            Answer::Refused => [5, *number, 2, 0],
        }),
    }
    words.into_iter().flat_map(u64::to_le_bytes).collect()
}

/// `None` if the bytes are no message.
pub(crate) fn decode(bytes: &[u8]) -> Option<Envelope> {
    let (words, []) = bytes.as_chunks::<8>() else { return None };
    let words: Vec<u64> = words.iter().copied().map(u64::from_le_bytes).collect();
    let (&from, rest) = words.split_first()?;
    let message = match *rest {
        [0, term, length, last_term] => {
            Message::RequestVote { term, length: length as usize, last_term }
        }
        [1, term, is_granted] => Message::Vote { term, is_granted: is_granted == 1 },
        [2, term, before, before_term, committed, ref entries @ ..] => Message::Append {
            term,
            before: before as usize,
            before_term,
            entries: entries.chunks(5).map(to_entry).collect::<Option<_>>()?,
            committed: committed as usize,
        },
        [3, term, is_same, length] => {
            Message::Appended { term, is_same: is_same == 1, length: length as usize }
        }
        [4, number, kind, value] => Message::Request { number, command: to_command(kind, value)? },
        [5, number, 0, _] => Message::Answer { number, answer: Answer::Written },
        [5, number, 1, value] => Message::Answer { number, answer: Answer::Value(value) },
        [5, number, 2, _] => Message::Answer { number, answer: Answer::Refused },
        _ => return None,
    };
    Some(Envelope { from, message })
}

fn of_command(command: Command) -> [u64; 2] {
    match command {
        Command::Begin => [0, 0],
        Command::Write(value) => [1, value],
        Command::Read => [2, 0],
    }
}

fn to_command(kind: u64, value: u64) -> Option<Command> {
    [Command::Begin, Command::Write(value), Command::Read].get(kind as usize).copied()
}

/// No client has the number 0.
fn of_entry(entry: &Entry) -> [u64; 5] {
    let [kind, value] = of_command(entry.command);
    let (client, number) = entry.request.unwrap_or((0, 0));
    [entry.term, kind, value, client, number]
}

fn to_entry(words: &[u64]) -> Option<Entry> {
    let [term, kind, value, client, number] = *words else { return None };
    let request = (client != 0).then_some((client, number));
    Some(Entry { term, command: to_command(kind, value)?, request })
}

#[cfg(test)]
mod tests {
    use super::{decode, encode};
    use crate::message::{Answer, Command, Entry, Envelope, Message};

    #[test]
    fn a_message_survives_its_bytes() {
        let entry = Entry { term: 3, command: Command::Write(9), request: Some((11, 4)) };
        let entries = vec![entry, Entry { term: 4, command: Command::Begin, request: None }];
        let messages = [
            Message::RequestVote { term: 1, length: 2, last_term: 3 },
            Message::Vote { term: 1, is_granted: true },
            Message::Append { term: 1, before: 2, before_term: 3, entries, committed: 5 },
            Message::Appended { term: 1, is_same: false, length: 2 },
            Message::Request { number: 7, command: Command::Read },
            Message::Answer { number: 7, answer: Answer::Value(8) },
        ];
        for message in messages {
            let bytes = encode(&Envelope { from: 2, message: message.clone() });
            let envelope = decode(&bytes).unwrap();
            assert_eq!((envelope.from, envelope.message), (2, message));
            assert!(decode(&bytes[..bytes.len() - 1]).is_none());
        }
    }
}
