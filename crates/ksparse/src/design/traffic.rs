//! What travels between a device and this computer.

/// Copies to and from the device that a design lies on, and the tasks started there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Traffic {
    /// Tasks started.
    pub launches: u64,
    /// Copies to the device, and their bytes.
    pub uploads: u64,
    /// See `uploads`.
    pub uploaded: u64,
    /// Copies from the device, and their bytes.
    pub downloads: u64,
    /// See `downloads`.
    pub downloaded: u64,
}

impl Traffic {
    /// What was counted from `before` to now.
    pub(crate) fn since(self, before: Self) -> Self {
        Self {
            launches: self.launches - before.launches,
            uploads: self.uploads - before.uploads,
            uploaded: self.uploaded - before.uploaded,
            downloads: self.downloads - before.downloads,
            downloaded: self.downloaded - before.downloaded,
        }
    }
}
