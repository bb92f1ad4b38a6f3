//! Several fits over the same shards, side by side: their questions go to the shards together, so that one pass answers
//! all of them.
//!
//! Every fit runs on a thread of its own and waits whenever it asks. When all of them wait, the thread that called puts
//! the questions, each of them once. What a fit is told does not depend on who asks beside it.

use super::{Frame, Question, Rounds};
use crate::error::{Error, Result};
use crate::threads::Threads;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

/// A question of one of several fits.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// The fold whose rows weigh nothing in this fit; `None` where all rows count.
    pub without: Option<usize>,
    /// What is asked.
    pub question: Question,
    /// About rows in this frame.
    pub frame: Frame,
}

/// Whoever can put several questions to all shards in one pass.
pub trait Passes: Sync {
    /// How many shards there are.
    fn shards(&self) -> usize;

    /// What all shards answer to each question, added up as [`Tree`](super::Tree) does.
    fn ask(&self, asked: &[Asked]) -> Result<Vec<Vec<f64>>>;

    /// What each shard answers to one of them, in their order.
    fn each(&self, asked: &Asked) -> Result<Vec<Vec<f64>>>;

    /// Bytes of all answers so far, where that is counted.
    fn sent(&self) -> Option<u64> {
        None
    }
}

/// What the passes of several fits took.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Passed {
    /// Passes over the shards.
    pub passes: u64,
    /// Time spent in them.
    pub time: Duration,
}

/// Runs a piece of work for every entry of `without` (as in [`Asked`]), all of them side by side, and says what the
/// passes took. `hear` is called with what they tell, on the thread that called; the first question that fails ends
/// them all.
pub fn side_by_side<T: Send, R: Send>(
    passes: &dyn Passes,
    without: &[Option<usize>],
    work: impl Fn(usize, &Seat<R>) -> Result<T> + Sync,
    hear: &mut dyn FnMut(R),
) -> Result<(Vec<T>, Passed)> {
    let (sender, receiver) = channel();
    std::thread::scope(|scope| {
        let work = &work;
        let spawn = |(number, &without): (usize, &Option<usize>)| {
            let seat = Seat { without, shards: passes.shards(), sender: sender.clone() };
            // What a fit computes between its questions is small; the passes have the threads.
            scope.spawn(move || Threads::new(1)?.run(|| work(number, &seat)))
        };
        let fits: Vec<_> = without.iter().enumerate().map(spawn).collect();
        drop(sender);
        let served = serve(passes, fits.len(), receiver, hear);
        let ended = || Error::evaluation("a fit ended with a panic");
        let results: Vec<Result<T>> = fits.into_iter().map(|fit| fit.join().unwrap_or_else(|_| Err(ended()))).collect();
        let passed = served?;
        Ok((results.into_iter().collect::<Result<Vec<T>>>()?, passed))
    })
}

/// Where one of several fits asks.
pub struct Seat<R: Send> {
    without: Option<usize>,
    shards: usize,
    sender: Sender<Message<R>>,
}

enum Message<R> {
    Ask(Asked, Sender<Result<Vec<f64>>>),
    Each(Asked, Sender<Result<Vec<Vec<f64>>>>),
    Tell(R, Sender<()>),
    Gone,
}

impl<R: Send> Seat<R> {
    /// Tells whoever listens, and waits until they have heard it.
    pub fn tell(&self, report: R) {
        let (heard, wait) = channel();
        if self.sender.send(Message::Tell(report, heard)).is_ok() {
            let _ = wait.recv();
        }
    }

    fn wait<A>(
        &self,
        question: &Question,
        frame: &Frame,
        message: impl FnOnce(Asked, Sender<Result<A>>) -> Message<R>,
    ) -> Result<A> {
        let asked = Asked { without: self.without, question: question.clone(), frame: frame.clone() };
        let (reply, answer) = channel();
        let sent = self.sender.send(message(asked, reply));
        // Nobody is there to answer any more: another question has failed.
        sent.ok().and_then(|()| answer.recv().ok()).unwrap_or(Err(Error::Cancelled))
    }
}

impl<R: Send> Rounds for Seat<R> {
    fn shards(&self) -> usize {
        self.shards
    }

    fn ask(&self, question: &Question, frame: &Frame) -> Result<Vec<f64>> {
        self.wait(question, frame, Message::Ask)
    }

    fn each(&self, question: &Question, frame: &Frame) -> Result<Vec<Vec<f64>>> {
        self.wait(question, frame, Message::Each)
    }
}

impl<R: Send> Drop for Seat<R> {
    fn drop(&mut self) {
        let _ = self.sender.send(Message::Gone);
    }
}

/// Answers so many fits until the last is gone.
fn serve<R>(
    passes: &dyn Passes,
    mut seats: usize,
    messages: Receiver<Message<R>>,
    hear: &mut dyn FnMut(R),
) -> Result<Passed> {
    let mut passed = Passed::default();
    let (mut asked, mut waiting): (Vec<Asked>, Vec<(usize, Sender<_>)>) = (Vec::new(), Vec::new());
    let mut apart = Vec::new();
    loop {
        while waiting.len() + apart.len() < seats {
            match messages.recv() {
                Ok(Message::Ask(question, reply)) => {
                    let place = asked.iter().position(|other| *other == question).unwrap_or(asked.len());
                    if place == asked.len() {
                        asked.push(question);
                    }
                    waiting.push((place, reply));
                }
                Ok(Message::Each(question, reply)) => apart.push((question, reply)),
                Ok(Message::Tell(report, heard)) => {
                    hear(report);
                    let _ = heard.send(());
                }
                Ok(Message::Gone) => seats -= 1,
                Err(_) => return Ok(passed),
            }
        }
        if seats == 0 {
            return Ok(passed);
        }
        let started = Instant::now();
        if !asked.is_empty() {
            let answers = passes.ask(&asked)?;
            passed.passes += 1;
            for (place, reply) in waiting.drain(..) {
                let _ = reply.send(Ok(answers[place].clone()));
            }
            asked.clear();
        }
        for (question, reply) in apart.drain(..) {
            let answer = passes.each(&question)?;
            passed.passes += 1;
            let _ = reply.send(Ok(answer));
        }
        passed.time += started.elapsed();
    }
}
