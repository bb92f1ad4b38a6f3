//! Every number that [`Auto`](super::Auto) decides by, in one table.
//!
//! No answer is right or wrong by them: each trades time for a lower f. `bench/run ablation` halves and doubles every
//! one of them on simulated and real problems; `bench/results/ablation-*.md` has what that does to f and to the time,
//! and is the reason why a number stands here.

macro_rules! table {
    ($($(#[doc = $doc:expr])+ $name:ident = $value:expr;)+) => {
        /// The numbers, all of them as `f64`: counts are rounded where they are used.
        #[derive(Debug, Clone, Copy, PartialEq)]
        #[non_exhaustive]
        pub struct Plan {
            $($(#[doc = $doc])+ pub $name: f64,)+
        }

        impl Plan {
            /// The numbers as they are used.
            pub const USUAL: Self = Self { $($name: $value,)+ };

            /// Their names, in the order of the table.
            pub const NAMES: &[&str] = &[$(stringify!($name)),+];

            /// The number of this name.
            pub fn get_mut(&mut self, name: &str) -> Option<&mut f64> {
                match name {
                    $(stringify!($name) => Some(&mut self.$name),)+
                    _ => None,
                }
            }
        }
    };
}

table! {
    // What is affordable, in multiply-adds.
    /// Work that is always affordable: some milliseconds.
    small = 5e6;
    /// A second-order step may cost so many gradients...
    affordable = 10.0;
    /// ...or this much.
    affordable_work = 1e6;
    /// Forward selection as another start, if k gradients cost at most this.
    forward_work = 2e7;
    /// Forward selection by blocks as another start, and leaps in between, if k gradients cost at most this.
    several_work = 1.5e8;
    /// Where the Hessian costs no pass over the data, the model is worked with alone above so many coordinates
    /// (networks of more than 40 variables).
    few_entries = 820.0;
    /// Exchanges may be looked for on a table of the quadratic model that takes at most this.
    table_work = 3e8;

    // Starts and leaps.
    /// Blocks in which a support grows.
    blocks = 10.0;
    /// A long leap, in units of k.
    long_leap = 2.0;
    /// A short one.
    short_leap = 0.5;
    /// Newton steps on a widened support: it is about to be pruned, and exchanges follow.
    leap_steps = 3.0;
    /// Short leaps go on while they gain more than this share of f.
    leap_trifle = 1e-4;

    // Exchanges.
    /// Trial refits stop this far (relatively) from the minimum; Newton's last step lands much nearer.
    loose = 1e-2;
    /// Candidates of a round for each member...
    candidates_each = 2.0;
    /// ...and so many more.
    candidates_more = 50.0;
    /// The share of a second-order step that the last look at candidates may cost.
    last_look = 0.25;
    /// Single exchanges tried in a round where the model may be wrong.
    tries = 10.0;
    /// Every pair is tried by a refit where there are at most so many.
    pairs = 500.0;

    // Columns of very different sizes (text).
    /// Columns are of different sizes when the largest curvature is so many times the smallest.
    uneven = 4.0;
    /// Candidates of the model's table for each member, where leaps are affordable.
    table_wide = 1.0;
    /// And where they are not.
    table_narrow = 0.25;
    /// Exchanges on the table go on while they gain more than this share of what a member is worth.
    table_trifle = 5e-4;
    /// Precision of refits on that way where leaps are affordable.
    table_refit = 1e-3;
    /// Swaps: refits on the way.
    brisk_refit = 1e-2;
    /// Units of curvature are taken anew once f has changed by this share.
    brisk_stale = 0.05;
    /// Swaps end when a few of them gain less than this share of f.
    brisk_trifle = 3e-4;

    // The search for every k at once.
    /// Multiply-adds of a flight on a quadratic f: half a second to a second of one thread. (Six gene sets, k up to 20,
    /// mean log of f over the best known: .120 at 1.6e9, .106 at 2e9, .087 at 2.4e9, which takes 1.3 s on the largest.)
    work_quadratic = 2e9;
    /// And on any other, where they are dearer and fewer find as much.
    work_curved = 1.2e9;
    /// Local searches that a flight must be able to pay for to be worth climbing.
    worthwhile = 10.0;
    /// Kicks over all coordinates in a round.
    kicks = 60.0;
    /// The share of their work that the core gets.
    core = 0.3;
    /// Answers kept on a rung.
    kept = 20.0;
    /// Rungs are kicked in proportion to k to minus this power...
    low_rungs = 1.5;
    /// ...and half as often after so many starts without news.
    quiet = 10.0;
    /// Random newcomers of a kick, at most.
    newcomers = 4.0;
    /// The share of kicks that are leaps where f is not quadratic.
    leaps = 0.3;
    /// The share of the work that is done whether or not there is news.
    least = 0.02;
    /// But no more than so many times the rounds without news.
    longer = 5.0;
    /// Rounds without news after which nothing more is expected...
    patience = 6.0;
    /// ...and one more for so many coordinates, up to five times as many.
    patience_columns = 5.0;
    /// Newcomers that are tried by refits where f is not quadratic...
    probes = 100.0;
    /// ...beside answers of so many members at most.
    probed_rungs = 4.0;
    /// Precision of refits where f is not quadratic.
    curved_refit = 1e-3;
    /// Candidates of a working set for each member.
    working_each = 4.0;

    // Whether anything is left for it to find.
    /// Kicks that must all lead back on a quadratic f...
    agreeing_quadratic = 64.0;
    /// ...and on any other, where they are dearer.
    agreeing_curved = 16.0;
    /// Newcomers that these choose from: each costs a row of the Hessian.
    pool = 64.0;
    /// What letting a member go must cost, in units of what the best newcomer gains alone.
    margin = 1.5;

    // Losses with corners.
    /// Epochs of a dual ascent: supports settle early.
    epochs = 100.0;
}

impl Default for Plan {
    fn default() -> Self {
        Self::USUAL
    }
}

impl Plan {
    /// Never the search for every k: one local search, from one start or several.
    pub fn without_ladder() -> Self {
        Self { worthwhile: f64::INFINITY, ..Self::USUAL }
    }

    /// The search for every k even where kicks agree that nothing is left for it to find.
    pub fn always_climbing() -> Self {
        Self { margin: f64::INFINITY, ..Self::USUAL }
    }

    /// Swaps alone, as where nothing else is affordable.
    pub fn swaps() -> Self {
        let none = Self { small: 0.0, affordable: 0.0, affordable_work: 0.0, ..Self::without_ladder() };
        Self { forward_work: 0.0, several_work: 0.0, table_work: 0.0, uneven: f64::INFINITY, ..none }
    }

    /// Swaps in units of curvature, as on large texts.
    pub fn brisk() -> Self {
        Self { uneven: 0.0, ..Self::swaps() }
    }

    /// The model's table, then leaps, whatever they cost.
    pub fn table() -> Self {
        Self { table_work: f64::INFINITY, affordable: f64::INFINITY, ..Self::brisk() }
    }

    /// Leaps and exchanges from several starts, whatever they cost.
    pub fn leaps() -> Self {
        Self { affordable: f64::INFINITY, several_work: f64::INFINITY, ..Self::without_ladder() }
    }

    /// So many candidates for k members.
    pub(super) fn candidates(&self, k: usize) -> usize {
        around(self.candidates_each, k, self.candidates_more)
    }

    /// So many coordinates of a working set for k members.
    pub(super) fn working(&self, k: usize) -> usize {
        around(self.working_each, k, self.candidates_more)
    }
}

/// `each k + more`.
pub(super) fn around(each: f64, k: usize, more: f64) -> usize {
    (each * k as f64 + more) as usize
}
