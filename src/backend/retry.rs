//! Decides when a request is sent again, and after what pause.

use std::time::{Duration, Instant};

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::{Ask, BackendFailure, BackendReply, FailureKind};

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RetryPolicy {
    /// The requests per question, including the first.
    pub attempts: u32,
    /// The pause after the first failure; it doubles after each further one.
    pub base: Duration,
    /// The share of a pause by which it is randomly shortened or lengthened.
    pub jitter: f64,
    pub request: Duration,
    /// The longest `retry-after` that is waited for here; a longer one is returned to the caller.
    pub longest_wait: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            attempts: 3,
            base: Duration::from_secs(2),
            jitter: 0.25,
            request: Duration::from_secs(30),
            longest_wait: Duration::from_secs(60),
        }
    }
}

impl RetryPolicy {
    /// Returns `None` if the server asks for a longer pause than `longest_wait`. A `retry-after` is
    /// used exactly; zero or a past date counts as not given. `chance` is between -1 and 1.
    fn pause(&self, failures: u32, retry_after: Option<Duration>, chance: f64) -> Option<Duration> {
        if let Some(wait) = retry_after.filter(|wait| !wait.is_zero()) {
            return (wait <= self.longest_wait).then_some(wait);
        }
        let doublings = 2_u32.saturating_pow(failures.saturating_sub(1));
        let pause = self.base.saturating_mul(doublings).min(self.longest_wait);
        Some(pause.mul_f64((1.0 + self.jitter * chance).max(0.0)))
    }
}

pub(super) fn time_left(request: Duration, deadline: Option<Instant>) -> Duration {
    let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
    left.map_or(request, |left| left.min(request))
}

/// Repeats until success, the policy's end, or the end of the question's own attempts or time.
pub(super) async fn repeat<A, F>(
    policy: &RetryPolicy,
    ask: &Ask<'_>,
    mut attempt: A,
) -> Result<BackendReply, BackendFailure>
where
    A: FnMut(Duration) -> F,
    F: Future<Output = Result<BackendReply, BackendFailure>>,
{
    let (mut tries, mut attempts) = (0, 0);
    let mut last = BackendFailure {
        attempts,
        ..BackendFailure::new(FailureKind::Timeout, "the time for this question is over")
    };
    loop {
        let limit = time_left(policy.request, ask.deadline);
        if limit.is_zero() {
            return Err(last);
        }
        tries += 1;
        last = match attempt(limit).await {
            Ok(reply) => {
                let attempts = attempts + reply.attempts;
                return Ok(BackendReply { attempts, ..reply });
            }
            Err(failure) => {
                attempts += failure.attempts;
                BackendFailure {
                    attempts,
                    ..failure
                }
            }
        };
        if tries >= policy.attempts.min(ask.attempts) || !last.kind.is_retried() {
            return Err(last);
        }
        let chance = rand::random_range(-1.0..=1.0);
        let Some(pause) = policy.pause(tries, last.retry_after, chance) else {
            return Err(last);
        };
        if ask
            .deadline
            .is_some_and(|deadline| Instant::now() + pause >= deadline)
        {
            return Err(last);
        }
        tokio::time::sleep(pause).await;
    }
}

const LONGEST_BELIEVED: Duration = Duration::from_secs(24 * 60 * 60);

/// The only form of HTTP date that today's servers write.
const DATE_FORM: &str = "%a, %d %b %Y %H:%M:%S GMT";

/// Reads a `retry-after` header: seconds or a date; a past date gives zero.
pub(super) fn retry_after(header: &str, now: Timestamp) -> Option<Duration> {
    let header = header.trim();
    let wait = match header.parse::<f64>() {
        Ok(seconds) if seconds >= 0.0 => {
            Duration::try_from_secs_f64(seconds).unwrap_or(LONGEST_BELIEVED)
        }
        Ok(_) => return None,
        Err(_) => {
            let date = DateTime::strptime(DATE_FORM, header).ok()?;
            let then = date.to_zoned(TimeZone::UTC).ok()?.timestamp();
            Duration::try_from(then.duration_since(now)).unwrap_or(Duration::ZERO)
        }
    };
    Some(wait.min(LONGEST_BELIEVED))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::first(1, None, 0.0, Some(2.0))]
    #[case::longest(2, None, 1.0, Some(5.0))]
    #[case::never_endless(u32::MAX, None, 0.0, Some(60.0))]
    #[case::server_says_none(1, Some(0.0), 0.0, Some(2.0))]
    #[case::server_says_less(1, Some(0.5), 1.0, Some(0.5))]
    #[case::too_long_to_sleep(1, Some(61.0), 0.0, None)]
    fn pauses_double_within_their_jitter_and_a_server_has_its_way(
        #[case] failures: u32,
        #[case] server: Option<f64>,
        #[case] chance: f64,
        #[case] expected: Option<f64>,
    ) {
        let pause =
            RetryPolicy::default().pause(failures, server.map(Duration::from_secs_f64), chance);
        assert_eq!(pause, expected.map(Duration::from_secs_f64));
    }

    #[rstest]
    #[case::seconds("7", Some(7.0))]
    #[case::fraction(" 1.5 ", Some(1.5))]
    #[case::date("Sun, 06 Nov 1994 08:49:37 GMT", Some(37.0))]
    #[case::past("Sat, 05 Nov 1994 08:49:37 GMT", Some(0.0))]
    #[case::years("99999999999999999999999", Some(86_400.0))]
    #[case::negative("-1", None)]
    fn retry_after_is_read_in_all_its_forms(#[case] header: &str, #[case] expected: Option<f64>) {
        let now: Timestamp = "1994-11-06T08:49:00Z".parse().unwrap();
        assert_eq!(
            retry_after(header, now),
            expected.map(Duration::from_secs_f64)
        );
    }
}
