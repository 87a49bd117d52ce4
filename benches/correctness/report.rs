//! The table, in Markdown.

use crate::questions::Answer;

/// The answers of one contender.
pub(crate) struct Line {
    pub(crate) who: &'static str,
    pub(crate) answers: [Option<Answer>; 6],
}

const HEAD: [&str; 7] = [
    "",
    "every probe is dropped",
    "every probe panics",
    "calls admitted as probes at once",
    "calls admitted when an old success comes in beside the probe",
    "calls admitted when an old failure, then the success of the probe came in",
    "failures in a row that open at a rate of 50 % of 100 calls, after 10,000 successes",
];

const RIGHT: [&str; 7] = [
    "*correct*",
    "*probes again*",
    "*probes again*",
    "*1 of 50*",
    "*0 of 10*",
    "*10 of 10*",
    "*50*",
];

pub(crate) fn print(lines: &[Line]) {
    row(HEAD);
    row(["---"; 7]);
    row(RIGHT);
    for line in lines {
        let mut cells = line.answers.each_ref().map(cell).to_vec();
        cells.insert(0, line.who.to_owned());
        row(cells);
    }
    println!();
    println!("The first line has the correct answers; wrong ones are bold. Failsafe, recloser and");
    println!(
        "nobreak cannot be told how many probes to admit. A dash: no rate over so many calls;"
    );
    println!("that of circuitbreaker-rs is over all calls since it last closed.");
}

fn cell(answer: &Option<Answer>) -> String {
    match answer {
        None => "–".to_owned(),
        Some(answer) if answer.is_right => answer.text.clone(),
        Some(answer) => format!("**{}**", answer.text),
    }
}

fn row<S: AsRef<str>>(cells: impl IntoIterator<Item = S>) {
    for cell in cells {
        print!("| {} ", cell.as_ref());
    }
    println!("|");
}
