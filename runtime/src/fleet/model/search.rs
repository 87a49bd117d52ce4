//! Looks at every world that can come about, the nearest first.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;

use crate::fleet::model::Bounds;
use crate::fleet::model::key::key;
use crate::fleet::model::laws::Broken;
use crate::fleet::model::seeded::Seeded;
use crate::fleet::model::world::Act;
use crate::fleet::model::world::World;

/// All worlds of some bounds, in which every law holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Searched {
    pub(super) worlds: usize,
    /// How many acts the farthest is away.
    pub(super) depth: usize,
}

/// The shortest way to a world in which a law is broken.
pub(super) struct Found {
    pub(super) broken: Broken,
    pub(super) way: Vec<Act>,
}

/// A world that was seen: how it came about.
struct Seen {
    from: u32,
    act: Act,
}

pub(super) fn search(bounds: &Bounds, seeded: Seeded) -> Result<Searched, Found> {
    let mut search = Search::default();
    let first = World::new(bounds);
    search.enter(&first, 0, Act::TimePasses);
    let mut nearest = vec![(0, first)];
    let mut depth = 0;
    while !nearest.is_empty() {
        let mut next = Vec::new();
        for (from, world) in nearest {
            for act in world.acts(bounds) {
                let mut after = world.clone();
                if let Err(broken) = after.act(act, seeded, bounds) {
                    return Err(search.found(broken, from, Some(act)));
                }
                let (to, is_new) = search.enter(&after, from, act);
                if act.is_good() && to != from {
                    search.good.push((from, to));
                }
                if is_new {
                    next.push((to, after));
                }
            }
        }
        depth += usize::from(!next.is_empty());
        nearest = next;
    }
    match search.never_well() {
        Some(world) => Err(search.found("I8: it can never close again", world, None)),
        None => Ok(Searched {
            worlds: search.seen.len(),
            depth,
        }),
    }
}

#[derive(Default)]
struct Search {
    numbers: HashMap<u64, u32>,
    seen: Vec<Seen>,
    well: Vec<u32>,
    /// From one world to another, by what may be counted on.
    good: Vec<(u32, u32)>,
}

impl Search {
    fn enter(&mut self, world: &World, from: u32, act: Act) -> (u32, bool) {
        match self.numbers.entry(key(world)) {
            Entry::Occupied(seen) => (*seen.get(), false),
            Entry::Vacant(vacant) => {
                let number = u32::try_from(self.seen.len()).expect("fewer worlds than that");
                vacant.insert(number);
                self.seen.push(Seen { from, act });
                if world.is_well() {
                    self.well.push(number);
                }
                (number, true)
            }
        }
    }

    fn found(&self, broken: Broken, at: u32, last: Option<Act>) -> Found {
        let mut way: Vec<Act> = last.into_iter().collect();
        let mut at = at;
        while at != 0 {
            let seen = &self.seen[at as usize];
            way.push(seen.act);
            at = seen.from;
        }
        way.reverse();
        Found { broken, way }
    }

    /// I8: the nearest world from which no good way leads to one that is well.
    fn never_well(&mut self) -> Option<u32> {
        self.good.sort_unstable_by_key(|(_, to)| *to);
        let mut is_well = vec![false; self.seen.len()];
        let mut open = std::mem::take(&mut self.well);
        for world in &open {
            is_well[*world as usize] = true;
        }
        while let Some(world) = open.pop() {
            let begin = self.good.partition_point(|(_, to)| *to < world);
            for (from, _) in self.good[begin..].iter().take_while(|(_, to)| *to == world) {
                if !std::mem::replace(&mut is_well[*from as usize], true) {
                    open.push(*from);
                }
            }
        }
        let never = is_well.iter().position(|is_well| !is_well)?;
        u32::try_from(never).ok()
    }
}

impl fmt::Debug for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}, after", self.broken)?;
        for act in &self.way {
            writeln!(f, "  {act}")?;
        }
        Ok(())
    }
}
