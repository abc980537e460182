//! What a process answers. Each call is a task under the color of the node that it names.

use crate::node::{Member, MemberCell};
use crate::settings::Mistake;
use crate::silence::Silence;
use crate::value::{Value, flip_a_bit};
use crate::wire::{
    Data, KeyCall, Maybe, Neighbours, NeighboursCall, OfferCall, Step, StoreCall, Stored,
};
use colored::Color;
use rpc::{Caller, Procedure, Program, Refusal, service};
use std::net::SocketAddr;
use std::sync::Arc;

/// The program's number, of those for everybody's use.
const PROGRAM: u32 = 0x2c0d_0001;
const VERSION: u32 = 1;

pub(crate) const STEP: Procedure = Procedure::new(PROGRAM, VERSION, 1);
pub(crate) const NEIGHBOURS: Procedure = Procedure::new(PROGRAM, VERSION, 2);
pub(crate) const FETCH: Procedure = Procedure::new(PROGRAM, VERSION, 3);
pub(crate) const STORE: Procedure = Procedure::new(PROGRAM, VERSION, 4);
pub(crate) const OFFER: Procedure = Procedure::new(PROGRAM, VERSION, 5);

/// The nodes of a process.
#[derive(Clone)]
pub(crate) struct Nodes {
    pub(crate) cells: Arc<[MemberCell]>,
    pub(crate) silence: Arc<Silence>,
    pub(crate) mistake: Mistake,
}

/// The program of these nodes.
pub(crate) fn program(nodes: &Nodes) -> Program {
    let [a, b, c, d, e] = [(); 5].map(|()| nodes.clone());
    service! {
        program PROGRAM, version VERSION, state nodes.clone();
        STEP.number => step, under move |_, call: &KeyCall| a.color(call.node);
        NEIGHBOURS.number => neighbours, under move |_, call: &NeighboursCall| b.color(call.node);
        FETCH.number => fetch, under move |_, call: &KeyCall| c.color(call.node);
        STORE.number => store, under move |_, call: &StoreCall| d.color(call.node);
        OFFER.number => offer, under move |_, call: &OfferCall| e.color(call.node);
    }
}

impl Nodes {
    fn find(&self, node: u32) -> Option<&MemberCell> {
        self.cells.get(usize::try_from(node).ok()?)
    }

    fn color(&self, node: u32) -> Color {
        self.find(node).map_or(Color::DEFAULT, |cell| cell.color())
    }

    /// What the node answers. The result is empty if it is no member of the ring.
    fn answer<R>(&self, node: u32, f: impl FnOnce(&mut Member) -> R) -> Result<Maybe<R>, Refusal> {
        let cell = self.find(node);
        let answer = cell.and_then(|cell| cell.with(|member| member.as_mut().map(f)));
        Ok(Maybe::from_option(answer))
    }
}

async fn step(nodes: Nodes, _: Caller, call: KeyCall) -> Result<Maybe<Step>, Refusal> {
    nodes.answer(call.node, |member| member.table.step(call.key))
}

async fn neighbours(
    nodes: Nodes,
    caller: Caller,
    call: NeighboursCall,
) -> Result<Maybe<Neighbours>, Refusal> {
    if let Some(SocketAddr::V4(process)) = caller.peer() {
        nodes.silence.note(process, true);
    }
    nodes.answer(call.node, |member| {
        let neighbours = member.table.neighbours();
        call.caller.0.iter().for_each(|caller| member.table.note_predecessor(*caller));
        neighbours
    })
}

async fn fetch(nodes: Nodes, _: Caller, call: KeyCall) -> Result<Maybe<Maybe<Data>>, Refusal> {
    nodes.answer(call.node, |member| {
        let mut bytes = member.store.get(call.key).map(|value| value.bytes().to_vec());
        if nodes.mistake == Mistake::AltersValues {
            bytes.iter_mut().for_each(|bytes| flip_a_bit(bytes, call.key));
        }
        Maybe::from_option(bytes.map(Data))
    })
}

async fn store(nodes: Nodes, _: Caller, call: StoreCall) -> Result<Maybe<Stored>, Refusal> {
    let StoreCall { node, key, data } = call;
    let value = match nodes.mistake {
        Mistake::StoresUnchecked => Some(Value::unverified(key, data.0)),
        _ => Value::verify(key, data.0),
    };
    nodes.answer(node, |member| match value {
        Some(value) => member.store.insert(value),
        None => Stored::Refused,
    })
}

async fn offer(nodes: Nodes, _: Caller, call: OfferCall) -> Result<Maybe<u32>, Refusal> {
    nodes.answer(call.node, |member| {
        let offered = call.offered.0.iter().enumerate();
        let lacking = offered.filter(|(_, offered)| member.store.lacks(offered));
        lacking.map(|(index, _)| 1 << index).sum()
    })
}
