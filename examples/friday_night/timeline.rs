//! The timeline: what went on at each moment of both nights, a character for a slice of time.

use std::ops::Range;
use std::time::Duration;

use breakerbox::State;

use crate::night::Night;

const LEGEND: &str = "
 provider  - healthy   X down
 circuit   - closed    O open   ? a probe is out
 payments  made in that time, the higher the more
 e-mail    the longest wait of those that fell due in that time:
           ▁ under 3 ms  ▂ 10 ms  ▃ 30 ms  ▄ 100 ms  ▅ 300 ms  ▆ 1 s  ▇ 3 s  █ longer
";
const BARS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const WAITS_MS: [u64; 7] = [3, 10, 30, 100, 300, 1000, 3000];
const SLICES_MS: [u64; 11] = [10, 20, 50, 100, 200, 300, 400, 500, 1000, 2000, 5000];
const COLUMNS: u32 = 70;
const MARK_EVERY: usize = 10;

/// Draws both nights on one scale.
pub(crate) fn draw(without: &Night, with: &Night) -> String {
    let longest = without.elapsed().max(with.elapsed());
    let mut slices = SLICES_MS.into_iter().map(Duration::from_millis);
    let slice = slices
        .find(|slice| *slice * COLUMNS > longest)
        .unwrap_or(longest / COLUMNS);
    let (made, made_guarded) = (payments(without, slice), payments(with, slice));
    let most = made.iter().chain(&made_guarded).copied().max().unwrap_or(0);
    let rows = [
        ("", marks(slice)),
        ("WITHOUT", String::new()),
        (" provider", provider(without, slice)),
        (" payments", bars(&made, most)),
        (" e-mail", mail(without, slice)),
        ("WITH", String::new()),
        (" provider", provider(with, slice)),
        (" circuit", circuit(with, slice)),
        (" payments", bars(&made_guarded, most)),
        (" e-mail", mail(with, slice)),
    ];
    let rows = rows.iter().map(|(name, row)| format!("{name:11}{row}\n"));
    rows.collect::<String>() + LEGEND
}

fn marks(slice: Duration) -> String {
    let columns = (0..COLUMNS as usize).step_by(MARK_EVERY);
    let marks = columns.map(|column| format!("|{}s", slice.as_secs_f64() * column as f64));
    marks.map(|mark| format!("{mark:MARK_EVERY$}")).collect()
}

fn provider(night: &Night, slice: Duration) -> String {
    let offset = |at| at - night.start;
    let down = night.books.down.map_or(Duration::MAX, offset);
    let up_again = night.books.up_again.map_or(Duration::MAX, offset);
    let is_down = |time: &Range<Duration>| down < time.end && time.start < up_again;
    let cell = |time| if is_down(&time) { 'X' } else { '-' };
    slices(night, slice).map(cell).collect()
}

fn circuit(night: &Night, slice: Duration) -> String {
    let mut state = State::Closed;
    let cell = |time: Range<Duration>| {
        let mut probed = state == State::HalfOpen;
        for (_, to) in night.circuit.iter().filter(|(at, _)| time.contains(at)) {
            state = *to;
            probed |= state == State::HalfOpen;
        }
        match state {
            _ if probed => '?',
            State::Closed => '-',
            _ => 'O',
        }
    };
    slices(night, slice).map(cell).collect()
}

fn payments(night: &Night, slice: Duration) -> Vec<usize> {
    let mut made = vec![0; slices(night, slice).count()];
    for (_, at) in &night.lanes.confirmed {
        made[column(*at - night.start, slice)] += 1;
    }
    made
}

fn bars(made: &[usize], most: usize) -> String {
    let bar = |made: &usize| BARS[(made * 8).div_ceil(most.max(1))];
    made.iter().map(bar).collect()
}

fn mail(night: &Night, slice: Duration) -> String {
    let mut row = vec![' '; slices(night, slice).count()];
    // Sorted by the wait: the longest comes last and stays.
    for (wait, due) in &night.tally.mails {
        let level = WAITS_MS.partition_point(|ms| Duration::from_millis(*ms) <= *wait);
        row[column(*due - night.start, slice)] = BARS[level + 1];
    }
    row.into_iter().collect()
}

/// The slices of time that the night lasted.
fn slices(night: &Night, slice: Duration) -> impl Iterator<Item = Range<Duration>> {
    let last = column(night.elapsed(), slice) as u32;
    (0..=last).map(move |n| slice * n..slice * (n + 1))
}

fn column(at: Duration, slice: Duration) -> usize {
    (at.as_nanos() / slice.as_nanos()) as usize
}
