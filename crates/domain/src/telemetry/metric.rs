//! Metrics of lanes: tokens, durations, money.
//!
//! Every value counts what ended since the last one (delta temporality): a process lives as long as
//! its command, and keeps no sum of earlier ones.

use jiff::Timestamp;

use super::lane::{FinishedLane, dollars};
use super::names;
use super::span::Attribute;

/// The borders between the counts of tokens, as the conventions advise.
const TOKEN_BOUNDS: [f64; 14] = [
    1.0,
    4.0,
    16.0,
    64.0,
    256.0,
    1_024.0,
    4_096.0,
    16_384.0,
    65_536.0,
    262_144.0,
    1_048_576.0,
    4_194_304.0,
    16_777_216.0,
    67_108_864.0,
];

/// The borders between durations, in seconds: those that the conventions advise for a model's answer,
/// and further ones, because an agent works for minutes.
const DURATION_BOUNDS: [f64; 18] = [
    0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92, 163.84,
    327.68, 655.36, 1_310.72,
];

/// Values of one kind.
#[derive(Debug, Clone, PartialEq)]
pub struct Metric {
    /// The metric's name.
    pub name: &'static str,
    /// The unit, in the notation of UCUM; words in braces count things.
    pub unit: &'static str,
    /// What it counts, for people.
    pub description: &'static str,
    /// The values.
    pub data: MetricData,
}

/// The values of a metric.
#[derive(Debug, Clone, PartialEq)]
pub enum MetricData {
    /// How many values were how large.
    Histogram(Vec<HistogramPoint>),
    /// A growing sum.
    Sum(Vec<SumPoint>),
}

/// Values of lanes that share all attributes.
#[derive(Debug, Clone, PartialEq)]
pub struct HistogramPoint {
    /// What the lanes have in common.
    pub attributes: Vec<Attribute>,
    /// The values' borders.
    pub bounds: &'static [f64],
    /// How many values lie up to each border, and above the last.
    pub counts: Vec<u64>,
    /// The sum of the values.
    pub sum: f64,
    /// The smallest value.
    pub min: f64,
    /// The largest value.
    pub max: f64,
}

/// A sum over lanes that share all attributes.
#[derive(Debug, Clone, PartialEq)]
pub struct SumPoint {
    /// What the lanes have in common.
    pub attributes: Vec<Attribute>,
    /// The sum.
    pub value: f64,
}

/// Returns what lanes come to. A lane that reports no usage adds no tokens, and a recording neither
/// tokens nor time: nothing was spent on it.
pub fn metrics(lanes: &[FinishedLane]) -> Vec<Metric> {
    let paid: Vec<_> = lanes.iter().filter(|lane| !lane.is_recorded).collect();
    let mut tokens = Vec::new();
    let mut durations = Vec::new();
    let mut costs: Vec<SumPoint> = Vec::new();
    for lane in paid {
        let mut timed = lane.dimensions();
        timed.extend(lane.error().map(|error| Attribute::text(names::ERROR_TYPE, error)));
        add(&mut durations, timed, &DURATION_BOUNDS, seconds(lane.began, lane.ended));
        let Some(usage) = lane.usage else { continue };
        for (kind, count) in [(names::INPUT, usage.input), (names::OUTPUT, usage.output)] {
            let mut counted = lane.dimensions();
            counted.push(Attribute::text(names::TOKEN_TYPE, kind));
            add(&mut tokens, counted, &TOKEN_BOUNDS, number(count));
        }
        let Some(micro) = usage.micro_dollars else { continue };
        let attributes = lane.dimensions();
        match costs.iter_mut().find(|point| point.attributes == attributes) {
            Some(point) => point.value += dollars(micro),
            None => costs.push(SumPoint { attributes, value: dollars(micro) }),
        }
    }
    let all = [
        Metric {
            name: names::TOKEN_USAGE,
            unit: "{token}",
            description: "Number of input and output tokens used.",
            data: MetricData::Histogram(tokens),
        },
        Metric {
            name: names::OPERATION_DURATION,
            unit: "s",
            description: "GenAI operation duration.",
            data: MetricData::Histogram(durations),
        },
        Metric {
            name: names::COST,
            unit: "{USD}",
            description: "Money that lanes cost, as their clients say.",
            data: MetricData::Sum(costs),
        },
    ];
    all.into_iter().filter(|metric| !metric.data.is_empty()).collect()
}

impl MetricData {
    fn is_empty(&self) -> bool {
        match self {
            Self::Histogram(points) => points.is_empty(),
            Self::Sum(points) => points.is_empty(),
        }
    }
}

fn add(
    points: &mut Vec<HistogramPoint>,
    attributes: Vec<Attribute>,
    bounds: &'static [f64],
    value: f64,
) {
    let place = bounds.iter().position(|bound| value <= *bound).unwrap_or(bounds.len());
    let known = points.iter().position(|point| point.attributes == attributes);
    let index = known.unwrap_or_else(|| {
        points.push(HistogramPoint {
            attributes,
            bounds,
            counts: vec![0; bounds.len() + 1],
            sum: 0.0,
            min: value,
            max: value,
        });
        points.len() - 1
    });
    let point = &mut points[index];
    point.counts[place] += 1;
    point.sum += value;
    point.min = point.min.min(value);
    point.max = point.max.max(value);
}

#[expect(clippy::cast_precision_loss, reason = "a histogram's sum is a number with decimals")]
fn number(count: u64) -> f64 {
    count as f64
}

fn seconds(began: Timestamp, ended: Timestamp) -> f64 {
    (ended - began).total(jiff::Unit::Second).unwrap_or_default().max(0.0)
}

#[cfg(test)]
mod tests {
    use super::super::lane::TelemetryAgent;
    use super::*;
    use crate::lane::event::Usage;
    use crate::lane::ledger::Purpose;
    use crate::lane::outcome::LaneOutcome;

    fn lane(input: u64, outcome: LaneOutcome) -> FinishedLane {
        let agent = TelemetryAgent {
            operation: names::INVOKE_AGENT,
            name: "claude".to_owned(),
            provider: names::ANTHROPIC.to_owned(),
        };
        let usage = Usage { input, output: 1, micro_dollars: Some(250_000), ..Usage::default() };
        FinishedLane {
            number: None,
            agent,
            purpose: Purpose::default(),
            seat: None,
            asked_model: None,
            model: None,
            session: None,
            writes: false,
            outcome,
            tools: 0,
            is_recorded: false,
            usage: Some(usage),
            is_partial: false,
            content: None,
            began: "2026-01-01T00:00:00Z".parse().unwrap(),
            ended: "2026-01-01T00:00:02Z".parse().unwrap(),
        }
    }

    fn histogram(all: &[Metric], name: &str) -> Vec<HistogramPoint> {
        let found = all.iter().find(|metric| metric.name == name).unwrap();
        let MetricData::Histogram(points) = &found.data else { panic!("{name} is a sum") };
        points.clone()
    }

    #[test]
    fn lanes_that_are_alike_share_a_point() {
        let answered = LaneOutcome::Answered;
        let lanes = [lane(4, answered), lane(5, answered), lane(0, LaneOutcome::TimedOut)];
        let all = metrics(&lanes);
        let tokens = histogram(&all, names::TOKEN_USAGE);
        let [input, output] = &tokens[..] else { panic!("{tokens:?}") };
        // A value on a border belongs below it.
        assert_eq!(input.counts[..4], [1, 1, 1, 0]);
        assert_eq!((input.sum, input.min, input.max), (9.0, 0.0, 5.0));
        assert_eq!(output.counts.iter().sum::<u64>(), 3);
        let times = histogram(&all, names::OPERATION_DURATION);
        assert_eq!(times.len(), 2, "a failure has a point of its own");
        assert_eq!((times[0].sum, times[0].counts.len()), (4.0, DURATION_BOUNDS.len() + 1));
        let cost = SumPoint { attributes: lanes[0].dimensions(), value: 0.75 };
        assert_eq!(all[2].data, MetricData::Sum(vec![cost]));
    }

    #[test]
    fn what_is_unknown_is_not_counted() {
        let unknown = FinishedLane { usage: None, ..lane(1, LaneOutcome::Failed) };
        let all = metrics(&[unknown]);
        assert_eq!(
            all.iter().map(|metric| metric.name).collect::<Vec<_>>(),
            [names::OPERATION_DURATION]
        );
        let recorded = FinishedLane { is_recorded: true, ..lane(1, LaneOutcome::Answered) };
        assert_eq!(metrics(&[recorded]), []);
        let back = FinishedLane { ended: Timestamp::UNIX_EPOCH, ..lane(1, LaneOutcome::Answered) };
        let times = histogram(&metrics(&[back]), names::OPERATION_DURATION);
        assert_eq!(times[0].counts[0], 1, "a clock that is set back makes no negative time");
    }
}
