//! Ways of getting the law wrong. Whatever plays against the naive law must notice each.

/// One way in which the law goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A rate opens only above the configured one.
    RateIsStrict,
    /// Rates are judged one call too early.
    MinCallsOneLess,
    /// An outcome leaves a bucket late.
    WindowHoldsElevenBuckets,
    /// A count window holds one call more.
    WindowHoldsOneMore,
    /// A call that took exactly `slow_call` is slow.
    SlowAtTheLimit,
    /// A success opens nothing.
    SuccessIsNotJudged,
    /// Of several rules the last one is the reason.
    RulesInAnotherOrder,
    /// An ignored outcome is a call of the window.
    IgnoredIsACall,
    /// An outcome of an earlier generation counts.
    LateCounts,
    /// An opening is rejected at the instant at which it ends.
    OpeningEndsAfterItsEnd,
    /// The first opening is already longer.
    BackoffOneEarly,
    /// The longest cooldown does not hold back the backoff.
    CooldownHasNoCap,
    /// The longest cooldown cuts the jitter off.
    JitterIsCapped,
    /// A close forgets no openings.
    CloseKeepsTrips,
    /// A ban adds nothing to the openings that make the next one longer.
    BanIsNoTrip,
    /// A request for rest is obeyed without limit.
    RestHasNoCap,
    /// An ignored probe keeps its place.
    PlaceIsKept,
    /// A slow probe closes.
    SlowProbePasses,
    /// A round of which the share is settled goes on.
    ShareIsNotSettledEarly,
    /// A close leaves the window as it was.
    CloseKeepsWindow,
    /// Calls that hang do not count.
    NobodyHangs,
    /// Calls that ended go on hanging.
    HangsForEver,
    /// A bucket hangs before all of it is old enough.
    HangsOneBucketEarly,
    /// Calls that hang are seen by outcomes alone.
    AdmissionDoesNotLook,
    /// A ramp begins with two tenths.
    RampBeginsHigher,
    /// A ramp leaves trips behind.
    RampKeepsTrips,
    /// A ramp admits nobody for want of calls in flight.
    RampAdmitsNobodyForFree,
    /// A trip in a ramp counts how many calls come.
    RampTakesItsOwnRate,
    /// An override lasts one tick longer.
    OverrideEndsAfterItsEnd,
    /// An opening goes on beneath a forced-open circuit.
    OpeningIsNotFrozen,
    /// Forced open, the window is forgotten.
    ForcedOpenEmpties,
    /// Calls that shadow let through have a vote.
    SparedVotes,
    /// Calls of a forced-closed circuit are judged.
    ForcedClosedJudges,
    /// Reset keeps what was counted.
    ResetKeepsCounts,
}

impl Fault {
    pub(crate) const ALL: &'static [Self] = &[
        Self::RateIsStrict,
        Self::MinCallsOneLess,
        Self::WindowHoldsElevenBuckets,
        Self::WindowHoldsOneMore,
        Self::SlowAtTheLimit,
        Self::SuccessIsNotJudged,
        Self::RulesInAnotherOrder,
        Self::IgnoredIsACall,
        Self::LateCounts,
        Self::OpeningEndsAfterItsEnd,
        Self::BackoffOneEarly,
        Self::CooldownHasNoCap,
        Self::JitterIsCapped,
        Self::CloseKeepsTrips,
        Self::BanIsNoTrip,
        Self::RestHasNoCap,
        Self::PlaceIsKept,
        Self::SlowProbePasses,
        Self::ShareIsNotSettledEarly,
        Self::CloseKeepsWindow,
        Self::NobodyHangs,
        Self::HangsForEver,
        Self::HangsOneBucketEarly,
        Self::AdmissionDoesNotLook,
        Self::RampBeginsHigher,
        Self::RampKeepsTrips,
        Self::RampAdmitsNobodyForFree,
        Self::RampTakesItsOwnRate,
        Self::OverrideEndsAfterItsEnd,
        Self::OpeningIsNotFrozen,
        Self::ForcedOpenEmpties,
        Self::SparedVotes,
        Self::ForcedClosedJudges,
        Self::ResetKeepsCounts,
    ];
}
