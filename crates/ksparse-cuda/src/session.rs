//! One device in use: its memory, its turn, what travelled, and whether it is well.

use crate::device::{Device, Task};
use crate::fault::{Fault, Result};
use crate::pool::{Piece, Pool};
use bytemuck::Pod;
use ksparse::design::Traffic;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// A device that designs share. Products take turns on it.
pub struct Session {
    device: Arc<dyn Device>,
    pool: Arc<Pool>,
    turn: Mutex<()>,
    /// The first thing that went wrong; nothing is computed after it.
    fault: OnceLock<Fault>,
    launches: AtomicU64,
    uploads: AtomicU64,
    uploaded: AtomicU64,
    downloads: AtomicU64,
    downloaded: AtomicU64,
}

impl Session {
    /// On this device.
    pub fn new(device: Arc<dyn Device>) -> Arc<Self> {
        let zero = || AtomicU64::new(0);
        Arc::new(Self {
            pool: Pool::new(Arc::clone(&device)),
            device,
            turn: Mutex::new(()),
            fault: OnceLock::new(),
            launches: zero(),
            uploads: zero(),
            uploaded: zero(),
            downloads: zero(),
            downloaded: zero(),
        })
    }

    /// The device's name.
    pub fn name(&self) -> &str {
        self.device.name()
    }

    /// Bytes asked of the device for designs, the columns of supports and vectors.
    pub fn memory(&self) -> u64 {
        self.pool.taken()
    }

    /// What has travelled so far, and how much was started.
    pub fn traffic(&self) -> Traffic {
        Traffic {
            launches: self.launches.load(Relaxed),
            uploads: self.uploads.load(Relaxed),
            uploaded: self.uploaded.load(Relaxed),
            downloads: self.downloads.load(Relaxed),
            downloaded: self.downloaded.load(Relaxed),
        }
    }

    /// `Err` once something went wrong.
    pub(crate) fn health(&self) -> ksparse::Result<()> {
        self.fault.get().map_or(Ok(()), |fault| Err(fault.clone().into()))
    }

    /// Does some work while nobody else does. What goes wrong is noted for [`health`](Self::health), and nothing is
    /// done from then on.
    pub(crate) fn work<T>(self: &Arc<Self>, work: impl FnOnce(&Turn) -> Result<T>) -> Option<T> {
        if self.fault.get().is_some() {
            return None;
        }
        match work(&self.turn()) {
            Ok(done) => Some(done),
            Err(fault) => {
                let _ = self.fault.set(fault);
                None
            }
        }
    }

    /// The same where a failure is the caller's to know: a design that does not fit leaves the device well.
    pub(crate) fn turn(self: &Arc<Self>) -> Turn<'_> {
        Turn { session: self, _alone: self.turn.lock().unwrap_or_else(PoisonError::into_inner) }
    }
}

/// The device, as long as nobody else uses it.
pub(crate) struct Turn<'a> {
    session: &'a Arc<Session>,
    _alone: MutexGuard<'a, ()>,
}

impl Turn<'_> {
    /// Room for so many numbers.
    pub fn room<T: Pod>(&self, count: u64, what: &'static str) -> Result<Piece> {
        self.session.pool.take(count * size_of::<T>() as u64, what)
    }

    /// Numbers brought to the device, for as long as the piece is held.
    pub fn bring<T: Pod>(&self, values: &[T], what: &'static str) -> Result<Piece> {
        let piece = self.room::<T>(values.len() as u64, what)?;
        self.upload(values, piece.at())?;
        Ok(piece)
    }

    /// A vector, for as long as the piece is held.
    pub fn vector(&self, values: &[f64]) -> Result<Piece> {
        self.bring(values, "a vector")
    }

    /// Numbers of columns or rows; they fit into 32 bits.
    pub fn list(&self, numbers: &[usize]) -> Result<Piece> {
        let numbers: Vec<u32> = numbers.iter().map(|&j| j as u32).collect();
        self.bring(&numbers, "a list of columns")
    }

    pub fn upload<T: Pod>(&self, values: &[T], to: u64) -> Result<()> {
        if values.is_empty() {
            return Ok(());
        }
        let bytes: &[u8] = bytemuck::cast_slice(values);
        self.session.uploads.fetch_add(1, Relaxed);
        self.session.uploaded.fetch_add(bytes.len() as u64, Relaxed);
        self.session.device.upload(bytes, to)
    }

    pub fn download<T: Pod>(&self, from: u64, values: &mut [T]) -> Result<()> {
        if values.is_empty() {
            return Ok(());
        }
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(values);
        self.session.downloads.fetch_add(1, Relaxed);
        self.session.downloaded.fetch_add(bytes.len() as u64, Relaxed);
        self.session.device.download(from, bytes)
    }

    pub fn clear(&self, at: u64, bytes: u64) -> Result<()> {
        self.session.launches.fetch_add(1, Relaxed);
        self.session.device.clear(at, bytes)
    }

    pub fn run(&self, task: Task) -> Result<()> {
        self.session.launches.fetch_add(1, Relaxed);
        self.session.device.run(&task)
    }

    pub fn check_foreign(&self, at: u64, bytes: u64) -> Result<()> {
        self.session.device.check_foreign(at, bytes)
    }
}
