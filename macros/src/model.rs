//! Judges the arguments together with the function, and collects all that is wrong.

mod breaker;
mod fallback;
mod limits;
mod options;
mod order;
mod policy;
mod questions;
mod retry;
mod site;
mod stack;
#[cfg(test)]
mod tests;
mod timeout;

use syn::Path;

use crate::args::Keys;
use crate::args::Policy;
use crate::args::Written;
use crate::errors::Errors;
use crate::item::Function;

pub(crate) use breaker::Guard;
pub(crate) use breaker::Judgement;
pub(crate) use fallback::Answer;
pub(crate) use fallback::Inline;
pub(crate) use fallback::Plan;
pub(crate) use limits::Bulkhead;
pub(crate) use limits::RateLimit;
pub(crate) use options::Options;
pub(crate) use policy::CancelRule;
pub(crate) use policy::Setting;
pub(crate) use policy::SettingValue;
pub(crate) use policy::Window;
pub(crate) use retry::Again;
pub(crate) use retry::Retry;
pub(crate) use site::Declaration;
pub(crate) use site::Site;
pub(crate) use stack::Layer;
pub(crate) use stack::Place;
pub(crate) use stack::Stack;
pub(crate) use stack::Warning;
pub(crate) use timeout::Timeout;

use breaker::Whole;

/// All that correct attributes ask for.
pub(crate) struct Task {
    pub(crate) options: Options,
    pub(crate) imports: Vec<Path>,
    pub(crate) work: Work,
}

pub(crate) enum Work {
    /// A breaker without other policies.
    Guard(Box<Guard>),
    Stack(Box<Stack>),
}

impl Task {
    pub(crate) fn judge(
        written: Written,
        function: Option<&Function>,
        errors: &mut Errors,
    ) -> Option<Self> {
        let before = errors.count();
        let Written {
            mut policies,
            common,
            imports,
        } = written;
        let mut common = options::once(common, errors);
        let work = match policies.pop() {
            Some(Policy {
                keys: Keys::Breaker(args),
                at,
                ..
            }) if policies.is_empty() => {
                let whole = Whole {
                    service: common.service.take(),
                    operation: common.operation.take(),
                    map_rejected: common.map_rejected.as_ref(),
                };
                Guard::judge(*args, whole, at, function, errors)
                    .map(Box::new)
                    .map(Work::Guard)
            }
            last => {
                policies.extend(last);
                Stack::judge(policies, &mut common, function, errors)
                    .map(Box::new)
                    .map(Work::Stack)
            }
        };
        let options = options::judge(common, function, errors);
        let work = work?;
        (errors.count() == before).then_some(Self {
            options,
            imports,
            work,
        })
    }

    /// Judges arguments that are meant for each method of a block, and says what the crate is
    /// called there.
    pub(crate) fn judge_for_methods(written: Written, errors: &mut Errors) -> Path {
        for common in &written.common {
            if let Some(operation) = &common.operation {
                errors.at(
                    operation.key.span(),
                    "each method is an operation of its own name: remove `operation`",
                );
            }
        }
        let krate = written
            .common
            .iter()
            .find_map(|common| common.krate.as_ref().map(|krate| krate.value.clone()));
        Self::judge(written, None, errors);
        krate.unwrap_or_else(|| syn::parse_quote!(::breakerbox))
    }
}
