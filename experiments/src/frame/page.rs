//! What an experiment has to show: figures, tables, findings.

/// The page of an experiment.
#[derive(Debug, Clone, Default)]
pub struct Page {
    /// What was done, in a paragraph or more: data, settings, what differs from the paper.
    pub setting: Vec<String>,
    /// The figures, in order.
    pub figures: Vec<Figure>,
    /// The tables, in order.
    pub tables: Vec<Table>,
    /// What the papers found, one by one, beside what was found here.
    pub findings: Vec<Finding>,
    /// Anything else worth saying.
    pub notes: Vec<String>,
}

/// A figure.
#[derive(Debug, Clone)]
pub struct Figure {
    /// Short name, part of its file name: `case1-error`.
    pub name: String,
    /// What is to be seen.
    pub caption: String,
    /// The picture.
    pub svg: String,
}

impl Figure {
    /// A figure.
    pub fn new(name: impl Into<String>, caption: impl Into<String>, svg: String) -> Self {
        Self { name: name.into(), caption: caption.into(), svg }
    }
}

/// A table.
#[derive(Debug, Clone)]
pub struct Table {
    /// What it shows.
    pub caption: String,
    /// The names of the columns.
    pub header: Vec<String>,
    /// The rows; the first column is a name.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table.
    pub fn new(caption: impl Into<String>, header: &[&str]) -> Self {
        Self { caption: caption.into(), header: header.iter().map(|h| (*h).to_string()).collect(), rows: Vec::new() }
    }

    /// One more row.
    pub fn push(&mut self, row: impl IntoIterator<Item = String>) {
        self.rows.push(row.into_iter().collect());
    }
}

/// Whether the same was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Yes.
    Agrees,
    /// In part.
    Partly,
    /// No.
    Differs,
    /// The rows there are do not tell.
    Open,
}

impl Verdict {
    /// For people.
    pub fn word(self) -> &'static str {
        match self {
            Self::Agrees => "agrees",
            Self::Partly => "agrees in part",
            Self::Differs => "differs",
            Self::Open => "open",
        }
    }
}

/// One finding of a paper, and what was found here.
#[derive(Debug, Clone)]
pub struct Finding {
    /// What the paper says.
    pub paper: String,
    /// What the rows say, with figures.
    pub ours: String,
    /// Whether they agree.
    pub verdict: Verdict,
    /// Why not, where they do not; empty otherwise.
    pub reason: String,
}

impl Finding {
    /// A finding; `Open` when `outcome` is `None`, otherwise what was found and whether it agrees.
    pub fn new(paper: impl Into<String>, outcome: Option<(String, Verdict)>) -> Self {
        let (ours, verdict) = outcome.unwrap_or_else(|| ("not enough rows to tell".to_string(), Verdict::Open));
        Self { paper: paper.into(), ours, verdict, reason: String::new() }
    }

    /// Why it differs; kept only where it does.
    pub fn because(mut self, reason: impl Into<String>) -> Self {
        if matches!(self.verdict, Verdict::Differs | Verdict::Partly) {
            self.reason = reason.into();
        }
        self
    }
}
