//! Zip archives of NumPy arrays: SciPy's sparse matrices (`scipy.sparse.save_npz`), or arrays `X` and `y`
//! (`numpy.savez`).
//!
//! The target is the array `y` (or `target`, `labels`), which SciPy ignores; `weights` and `names` likewise.

use crate::assemble::{check_columns, check_rows, from_triplets};
use crate::error::{Error, Result};
use crate::memory::Memory;
use crate::npy::{self, Fault, Outcome};
use crate::options::{Format, ReadOptions};
use crate::source::Source;
use crate::table::{Matrix, MatrixRef, Table, Target};
use crate::text;
use std::io::{self, Cursor, Read, Write};
use std::sync::Arc;
use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

struct Archive {
    name: String,
    memory: Arc<Memory>,
    zip: ZipArchive<Cursor<Vec<u8>>>,
}

/// Reads an archive.
pub(crate) fn read(source: &mut Source, options: &ReadOptions) -> Result<Table> {
    let name = source.name.clone();
    let zip = ZipArchive::new(Cursor::new(source.read_all()?)).map_err(|e| bad_zip(&name, &e))?;
    let memory = source.memory.clone();
    let mut archive = Archive { name: name.clone(), memory: memory.clone(), zip };
    let format = archive.get("format", |h, r| h.strings(r, &memory))?;
    let matrix = match format.as_ref().and_then(|f| f.first()) {
        Some(format) => archive.sparse(&format.clone(), options)?,
        None => archive.dense(options)?,
    };
    let mut table = Table::new(matrix);
    let (n, p) = (table.nrows(), table.ncols());
    for member in ["y", "target", "labels"] {
        if table.target.is_none() {
            table.target = archive.with(member, |mut r| npy::vector(&mut r, member, &memory))?;
        }
    }
    table.weights = archive.get("weights", |h, r| h.numbers(r, &memory))?;
    table.names = archive.get("names", |h, r| h.strings(r, &memory))?;
    let lengths = [
        ("y", table.target.as_ref().map(Target::len), n),
        ("weights", table.weights.as_ref().map(Vec::len), n),
        ("names", table.names.as_ref().map(Vec::len), p),
    ];
    for (member, found, expected) in lengths {
        if let Some(found) = found.filter(|&f| f != expected) {
            let problem = format!("the array `{member}` has {found} entries for a matrix of {n} x {p}");
            return Err(Error::input(&*name, problem, "save arrays that belong together"));
        }
    }
    if let Some(w) = table.weights.iter().flatten().find(|w| !w.is_finite() || **w < 0.0) {
        return Err(Error::input(
            &*name,
            format!("the weight {w} is not usable"),
            "weights must be finite and 0 or more",
        ));
    }
    (table.format, table.compression, table.source) = (Format::Npz, source.compression, name);
    Ok(table)
}

fn bad_zip(name: &str, error: &ZipError) -> Error {
    Error::input(
        name,
        format!("the archive is damaged ({error})"),
        "it was cut short or altered: save or fetch it again",
    )
}

impl Archive {
    /// An array of the archive, if it is there.
    fn with<T>(&mut self, member: &str, read: impl FnOnce(&mut dyn Read) -> Outcome<T>) -> Result<Option<T>> {
        let wanted = format!("{member}.npy");
        let place = || crate::error::Place::from(&*self.name).part(format!("array `{member}`"));
        let file = match self.zip.by_name(&wanted) {
            Ok(file) => file,
            Err(ZipError::FileNotFound) => return Ok(None),
            Err(e) => return Err(bad_zip(&self.name, &e)),
        };
        let mut reader = io::BufReader::with_capacity(1 << 16, file);
        // The end must be reached: there the checksum is compared.
        match read(&mut reader).and_then(|value| npy::at_end(&mut reader).map(|()| value)) {
            Ok(value) => Ok(Some(value)),
            Err(Fault::Memory(error)) => Err(error),
            Err(fault) => Err(match fault.into_error(&self.memory, None) {
                // Reading from an archive in memory: whatever fails is the archive's fault.
                Error::Io { source, .. } => {
                    Error::input(place(), format!("the archive is damaged ({source})"), "save or fetch it again")
                }
                Error::Input { problem, remedy, .. } => Error::input(place(), problem, remedy),
                other => other,
            }),
        }
    }

    fn get<T>(
        &mut self,
        member: &str,
        read: impl FnOnce(&npy::Header, &mut &mut dyn Read) -> Outcome<T>,
    ) -> Result<Option<T>> {
        self.with(member, |mut reader| {
            let header = npy::Header::read(&mut reader)?;
            read(&header, &mut reader)
        })
    }

    fn need<T>(
        &mut self,
        member: &str,
        read: impl FnOnce(&npy::Header, &mut &mut dyn Read) -> Outcome<T>,
    ) -> Result<T> {
        let found = self.get(member, read)?;
        found.ok_or_else(|| {
            Error::input(
                &*self.name,
                format!("there is no array `{member}`"),
                "save a sparse matrix with scipy.sparse.save_npz, or arrays X and y with numpy.savez",
            )
        })
    }

    fn dense(&mut self, options: &ReadOptions) -> Result<Matrix> {
        let memory = self.memory.clone();
        for member in ["X", "x", "data"] {
            let found = self.get(member, |header, reader| {
                let [n, p] = header.shape[..] else {
                    return Err(Fault::Content(format!(
                        "the array has {} dimensions instead of two",
                        header.shape.len()
                    )));
                };
                Ok((header.clone(), n, p, header.numbers(reader, &memory)?))
            })?;
            if let Some((header, n, p, values)) = found {
                return npy::matrix(&memory, &header, n, p, values, options);
            }
        }
        self.need("X", |_, _| Err(Fault::Content(String::new())))
    }

    fn sparse(&mut self, format: &str, options: &ReadOptions) -> Result<Matrix> {
        let (name, memory) = (self.name.clone(), self.memory.clone());
        let bad = |problem: String| Err(Error::input(&*name, problem, "save it again with scipy.sparse.save_npz"));
        let shape = self.need("shape", |h, r| h.integers(r, &memory))?;
        let [nrows, ncols] = shape[..] else { return bad(format!("a sparse array of {} dimensions", shape.len())) };
        let (nrows, ncols) = (nrows as usize, ncols as usize);
        if nrows == 0 || ncols == 0 {
            return bad(format!("the matrix is empty ({nrows} x {ncols})"));
        }
        check_rows(&name, nrows)?;
        check_columns(&*name, ncols, options)?;
        memory.check_shape(nrows, ncols)?;
        let values = self.need("data", |h, r| h.numbers(r, &memory))?;
        if let Some(v) = values.iter().find(|v| !v.is_finite()) {
            return Err(Error::input(&*name, format!("an entry is {v}"), text::FINITE));
        }
        let (rows, columns) = match format {
            "coo" => {
                let row = self.need("row", |h, r| h.integers(r, &memory))?;
                (row, self.need("col", |h, r| h.integers(r, &memory))?)
            }
            "csr" | "csc" => {
                let minor = self.need("indices", |h, r| h.integers(r, &memory))?;
                let pointers = self.need("indptr", |h, r| h.integers(r, &memory))?;
                let major = if format == "csr" { nrows } else { ncols };
                let ascending = pointers.windows(2).all(|p| p[0] <= p[1]);
                let whole = pointers.first() == Some(&0) && pointers.last() == Some(&(minor.len() as u64));
                if pointers.len() != major + 1 || !ascending || !whole {
                    return bad("the array `indptr` is inconsistent".into());
                }
                memory.take(8 * minor.len(), || format!("{} entries", minor.len()))?;
                let mut majors = Vec::with_capacity(minor.len());
                for (m, p) in pointers.windows(2).enumerate() {
                    majors.resize(p[1] as usize, m as u64);
                }
                if format == "csr" { (majors, minor) } else { (minor, majors) }
            }
            other => {
                return Err(Error::input(
                    &*name,
                    format!("the sparse layout `{other}` is not read"),
                    "save matrix.tocsr() instead",
                ));
            }
        };
        if rows.len() != values.len() || columns.len() != values.len() {
            return bad(format!("{} values, but {} rows and {} columns", values.len(), rows.len(), columns.len()));
        }
        if rows.iter().any(|&i| i >= nrows as u64) || columns.iter().any(|&j| j >= ncols as u64) {
            return bad(format!("an index lies outside the {nrows} x {ncols} matrix"));
        }
        memory.take(size_of::<(u32, u32, f64)>() * values.len(), || format!("{} entries", values.len()))?;
        let indices = rows.iter().zip(&columns).map(|(&i, &j)| (i as u32, j as u32));
        let triplets: Vec<(u32, u32, f64)> = indices.zip(&values).map(|((i, j), &v)| (i, j, v)).collect();
        from_triplets(&memory, nrows, ncols, &triplets, options.storage)
    }
}

/// Writes an archive: compressed columns if the matrix is stored sparse, else `X`.
pub(crate) fn write(table: &Table, out: &mut dyn Write) -> io::Result<()> {
    let mut zip = ZipWriter::new_stream(out);
    match table.matrix.view() {
        MatrixRef::Dense(_) => {
            start(&mut zip, "X")?;
            npy::write_matrix(table, &mut zip)?;
        }
        MatrixRef::Sparse(sparse) => {
            let (n, p) = (table.nrows(), table.ncols());
            start(&mut zip, "format")?;
            npy::write_header(&mut zip, "|S3", false, &[])?;
            zip.write_all(b"csc")?;
            start(&mut zip, "shape")?;
            npy::write_header(&mut zip, "<i8", false, &[2])?;
            zip.write_all(&(n as u64).to_le_bytes())?;
            zip.write_all(&(p as u64).to_le_bytes())?;
            // SciPy wants both arrays of indices in the same, smallest sufficient type.
            let wide = n.max(sparse.nnz()) > i32::MAX as usize;
            let descr = if wide { "<i8" } else { "<i4" };
            let put = |zip: &mut dyn Write, v: u64| zip.write_all(&v.to_le_bytes()[..if wide { 8 } else { 4 }]);
            start(&mut zip, "indptr")?;
            npy::write_header(&mut zip, descr, false, &[p + 1])?;
            let mut end = 0;
            put(&mut zip, end)?;
            for j in 0..p {
                end += sparse.column(j).0.len() as u64;
                put(&mut zip, end)?;
            }
            start(&mut zip, "indices")?;
            npy::write_header(&mut zip, descr, false, &[sparse.nnz()])?;
            (0..p).try_for_each(|j| sparse.column(j).0.iter().try_for_each(|&i| put(&mut zip, u64::from(i))))?;
            start(&mut zip, "data")?;
            npy::write_header(&mut zip, "<f8", false, &[sparse.nnz()])?;
            (0..p).try_for_each(|j| sparse.column(j).1.iter().try_for_each(|v| zip.write_all(&v.to_le_bytes())))?;
        }
    }
    if let Some(target) = &table.target {
        start(&mut zip, "y")?;
        npy::write_target(&mut zip, target)?;
    }
    if let Some(weights) = &table.weights {
        start(&mut zip, "weights")?;
        npy::write_numbers(&mut zip, weights)?;
    }
    if let Some(names) = &table.names {
        start(&mut zip, "names")?;
        npy::write_strings(&mut zip, names)?;
    }
    zip.finish()?;
    Ok(())
}

fn start<W: Write + io::Seek>(zip: &mut ZipWriter<W>, member: &str) -> io::Result<()> {
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated).large_file(true);
    Ok(zip.start_file(format!("{member}.npy"), options)?)
}
