//! A list whose places are used again, with a generation that tells one user from the next.

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    pub(crate) slot: u32,
    generation: u32,
}

#[derive(Debug)]
struct Place<T> {
    generation: u32,
    value: Option<T>,
}

#[derive(Debug)]
pub(crate) struct Slab<T> {
    places: Vec<Place<T>>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self { places: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slab<T> {
    pub(crate) fn insert(&mut self, value: T) -> Key {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.places.push(Place { generation: 0, value: None });
            u32::try_from(self.places.len() - 1).expect("a small world")
        });
        let place = &mut self.places[slot as usize];
        place.value = Some(value);
        Key { slot, generation: place.generation }
    }

    pub(crate) fn get(&self, key: Key) -> Option<&T> {
        let place = self.places.get(key.slot as usize)?;
        place.value.as_ref().filter(|_| place.generation == key.generation)
    }

    pub(crate) fn get_mut(&mut self, key: Key) -> Option<&mut T> {
        let place = self.places.get_mut(key.slot as usize)?;
        place.value.as_mut().filter(|_| place.generation == key.generation)
    }

    pub(crate) fn remove(&mut self, key: Key) -> Option<T> {
        self.get(key)?;
        let place = &mut self.places[key.slot as usize];
        place.generation += 1;
        self.free.push(key.slot);
        place.value.take()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.places.iter().filter_map(|place| place.value.as_ref())
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = Key> {
        let places = self.places.iter().enumerate().filter(|(_, place)| place.value.is_some());
        places.map(|(slot, place)| Key { slot: slot as u32, generation: place.generation })
    }

    pub(crate) fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }
}
