//! Judges the arguments together with the function, and collects all that is wrong.

use std::time::Duration;

use proc_macro2::Span;
use syn::Expr;
use syn::ExprClosure;
use syn::ExprLit;
use syn::Ident;
use syn::Lit;
use syn::LitStr;
use syn::Pat;
use syn::Path;
use syn::PathArguments;
use syn::ReturnType;
use syn::Type;
use syn::ext::IdentExt;
use syn::spanned::Spanned;

use crate::args::Args;
use crate::args::Callable;
use crate::args::Fallback;
use crate::args::Given;
use crate::args::OnCancel;
use crate::args::Predicate;
use crate::args::When;
use crate::errors::Errors;
use crate::item::Function;
use crate::item::Shape;
use crate::value::Value;
use crate::value::bare;
use crate::value::duration;
use crate::value::number;

/// As many as the state word of a breaker can count.
const MAX_THRESHOLD: u32 = 524_287;
const MAX_NAME_BYTES: usize = 128;

/// All that a correct attribute asks for.
pub(crate) struct Guard {
    pub(crate) krate: Path,
    pub(crate) site: Site,
    pub(crate) verdict: Judgement,
    pub(crate) map_rejected: Option<Callable>,
    pub(crate) fallback: Option<Plan>,
    pub(crate) wrap_error: bool,
    pub(crate) boxed: bool,
}

/// Where the breaker comes from.
pub(crate) enum Site {
    /// A name known while compiling, listed when the program is linked.
    Static(Declaration),
    /// A name that is worked out for each call.
    Dynamic(Declaration),
    /// A breaker that the caller holds.
    Handle(Expr),
}

pub(crate) struct Declaration {
    pub(crate) service: Expr,
    pub(crate) operation: LitStr,
    pub(crate) policy: Vec<Setting>,
}

/// One call of a setter of `Policy`.
pub(crate) struct Setting {
    pub(crate) setter: Ident,
    pub(crate) value: SettingValue,
}

pub(crate) enum SettingValue {
    Number(u32, Span),
    Duration(Duration, Span),
    Code(Expr),
    OnCancel(CancelRule),
}

pub(crate) enum CancelRule {
    Ignore,
    Failure,
    After(Value<Duration>),
}

/// How an output becomes a verdict.
pub(crate) enum Judgement {
    Error {
        fails_on: Option<Predicate>,
        ignores: Option<Predicate>,
    },
    Output(Callable),
}

/// What is returned in place of the function's own output, and when.
pub(crate) struct Plan {
    pub(crate) when: When,
    pub(crate) answer: Answer,
}

pub(crate) enum Answer {
    Value(Expr),
    /// The parts of a closure; its body is written in place, so that it can await and return.
    Inline {
        argument: Pat,
        ty: Option<Type>,
        output: Option<Type>,
        body: Expr,
    },
}

impl Guard {
    pub(crate) fn judge(
        args: Args,
        function: Option<&Function>,
        errors: &mut Errors,
    ) -> Option<Self> {
        let before = errors.count();
        let krate = args
            .krate
            .map_or_else(|| syn::parse_quote!(::breakerbox), |krate| krate.value);

        let mut policy = Policy {
            settings: Vec::new(),
            errors,
        };
        let numbers = policy.take_numbers([
            (
                args.threshold,
                "`threshold = 0` would open the circuit before any call: use 1 or more",
            ),
            (
                args.probes,
                "`probes = 0` would never let the circuit close again: use 1 or more",
            ),
            (
                args.probe_concurrency,
                "`probe_concurrency = 0` would let no probe through: use 1 or more",
            ),
            (
                args.close_after,
                "`close_after = 0` asks for no success at all: use 1 or more",
            ),
        ]);
        policy.compare(numbers);
        policy.take_durations([args.cooldown, args.probe_timeout, args.max_open_for]);
        policy.take_on_cancel(args.on_cancel);
        let policy = policy.settings;

        let site = site(
            args.handle,
            args.service,
            args.operation,
            policy,
            function,
            errors,
        );
        let verdict = verdict(args.fails_on, args.ignores, args.classify, errors);
        if let Some(Given {
            key,
            value: Callable::Closure(closure),
        }) = &args.map_rejected
        {
            check_closure(key, closure, "the rejection", errors);
        }
        let fallback = fallback(
            args.fallback,
            args.fallback_when,
            args.map_rejected.as_ref(),
            &verdict,
            errors,
        );
        if let (Some(flag), Some(function)) = (&args.boxed, function) {
            check_boxed(&flag.key, function, errors);
        }
        if let (Some(flag), Some(function)) = (&args.wrap_error, function)
            && function.is_from_async_trait()
        {
            errors.at(
                flag.key.span(),
                "`wrap_error` cannot change the body that `#[async_trait]` has made: \
                 remove it, and let the body return `breakerbox::Error::Inner`",
            );
        }

        let site = site?;
        (errors.count() == before).then_some(Self {
            krate,
            site,
            verdict,
            map_rejected: args.map_rejected.map(|given| given.value),
            fallback,
            wrap_error: args.wrap_error.is_some(),
            boxed: args.boxed.is_some(),
        })
    }
}

/// Collects the calls of the setters of `Policy`, as far as the values are known checked.
struct Policy<'e> {
    settings: Vec<Setting>,
    errors: &'e mut Errors,
}

/// A number that is known, and where it is written.
type Known = Option<(u32, Span)>;

impl Policy<'_> {
    fn take_numbers<const N: usize>(
        &mut self,
        given: [(Option<Given<Expr>>, &str); N],
    ) -> [Option<Known>; N] {
        given.map(|(given, zero)| {
            let Given { key, value } = given?;
            match self.errors.keep(number(&key.to_string(), value)) {
                Some(Value::Known(0, span)) => {
                    self.errors.at(span, zero);
                    Some(None)
                }
                Some(Value::Known(number, span)) => {
                    self.set(key, SettingValue::Number(number, span));
                    Some(Some((number, span)))
                }
                Some(Value::Code(code)) => {
                    self.set(key, SettingValue::Code(code));
                    Some(None)
                }
                None => Some(None),
            }
        })
    }

    /// What `Policy` would refuse while compiling is said here at the number that is to be changed.
    fn compare(&mut self, [threshold, probes, concurrency, close_after]: [Option<Known>; 4]) {
        if let Some(Some((threshold, span))) = threshold
            && threshold > MAX_THRESHOLD
        {
            self.errors
                .at(span, format!("`threshold` can be at most {MAX_THRESHOLD}"));
        }
        // `close_after` without `probes` raises them; a number behind code is for the compiler.
        let round = match (probes, close_after) {
            (Some(known), _) | (None, Some(known)) => known.map(|(round, _)| round),
            (None, None) => Some(1),
        };
        let Some(round) = round else { return };
        if let Some(Some((concurrency, span))) = concurrency
            && concurrency > round
        {
            self.errors.at(
                span,
                format!("`probe_concurrency = {concurrency}` is more than the {round} of `probes`: raise `probes`"),
            );
        }
        if let Some(Some((close_after, span))) = close_after
            && close_after > round
        {
            self.errors.at(
                span,
                format!("`close_after = {close_after}` cannot be reached with `probes = {round}`: raise `probes`"),
            );
        }
    }

    fn take_durations<const N: usize>(&mut self, given: [Option<Given<Expr>>; N]) {
        for Given { key, value } in given.into_iter().flatten() {
            match self.duration(&key, value) {
                Some(Value::Known(duration, span)) => {
                    self.set(key, SettingValue::Duration(duration, span))
                }
                Some(Value::Code(code)) => self.set(key, SettingValue::Code(code)),
                None => {}
            }
        }
    }

    fn take_on_cancel(&mut self, given: Option<Given<OnCancel>>) {
        let Some(Given { key, value }) = given else {
            return;
        };
        let rule = match value {
            OnCancel::Ignore => CancelRule::Ignore,
            OnCancel::Failure => CancelRule::Failure,
            OnCancel::After(after) => match self.errors.keep(duration("after", after)) {
                Some(after) => CancelRule::After(after),
                None => return,
            },
        };
        self.set(key, SettingValue::OnCancel(rule));
    }

    fn duration(&mut self, key: &Ident, value: Expr) -> Option<Value<Duration>> {
        let value = self.errors.keep(duration(&key.to_string(), value))?;
        match value {
            Value::Known(Duration::ZERO, span) => {
                self.errors
                    .at(span, format!("`{key}` must be longer than zero"));
                None
            }
            value => Some(value),
        }
    }

    fn set(&mut self, setter: Ident, value: SettingValue) {
        self.settings.push(Setting { setter, value });
    }
}

fn site(
    handle: Option<Given<Expr>>,
    service: Option<Given<Expr>>,
    operation: Option<Given<LitStr>>,
    policy: Vec<Setting>,
    function: Option<&Function>,
    errors: &mut Errors,
) -> Option<Site> {
    if let Some(text) = &operation {
        check_name("an operation", &text.value, errors);
    }
    if let Some(handle) = handle {
        if let Some(service) = service {
            errors.at(
                service.key.span(),
                "`handle` is a breaker with a name: remove `service`",
            );
        }
        if let Some(operation) = operation {
            errors.at(
                operation.key.span(),
                "`handle` stands for no place in the code: remove `operation`",
            );
        }
        for Setting { setter, .. } in policy {
            errors.at(
                setter.span(),
                format!("`handle` brings its own numbers: remove `{setter}`"),
            );
        }
        return Some(Site::Handle(handle.value));
    }
    let Some(Given { value: service, .. }) = service else {
        if !errors.mentions("service") {
            errors.at(
                Span::call_site(),
                "which service is guarded? add `service = \"name\"`",
            );
        }
        return None;
    };

    let service = bare(service);
    let operation = operation.map(|given| given.value).or_else(|| {
        let name = function?.name();
        Some(LitStr::new(&name.to_string(), name.span()))
    })?;
    let linked = match &service {
        Expr::Lit(ExprLit {
            lit: Lit::Str(name),
            ..
        }) => {
            check_name("a service", name, errors);
            true
        }
        Expr::Lit(other) => {
            errors.at(
                other.span(),
                "a service is named by a string, such as `service = \"stripe\"`",
            );
            return None;
        }
        Expr::Path(path) => path.qself.is_none() && names_a_constant(&path.path),
        Expr::Macro(call) => call.mac.path.segments.last().is_some_and(|last| {
            ["concat", "env", "stringify"]
                .iter()
                .any(|name| last.ident == name)
        }),
        _ => false,
    };
    let declaration = Declaration {
        service,
        operation,
        policy,
    };
    Some(if linked {
        Site::Static(declaration)
    } else {
        Site::Dynamic(declaration)
    })
}

/// Whether a path reads like a constant in a module: associated constants may
/// belong to a generic type, which a static cannot see.
fn names_a_constant(path: &Path) -> bool {
    let mut segments = path.segments.iter().rev();
    let plain = path
        .segments
        .iter()
        .all(|segment| matches!(segment.arguments, PathArguments::None));
    let constant = segments.next().is_some_and(|last| {
        let name = last.ident.unraw().to_string();
        name.contains(char::is_uppercase) && !name.contains(char::is_lowercase)
    });
    plain
        && constant
        && segments.all(|module| {
            !module
                .ident
                .unraw()
                .to_string()
                .contains(char::is_uppercase)
        })
}

fn check_name(what: &str, name: &LitStr, errors: &mut Errors) {
    let text = name.value();
    if text.is_empty() {
        errors.at(
            name.span(),
            format!("{what} needs a name that is not empty"),
        );
    } else if text.len() > MAX_NAME_BYTES {
        let length = text.len();
        errors.at(
            name.span(),
            format!(
                "{what} has a name of at most {MAX_NAME_BYTES} bytes, and this one has {length}"
            ),
        );
    } else if text.contains(char::is_control) {
        errors.at(
            name.span(),
            format!("{what} has a name without control characters"),
        );
    }
}

fn verdict(
    fails_on: Option<Given<Predicate>>,
    ignores: Option<Given<Predicate>>,
    classify: Option<Given<Callable>>,
    errors: &mut Errors,
) -> Judgement {
    for Given { key, value } in [&fails_on, &ignores].into_iter().flatten() {
        check_predicate(key, value, errors);
    }
    let Some(classify) = classify else {
        return Judgement::Error {
            fails_on: fails_on.map(|given| given.value),
            ignores: ignores.map(|given| given.value),
        };
    };
    for Given { key, .. } in [fails_on, ignores].into_iter().flatten() {
        errors.at(
            key.span(),
            format!("`{key}` cannot be used together with `classify`, which judges the whole output: remove one"),
        );
    }
    if let Callable::Closure(closure) = &classify.value {
        check_closure(&classify.key, closure, "the output", errors);
    }
    Judgement::Output(classify.value)
}

fn fallback(
    fallback: Option<Given<Fallback>>,
    when: Option<Given<When>>,
    map_rejected: Option<&Given<Callable>>,
    verdict: &Judgement,
    errors: &mut Errors,
) -> Option<Plan> {
    if let Some(Given {
        key,
        value: When::Predicate(predicate),
    }) = &when
    {
        check_predicate(key, predicate, errors);
    }
    let Some(Given {
        key,
        value: fallback,
    }) = fallback
    else {
        if let Some(when) = when {
            errors.at(
                when.key.span(),
                "`fallback_when` needs a `fallback`: say what is returned then",
            );
        }
        return None;
    };
    let when = when.map_or(When::Rejected, |given| given.value);
    let answer = match fallback {
        Fallback::Value(value) => Answer::Value(value),
        Fallback::Closure(closure) => inline(&key, closure, errors)?,
    };

    if let Some(map) = map_rejected
        && match (&when, &answer) {
            (When::Rejected, _) | (When::Any, Answer::Value(_)) => true,
            (When::Any, Answer::Inline { .. }) | (When::Failed | When::Predicate(_), _) => false,
        }
    {
        errors.at(
            map.key.span(),
            "`map_rejected` has no effect, since `fallback` answers every rejection: remove one",
        );
    }
    // An `Ok` that counts as a failure has no error that a closure could be given.
    if let (Judgement::Output(_), When::Failed | When::Any, Answer::Inline { argument, .. }) =
        (verdict, &when, &answer)
    {
        errors.at(
            argument.span(),
            "with `classify` a failure need not be an error: write `fallback` as an expression without an argument",
        );
    }
    Some(Plan { when, answer })
}

/// The parts of a fallback closure.
fn inline(key: &Ident, closure: ExprClosure, errors: &mut Errors) -> Option<Answer> {
    if let Some(asyncness) = closure.asyncness {
        errors.at(
            asyncness.span,
            "the body of a fallback may `.await` as it stands: remove `async`",
        );
        return None;
    }
    if !check_closure(key, &closure, "the rejection or the error", errors) {
        return None;
    }
    let (argument, ty) = match closure.inputs.into_iter().next()? {
        Pat::Type(typed) => (*typed.pat, Some(*typed.ty)),
        pat => (pat, None),
    };
    let output = match closure.output {
        ReturnType::Default => None,
        ReturnType::Type(_, ty) => Some(*ty),
    };
    Some(Answer::Inline {
        argument,
        ty,
        output,
        body: *closure.body,
    })
}

fn check_predicate(key: &Ident, predicate: &Predicate, errors: &mut Errors) {
    if let Predicate::Closure(closure) = predicate {
        check_closure(key, closure, "the error", errors);
    }
}

/// A closure of ours takes one argument and does not await.
fn check_closure(key: &Ident, closure: &ExprClosure, about: &str, errors: &mut Errors) -> bool {
    if let Some(asyncness) = closure.asyncness {
        errors.at(
            asyncness.span,
            format!("`{key}` is asked on the spot and cannot await: remove `async`"),
        );
        return false;
    }
    if closure.inputs.len() == 1 {
        return true;
    }
    let span = match closure.inputs.iter().nth(1) {
        Some(second) => second.span(),
        None => closure.inputs_begin.spans[0],
    };
    errors.at(
        span,
        format!("the closure of `{key}` takes one argument, {about}"),
    );
    false
}

fn check_boxed(key: &Ident, function: &Function, errors: &mut Errors) {
    match function.shape {
        Shape::Async | Shape::Future { boxed: false } => {}
        Shape::Tail(ref tail) if !tail.is_boxed() => {}
        Shape::Sync => errors.at(
            key.span(),
            "`boxed` is for futures, and this function is not async: remove `boxed`",
        ),
        Shape::Future { boxed: true } | Shape::Tail(_) => {
            errors.at(
                key.span(),
                "this function returns a boxed future already: remove `boxed`",
            );
        }
    }
}
