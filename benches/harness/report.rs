//! The table for a person, and the line for a program.

use serde_json::Map;
use serde_json::Value;
use serde_json::json;

use super::OURS;
use super::Row;

/// What one contender took in one row.
pub(crate) struct Measured {
    pub(crate) row: &'static str,
    pub(crate) who: &'static str,
    pub(crate) min: f64,
    pub(crate) median: f64,
    pub(crate) allocations: f64,
    pub(crate) instructions: Option<f64>,
}

impl Measured {
    fn json(&self) -> Value {
        json!({
            "ns": rounded(self.min),
            "median_ns": rounded(self.median),
            "allocs": rounded(self.allocations),
            "instr": self.instructions.map(rounded),
        })
    }
}

/// Prints all that was measured, row by row.
pub(crate) fn table(rows: &[Row], measured: &[Measured]) {
    println!(
        "{:<24} {:<32} {:>9} {:>9} {:>7} {:>9}",
        "row", "contender", "min ns", "median", "allocs", "instr"
    );
    for row in rows {
        let mut title = row.name;
        for one in measured.iter().filter(|one| one.row == row.name) {
            let who = if row.name == "bare" { "-" } else { one.who };
            let instructions = one
                .instructions
                .map_or_else(|| "-".to_owned(), |count| format!("{count:.1}"));
            println!(
                "{title:<24} {who:<32} {:>9.2} {:>9.2} {:>7.2} {instructions:>9}",
                one.min, one.median, one.allocations
            );
            title = "";
        }
    }
}

/// All that was measured as one line.
pub(crate) fn json(rows: &[Row], measured: &[Measured]) -> String {
    let rows = rows.iter().filter_map(|row| {
        let mut ours = Value::Null;
        let mut peers = Map::new();
        for one in measured.iter().filter(|one| one.row == row.name) {
            if one.who == OURS {
                ours = one.json();
            } else {
                peers.insert(one.who.to_owned(), one.json());
            }
        }
        let is_empty = ours.is_null() && peers.is_empty();
        (!is_empty).then(|| json!({ "case": row.name, "ours": ours, "peers": peers }))
    });
    json!({ "rows": rows.collect::<Vec<_>>() }).to_string()
}

fn rounded(number: f64) -> f64 {
    (number * 1000.0).round() / 1000.0
}
