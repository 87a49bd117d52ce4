//! The table for a person, and the line for a program.

use std::fmt;

use serde_json::Map;
use serde_json::Value;

/// Prints each figure as soon as it is known, and remembers all of them.
#[derive(Default)]
pub(crate) struct Report {
    json: Map<String, Value>,
    missed: Vec<String>,
}

impl Report {
    pub(crate) fn title(&self, title: impl fmt::Display) {
        println!("\n{title}");
    }

    /// A figure that nothing is asked of.
    pub(crate) fn fact(&self, what: &str, figure: f64, unit: &str) {
        println!("  {what:<58} {figure:>10.3} {unit}");
    }

    /// A figure that is to be no more than this.
    pub(crate) fn bound(&mut self, what: &str, figure: f64, most: f64, unit: &str) {
        // A figure that is none meets nothing.
        let is_met = figure <= most;
        let verdict = if is_met { "" } else { "  MISSED" };
        println!("  {what:<58} {figure:>10.3} {unit:<8} at most {most}{verdict}");
        if !is_met {
            self.missed
                .push(format!("{what}: {figure:.3} {unit}, at most {most}"));
        }
    }

    /// What a program is told under this name.
    pub(crate) fn tell(&mut self, name: &str, value: Value) {
        self.json.insert(name.to_owned(), value);
    }

    pub(crate) fn told(&self, name: &str) -> Value {
        self.json.get(name).cloned().unwrap_or_default()
    }

    pub(crate) fn conclude(&self) {
        println!();
        for missed in &self.missed {
            println!("missed: {missed}");
        }
    }

    pub(crate) fn has_missed(&self) -> bool {
        !self.missed.is_empty()
    }

    pub(crate) fn json(&self) -> String {
        Value::Object(self.json.clone()).to_string()
    }
}

/// Three digits behind the point are more than the machine holds.
pub(crate) fn rounded(figure: f64) -> f64 {
    (figure * 1000.0).round() / 1000.0
}
