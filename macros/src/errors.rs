//! Collects every mistake of one attribute, so that all are reported at once.

use std::fmt::Display;

use proc_macro2::Span;
use proc_macro2::TokenStream;

/// The mistakes found so far.
#[derive(Default)]
pub(crate) struct Errors(Option<syn::Error>);

impl Errors {
    /// Notes a mistake at the token that is to be changed.
    pub(crate) fn at(&mut self, span: Span, message: impl Display) {
        self.push(syn::Error::new(span, message));
    }

    pub(crate) fn push(&mut self, error: syn::Error) {
        match &mut self.0 {
            Some(first) => first.combine(error),
            none => *none = Some(error),
        }
    }

    /// Keeps the value of a result and notes its error.
    pub(crate) fn keep<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                self.push(error);
                None
            }
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.0.iter().flatten().count()
    }

    /// Whether a message about this word was given already.
    pub(crate) fn mentions(&self, word: &str) -> bool {
        let (alone, first) = (format!("`{word}`"), format!("`{word} "));
        self.0.iter().flatten().any(|error| {
            let message = error.to_string();
            message.contains(&alone) || message.contains(&first)
        })
    }

    /// `compile_error!` calls, or `None` where nothing is wrong.
    pub(crate) fn into_compile_errors(self) -> Option<TokenStream> {
        self.0.map(|errors| errors.to_compile_error())
    }

    #[cfg(test)]
    pub(crate) fn messages(self) -> Vec<String> {
        self.0
            .into_iter()
            .flatten()
            .map(|error| error.to_string())
            .collect()
    }
}

/// The word of `known` that `word` was probably meant to be.
pub(crate) fn nearest<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    // A third of the letters may differ: enough for two typing errors in a long
    // key, too little to take one short key for another.
    let allowed = (word.chars().count() / 3).max(1);
    known
        .into_iter()
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// How many letters must be changed, added, left out or swapped with their neighbour.
fn distance(from: &str, to: &str) -> usize {
    let from: Vec<char> = from.chars().collect();
    let to: Vec<char> = to.chars().collect();
    let mut rows = vec![vec![0; to.len() + 1]; from.len() + 1];
    for i in 0..=from.len() {
        for j in 0..=to.len() {
            rows[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let changed = usize::from(from[i - 1] != to[j - 1]);
                let mut best = (rows[i - 1][j] + 1)
                    .min(rows[i][j - 1] + 1)
                    .min(rows[i - 1][j - 1] + changed);
                if i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1] {
                    best = best.min(rows[i - 2][j - 2] + 1);
                }
                best
            };
        }
    }
    rows[from.len()][to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_mistakes_are_kept_in_order() {
        let mut errors = Errors::default();
        errors.at(Span::call_site(), "first");
        assert_eq!(
            errors.keep::<()>(Err(syn::Error::new(Span::call_site(), "second"))),
            None
        );
        assert_eq!(errors.keep(Ok(7)), Some(7));
        assert_eq!(errors.messages(), ["first", "second"]);
    }

    #[test]
    fn nothing_wrong_makes_no_tokens() {
        assert!(Errors::default().into_compile_errors().is_none());
    }

    #[test]
    fn a_typing_error_finds_its_key_and_another_word_does_not() {
        let keys = ["threshold", "cooldown", "probes", "probe_timeout"];
        assert_eq!(nearest("treshold", keys), Some("threshold"));
        assert_eq!(nearest("cooldwon", keys), Some("cooldown"));
        assert_eq!(nearest("probe", keys), Some("probes"));
        assert_eq!(nearest("window", keys), None);
        assert_eq!(nearest("x", keys), None);
    }

    #[test]
    fn swapped_neighbours_are_one_mistake() {
        assert_eq!(distance("abcd", "abdc"), 1);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("same", "same"), 0);
    }
}
