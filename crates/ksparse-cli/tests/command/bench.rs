//! A place to run commands in.

use serde_json::Value;
use std::path::PathBuf;
use std::process::{Command, Output};
use tempfile::TempDir;

/// An empty directory of its own in which commands run.
pub struct Bench {
    dir: TempDir,
}

/// What a command left behind.
pub struct Done {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Bench {
    pub fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    /// A bench with `data.csv` (y, 30 columns of which 3 count), `labels.csv` (words yes and no) and `data.svm` (the
    /// same numbers).
    pub fn with_data() -> Self {
        let bench = Self::new();
        bench.ok(&sim("linear", "data.csv", "0.5"));
        bench.ok(&sim("linear", "data.svm", "0.5"));
        let numbers = bench.read("data.csv");
        let mut lines = numbers.lines();
        let header = lines.next().unwrap();
        let at = header.split(',').position(|name| name == "y").unwrap();
        let mut labels = format!("{header}\n");
        for line in lines {
            let mut fields: Vec<String> = line.split(',').map(str::to_string).collect();
            fields[at] = if fields[at].starts_with('-') { "no".to_string() } else { "yes".to_string() };
            labels.push_str(&format!("{}\n", fields.join(",")));
        }
        bench.file("labels.csv", labels);
        bench
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn file(&self, name: &str, contents: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), contents).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// The names of all files, sorted.
    pub fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.dir.path()).unwrap();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// The command with these words, separated by blanks, not started yet.
    pub fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ksparse"));
        command.args(line.split_whitespace()).current_dir(self.dir.path());
        // Help is as wide as the terminal; there is none here, but a variable may say so.
        command.env("COLUMNS", "110").env_remove("CLICOLOR_FORCE");
        command
    }

    pub fn run(&self, line: &str) -> Done {
        Done::from(self.command(line).output().unwrap())
    }

    /// The same after something else in the same process of a shell: a limit, say.
    pub fn run_after(&self, first: &str, line: &str) -> Done {
        let script = format!("{first}; exec {} {line}", env!("CARGO_BIN_EXE_ksparse"));
        Done::from(Command::new("bash").args(["-c", &script]).current_dir(self.dir.path()).output().unwrap())
    }

    /// Standard output of a command that must succeed.
    pub fn ok(&self, line: &str) -> String {
        let done = self.run(line);
        assert_eq!(done.code, 0, "ksparse {line}\n{}", done.stderr);
        done.stdout
    }

    /// The object a command prints.
    pub fn json(&self, line: &str) -> Value {
        serde_json::from_str(&self.ok(line)).unwrap()
    }
}

impl From<Output> for Done {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// A command that simulates a small problem.
pub fn sim(model: &str, file: &str, correlation: &str) -> String {
    format!("simulate {model} --rows 80 --cols 30 --nonzeros 3 --correlation {correlation} --seed 5 -o {file}")
}

/// A table of numbers with a header, by columns.
pub fn columns(csv: &str) -> (Vec<String>, Vec<Vec<f64>>) {
    let mut lines = csv.lines();
    let names: Vec<String> = lines.next().unwrap().split(',').map(str::to_string).collect();
    let mut columns = vec![Vec::new(); names.len()];
    for line in lines {
        for (column, field) in columns.iter_mut().zip(line.split(',')) {
            column.push(field.parse().unwrap());
        }
    }
    (names, columns)
}

pub fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
}

pub fn indices(value: &Value) -> Vec<usize> {
    value.as_array().unwrap().iter().map(|v| v.as_u64().unwrap() as usize).collect()
}
