//! Clocks, and what is written down about a run: date, version, machine.

use super::Row;
use rustix::time::{ClockId, clock_gettime};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

/// A clock of the CPU time of this thread: other programs on the machine do not count.
#[derive(Debug, Clone, Copy)]
pub struct CpuClock(f64);

impl CpuClock {
    /// Starts now.
    pub fn start() -> Self {
        Self(Self::now())
    }

    /// Seconds since the start.
    pub fn seconds(self) -> f64 {
        Self::now() - self.0
    }

    fn now() -> f64 {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64
    }
}

/// What `work` returns, and the CPU seconds this thread spent on it.
pub fn cpu<R>(work: impl FnOnce() -> R) -> (R, f64) {
    let clock = CpuClock::start();
    let result = work();
    (result, clock.seconds())
}

/// Lines of `name: value`, for these rows.
pub(super) fn about(rows: &[Row]) -> String {
    // A point of a curve may have more replicas than another, where a run was stopped.
    let mut seeds: BTreeMap<(&str, &str, usize, usize), BTreeSet<u64>> = BTreeMap::new();
    for Row { cell, .. } in rows {
        seeds.entry((&cell.variant, &cell.method, cell.n, cell.k)).or_default().insert(cell.seed);
    }
    let (least, most) = (seeds.values().map(BTreeSet::len).min(), seeds.values().map(BTreeSet::len).max());
    let (least, most) = (least.unwrap_or(0), most.unwrap_or(0));
    let replicas = if least == most { format!("{most}") } else { format!("{least} to {most}") };
    let cores = std::thread::available_parallelism().map_or(0, |n| n.get());
    format!(
        "date: {}\nversion: ksparse {}\nmachine: {}, {cores} cores, one used per fit\nreplicas: {replicas}\n",
        today(),
        env!("CARGO_PKG_VERSION"),
        processor()
    )
}

fn processor() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split(':').nth(1).map(str::trim));
    model.map_or_else(|| std::env::consts::ARCH.to_string(), str::to_string)
}

/// The date in UTC, as year-month-day.
fn today() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    date((seconds / 86_400) as i64)
}

/// Days since 1970-01-01 as a date: eras of 400 years, years that begin in March.
fn date(days: i64) -> String {
    let days = days + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    format!("{:04}-{month:02}-{day:02}", year + 400 * era + next)
}

#[cfg(test)]
mod tests {
    use super::date;

    #[test]
    fn dates() {
        for (days, expected) in [(0, "1970-01-01"), (59, "1970-03-01"), (11_016, "2000-02-29"), (20_772, "2026-11-15")]
        {
            assert_eq!(date(days), expected);
        }
    }
}
