//! Rounds over mapped files: one is open at a time, the next is on its way from the disk.

use super::Files;
use crate::interrupt;
use crate::prepared::Prepared;
use ksparse::loss::Loss;
use ksparse::objective::{Asked, Frame, Passes, Question, Rounds, Shard, Tree};
use ksparse::select::{FoldedShards, Folds, Metric, Problem, scores_of};
use ksparse::{Cancel, Error, LinearModel, Result};
use ksparse_io::{Need, ReadOptions, Table};
use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// The files with what their rows have beside entries.
pub struct MappedRounds<'a> {
    pub files: &'a Files,
    pub loss: &'a dyn Loss,
    pub target: &'a [f64],
    pub weights: Option<&'a [f64]>,
    pub offset: Option<&'a [f64]>,
    pub cancel: Cancel,
    /// Bytes of matrices that questions took.
    pub read: AtomicU64,
    /// Bytes of answers.
    pub sent: AtomicU64,
    /// The folds that rows are dealt to, and what those held out are scored by.
    pub held: Option<(&'a Folds, Metric)>,
}

/// Bytes of a file that is read as a whole before it is used, whatever is used of it: some milliseconds.
const SMALL: u64 = 16 << 20;

/// A file that is open.
struct Open {
    table: Table,
    rows: Range<usize>,
}

impl<'a> MappedRounds<'a> {
    /// All rows of some files count.
    pub fn new(files: &'a Files, prepared: &'a Prepared) -> Self {
        let table = &prepared.data.table;
        Self {
            files,
            loss: &*prepared.task.loss,
            target: &prepared.task.y,
            weights: table.weights.as_deref(),
            offset: table.offset.as_deref(),
            cancel: interrupt::token(),
            read: AtomicU64::new(0),
            sent: AtomicU64::new(0),
            held: None,
        }
    }
}

impl MappedRounds<'_> {
    /// Whether all files were read before and have stayed in the memory of the system: fetching them is then no use.
    fn stay(&self) -> bool {
        let room = (ksparse_io::free_memory() / 2).min(self.files.options.memory.unwrap_or(u64::MAX));
        self.read.load(Ordering::Relaxed) >= self.files.total() && self.files.total() < room
    }

    /// Does something with file after file, of which these columns are used; all, for `None`.
    fn walk<T>(&self, columns: Option<&[usize]>, mut with: impl FnMut(&Open) -> Result<T> + Send) -> Result<()> {
        let stay = self.stay();
        for s in 0..self.files.paths.len() {
            if self.cancel.is_set() {
                return Err(Error::Cancelled);
            }
            let open = self.open(s, columns)?;
            // A small file comes as quickly as a whole.
            let apart = columns.filter(|_| self.files.bytes[s] > SMALL);
            let (first, next) = (s == 0 && !stay, self.files.paths.get(s + 1).filter(|_| !stay));
            std::thread::scope(|scope| {
                let open = &open;
                scope.spawn(move || {
                    if first || apart.is_some() {
                        open.table.matrix.bring(apart);
                    }
                    if let Some(next) = next {
                        self.bring(next, apart);
                    }
                });
                with(open)
            })?;
        }
        Ok(())
    }

    /// Has what is needed of a file brought from the disk; where it cannot be read, that is an error when it is needed.
    fn bring(&self, path: &Path, columns: Option<&[usize]>) {
        if let Ok(table) = ksparse_io::read(path, &self.options()) {
            table.matrix.bring(columns);
        }
    }

    /// Roles of columns stay as they were; the target is known.
    fn options(&self) -> ReadOptions {
        ReadOptions { need: Need::Optional, ..self.files.options.clone() }
    }

    fn open(&self, s: usize, columns: Option<&[usize]>) -> Result<Open> {
        let path = &self.files.paths[s];
        let rows = self.files.borders[s]..self.files.borders[s + 1];
        let table = ksparse_io::read(path, &self.options()).map_err(Error::evaluation)?;
        if table.nrows() != rows.len() {
            return Err(Error::evaluation(format!("{}: the file changed during the fit", path.display())));
        }
        let p = table.ncols().max(1) as u64;
        let share = columns.map_or(p, |columns| (columns.len() as u64).min(p));
        self.read.fetch_add(self.files.bytes[s] / p * share, Ordering::Relaxed);
        Ok(Open { table, rows })
    }

    fn answer(&self, open: &Open, without: Option<usize>, question: &Question, frame: &Frame) -> Result<Vec<f64>> {
        let rows = open.rows.clone();
        let weights = match without {
            Some(fold) => Some(self.weights_where(&rows, |row| !self.is_held(fold, row)).into()),
            None => self.weights.map(|all| Cow::Borrowed(&all[rows.clone()])),
        };
        Shard::new(Box::new(open.table.design()), &self.target[rows.clone()])?
            .with_weights(weights)?
            .with_offset(self.offset.map(|all| Cow::Borrowed(&all[rows])))?
            .answer(self.loss, frame, question)
    }

    /// What each file answers.
    fn apart(&self, without: Option<usize>, question: &Question, frame: &Frame) -> Result<Vec<Vec<f64>>> {
        let mut answers = Vec::new();
        self.walk(columns_read(question).as_deref(), |open| {
            answers.push(self.answer(open, without, question, frame)?);
            Ok(())
        })?;
        self.sent.fetch_add(answers.iter().map(|answer| 8 * answer.len() as u64).sum(), Ordering::Relaxed);
        Ok(answers)
    }

    /// The weights of some rows, 0 for those that are not wanted.
    fn weights_where(&self, rows: &Range<usize>, wanted: impl Fn(usize) -> bool) -> Vec<f64> {
        let weight = |row: usize| self.weights.map_or(1.0, |all| all[row]);
        rows.clone().map(|row| if wanted(row) { weight(row) } else { 0.0 }).collect()
    }

    fn is_held(&self, fold: usize, row: usize) -> bool {
        self.held.is_some_and(|(folds, _)| {
            let each = folds.count() / folds.deals().len();
            folds.deals()[fold / each][row] == fold % each
        })
    }

    /// How many questions of a pass can be answered at once within the memory allowed: sums are held for every level.
    fn at_once(&self, longest: usize) -> usize {
        let room = self.files.options.memory.unwrap_or_else(ksparse_io::free_memory) / 8;
        let levels = u64::from(self.files.paths.len().max(1).ilog2()) + 2;
        (room / (8 * longest.max(1) as u64 * levels)).max(1) as usize
    }
}

/// The columns that a question takes; `None` for all.
fn columns_read(question: &Question) -> Option<Vec<usize>> {
    match question {
        Question::Totals | Question::Deviations { .. } | Question::Full { .. } => None,
        Question::Value { support, .. } => Some(support.clone()),
        Question::On { set, .. } | Question::Rows { set } => Some(set.clone()),
        Question::Block { support, left, right, .. } => Some([&support[..], left, right].concat()),
    }
}

/// Columns, each once, ascending.
fn united(columns: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut columns: Vec<usize> = columns.collect();
    columns.sort_unstable();
    columns.dedup();
    columns
}

impl Rounds for MappedRounds<'_> {
    fn shards(&self) -> usize {
        self.files.paths.len()
    }

    fn ask(&self, question: &Question, frame: &Frame) -> Result<Vec<f64>> {
        let mut tree = Tree::default();
        self.walk(columns_read(question).as_deref(), |open| tree.add(self.answer(open, None, question, frame)?))?;
        self.sent.fetch_add(tree.bytes(), Ordering::Relaxed);
        Ok(tree.sum())
    }

    fn each(&self, question: &Question, frame: &Frame) -> Result<Vec<Vec<f64>>> {
        self.apart(None, question, frame)
    }

    fn sent(&self) -> Option<u64> {
        Some(self.sent.load(Ordering::Relaxed))
    }
}

impl Passes for MappedRounds<'_> {
    fn shards(&self) -> usize {
        self.files.paths.len()
    }

    fn ask(&self, asked: &[Asked]) -> Result<Vec<Vec<f64>>> {
        let columns = self.files.columns;
        let length = |asked: &Asked| asked.question.answer_length(columns, asked.frame.dim(columns));
        let mut sums = Vec::with_capacity(asked.len());
        for part in asked.chunks(self.at_once(asked.iter().map(length).max().unwrap_or(0))) {
            let mut trees: Vec<Tree> = part.iter().map(|_| Tree::default()).collect();
            let lists = part.iter().map(|asked| columns_read(&asked.question)).collect::<Option<Vec<_>>>();
            let used = lists.map(|lists| united(lists.into_iter().flatten()));
            self.walk(used.as_deref(), |open| {
                let both = trees.iter_mut().zip(part);
                both.map(|(tree, Asked { without, question, frame })| {
                    tree.add(self.answer(open, *without, question, frame)?)
                })
                .collect::<Result<Vec<()>>>()
            })?;
            self.sent.fetch_add(trees.iter().map(Tree::bytes).sum(), Ordering::Relaxed);
            sums.extend(trees.into_iter().map(Tree::sum));
        }
        Ok(sums)
    }

    fn each(&self, Asked { without, question, frame }: &Asked) -> Result<Vec<Vec<f64>>> {
        self.apart(*without, question, frame)
    }

    fn sent(&self) -> Option<u64> {
        Rounds::sent(self)
    }
}

impl FoldedShards for MappedRounds<'_> {
    fn folds(&self) -> usize {
        self.held.map_or(0, |(folds, _)| folds.count())
    }

    fn times(&self) -> usize {
        self.held.map_or(1, |(folds, _)| folds.deals().len())
    }

    fn scores(&self, models: &[Vec<LinearModel>]) -> Result<Vec<Vec<f64>>> {
        let mut trees: Vec<Tree> = models.iter().map(|_| Tree::default()).collect();
        let metric = self.held.map_or(Metric::Deviance, |(_, metric)| metric);
        let used = united(models.iter().flatten().flat_map(|model| model.support.clone()));
        self.walk(Some(&used), |open| {
            let rows = open.rows.clone();
            let offset = self.offset.map(|all| &all[rows.clone()]);
            let target = &self.target[rows.clone()];
            let problem = Problem { offset, ..Problem::new(open.table.design(), target, self.loss) };
            for (fold, (tree, models)) in trees.iter_mut().zip(models).enumerate() {
                let held = self.weights_where(&rows, |row| self.is_held(fold, row));
                tree.add(scores_of(&problem, &held, metric, models)?)?;
            }
            Ok(())
        })?;
        Ok(trees.into_iter().map(Tree::sum).collect())
    }
}
