"""What is shipped: workflows name what exists, a release writes its version everywhere, the source package is whole."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))


def release(*words):
    return subprocess.run([sys.executable, ROOT / "ship/release.py", *words], capture_output=True, text=True)


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.stem)
def test_workflows_name_what_exists(file):
    yaml = pytest.importorskip("yaml")
    jobs = yaml.safe_load(file.read_text())["jobs"]
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
    oldest = re.search(r'rust-version = "(.+)"', (ROOT / "Cargo.toml").read_text())[1]
    for name, job in jobs.items():
        assert "timeout-minutes" in job and set(job.get("needs", [])) <= set(jobs), name
        for step in job["steps"]:
            action = step.get("uses", "")
            assert not action or re.fullmatch(r"[\w-]+/[\w-]+@[\w./-]+", action), action
            if re.fullmatch(r"dtolnay/rust-toolchain@\d.*", action):
                assert action.endswith(f"@{oldest}.0")
            command = step.get("run", "")
            for target in re.findall(r"\bmake ([a-z]+)", command):
                assert target in targets, command
            for path in re.findall(r"(?:^|[\s=./])((?:r|ship|crates)/[\w./-]+)", command):
                assert (ROOT / path).exists(), command
            first = command.split(" ")[0]
            assert "/" not in first or os.access(ROOT / first, os.X_OK), command


def test_the_other_files_can_be_read():
    yaml = pytest.importorskip("yaml")
    forms = [f".github/ISSUE_TEMPLATE/{name}.yml" for name in ("bug", "wish", "config")]
    for name in (".pre-commit-config.yaml", "CITATION.cff", *forms):
        assert yaml.safe_load((ROOT / name).read_text()), name
    recipe = yaml.safe_load((ROOT / "ship/conda/recipe.yaml").read_text())
    project = (ROOT / "crates/ksparse-py/pyproject.toml").read_text()
    needed = re.search(r"^dependencies = \[(.*)\]", project, flags=re.MULTILINE)[1]
    assert set(re.findall(r'"(.+?)"', needed)) == {word.replace(" ", "") for word in recipe["requirements"]["run"][1:]}
    workspace = (ROOT / "Cargo.toml").read_text()
    assert recipe["context"]["version"] == re.search(r'^version = "(.+)"', workspace, flags=re.MULTILINE)[1]
    assert recipe["about"]["license"] == re.search(r'^license = "(.+)"', workspace, flags=re.MULTILINE)[1]
    made = [line.split()[-1] for line in recipe["build"]["script"] if "--output" in line]
    assert all((ROOT / name).exists() or name in made for name in recipe["about"]["license_file"])


def test_the_repository_is_named_in_one_place():
    word = (ROOT / "ship/repository").read_text().strip()
    if word != "https://REPOSITORY":
        pytest.skip("the repository has its address")
    own = {ROOT / "ship/repository", ROOT / "ship/release.py", Path(__file__)}
    known = [*ROOT.glob("*.md"), *ROOT.glob("*.toml"), *(ROOT / ".github").rglob("*.*"), *(ROOT / "ship").rglob("*.*")]
    assert [str(file) for file in known if file.is_file() and file not in own and word in file.read_text()] == []


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a checkout")
def test_a_dry_run_writes_the_version_into_a_copy_only():
    before = {name: (ROOT / name).read_bytes() for name in ("Cargo.toml", "Cargo.lock", "CHANGELOG.md", "CITATION.cff")}
    done = release("97.0.0", "--dry-run", "--no-build")
    assert done.returncode == 0, done.stderr
    copy = ROOT / "target/release-dry-run"
    assert '\nversion = "97.0.0"\n' in (copy / "Cargo.toml").read_text()
    assert "\nVersion: 97.0.0\n" in (copy / "r/ksparse/DESCRIPTION").read_text()
    assert re.search(r"## \[Unreleased\]\n\n## \[97.0.0\] - \d{4}-\d\d-\d\d\n", (copy / "CHANGELOG.md").read_text())
    locked = (copy / "Cargo.lock").read_text()
    assert re.search(r'name = "ksparse-cli"\nversion = "97.0.0"', locked)
    assert before == {name: (ROOT / name).read_bytes() for name in before}
    cargo = shutil.which(os.environ.get("CARGO", "cargo"))
    if cargo:
        # The lock file is the one that Cargo would write.
        words = [cargo, "metadata", "--locked", "--offline", "--no-deps", "--format-version", "1"]
        assert subprocess.run(words, cwd=copy, capture_output=True).returncode == 0


def test_what_is_no_release_is_refused():
    for version, said in (("0.0.1", "before"), ("1.2", "three numbers"), ("v1.2.3", "three numbers")):
        done = release(version, "--dry-run", "--no-build")
        assert done.returncode == 1 and said in done.stderr
    if "https://REPOSITORY" in (ROOT / "ship/repository").read_text():
        done = release("97.0.0", "--no-build")
        assert done.returncode == 1 and ("ship/repository" in done.stderr or "uncommitted" in done.stderr)


def done(*words, **options):
    """What a program prints that must succeed."""
    finished = subprocess.run([str(word) for word in words], capture_output=True, text=True, **options)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return finished.stdout + finished.stderr


def tool(name):
    found = shutil.which(name, path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    return found or pytest.skip(f"there is no {name}")


def test_the_crates_can_be_packed(tmp_path):
    crates = ["ksparse", "ksparse-plot", "ksparse-io", "ksparse-cuda", "ksparse-cli"]
    named = [word for crate in crates for word in ("--package", crate)]
    words = ["package", "--offline", "--no-verify", "--allow-dirty", "--target-dir", tmp_path, *named]
    done(tool("cargo"), *words, cwd=ROOT)
    assert sorted(file.name.rsplit("-", 1)[0] for file in tmp_path.glob("package/*.crate")) == sorted(crates)


def test_the_wheel_is_what_an_index_takes():
    wheels = sorted(file for file in (ROOT / "target/wheels").glob("*.whl") if "-linux_" not in file.name)
    if not wheels:
        pytest.skip("no wheel was built here")
    assert "abi3" in wheels[0].name
    assert "PASSED" in done(sys.executable, "-m", "twine", "check", "--strict", wheels[0], cwd=ROOT)
    done(tool("abi3audit"), "--strict", wheels[0])


def packed(folder):
    """The source package, in a folder."""
    words = ["sdist", "--manifest-path", ROOT / "crates/ksparse-py/Cargo.toml", "--out", folder]
    tool("cargo")
    # Files as old as the package has them by default are older than what was compiled before: Cargo would not look.
    done(tool("maturin"), *words, env={**os.environ, "SOURCE_DATE_EPOCH": str(int(time.time()))})
    return next(folder.glob("*.tar.gz"))


def test_the_source_package_builds_and_installs_offline(tmp_path):
    index, clean = tmp_path / "index", tmp_path / "clean"
    packed(index)
    done(sys.executable, "-m", "venv", clean)
    # What it needs is lent by this environment; the package itself comes from the index alone.
    lent = next(path for path in sys.path if path.endswith("site-packages"))
    own = Path(done(clean / "bin/python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    (own / "lent.pth").write_text(lent)
    # The library is compiled without optimisation, what it depends on is taken from the other tests.
    plain = " ".join(f"--config profile.dev.package.{name}.opt-level=0" for name in ("ksparse", "ksparse-py"))
    settings = {"MATURIN_PEP517_ARGS": f"--profile dev {plain}", "CARGO_NET_OFFLINE": "true", "PIP_NO_INDEX": "1",
                "CARGO_TARGET_DIR": str(ROOT / "target"), "CARGO_PROFILE_DEV_OPT_LEVEL": "3",
                "CARGO_PROFILE_DEV_DEBUG": "1", "CARGO_PROFILE_DEV_INCREMENTAL": "false"}  # fmt: skip
    words = ["install", "--find-links", index, "--no-build-isolation", "--no-deps", "--ignore-installed", "ksparse"]
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    before = set((ROOT / "target/wheels").glob("*"))
    done(clean / "bin/python", "-m", "pip", *words, env={**os.environ, **settings, "PATH": path})
    for wheel in set((ROOT / "target/wheels").glob("*")) - before:
        wheel.unlink()
    program = "import ksparse as s; X, y, w = s.datasets.make_regression(40, 20); print(s.__file__, s.path)"
    assert str(own) in done(clean / "bin/python", "-c", program, cwd=tmp_path)


def test_the_source_package_is_whole(tmp_path):
    with tarfile.open(packed(tmp_path)) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames()}
    wanted = {"LICENSE-MIT", "LICENSE-APACHE", "PKG-INFO", "README.md", "Cargo.lock", "pyproject.toml",
              "crates/ksparse/src/lib.rs", "crates/ksparse-py/src/lib.rs", "python/ksparse/__init__.py"}  # fmt: skip
    assert wanted <= names, wanted - names
