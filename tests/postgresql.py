"""A real PostgreSQL server for tests: Debian's package or binaries on the PATH, as an ordinary user, on loopback."""

import contextlib
import functools
import glob
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

HOW = "PostgreSQL's server is not installed; get it with: apt-get install postgresql"


@functools.cache
def binaries():
    """The folder of the server's programs, or None."""
    found = shutil.which("initdb")
    folders = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda path: int(path.split("/")[4]))
    folder = folders[-1] if folders else found and os.path.dirname(os.path.realpath(found))
    return folder if folder and os.path.exists(os.path.join(folder, "initdb")) else None


class Server:
    """A server in a temporary folder; `kill` is kill -9 of all of it, `start` starts it again."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="setwise-postgresql-")
        self.data = os.path.join(self.folder, "data")
        # The server refuses to run as root: then somebody else runs it.
        self.user = next((name for name in ("postgres", "nobody") if _exists(name)), None) if os.getuid() == 0 else None
        if self.user:
            shutil.chown(self.folder, self.user)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        password = os.path.join(self.folder, "password")
        Path(password).write_text("open sesame\n")
        if self.user:
            shutil.chown(password, self.user)
        self._run("initdb", "-D", self.data, "-U", "setwise", "-A", "scram-sha-256", "--pwfile", password, "-N")
        with open(os.path.join(self.data, "postgresql.conf"), "a") as settings:
            settings.write(
                f"port = {self.port}\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = ''\n"
                "max_connections = 200\nshared_buffers = 64MB\n"
            )
        self.process = None
        self.start()

    @property
    def address(self):
        return f"postgresql://setwise:open%20sesame@127.0.0.1:{self.port}/postgres"

    def _run(self, program, *arguments):
        options = {"user": self.user, "group": pwd.getpwnam(self.user).pw_gid} if self.user else {}
        subprocess.run([os.path.join(binaries(), program), *arguments], check=True, capture_output=True,
                       cwd=self.folder, **options)  # fmt: skip

    def start(self):
        options = {"user": self.user, "group": pwd.getpwnam(self.user).pw_gid} if self.user else {}
        self.log = open(os.path.join(self.folder, "log"), "ab")  # noqa: SIM115
        command = [os.path.join(binaries(), "postgres"), "-D", self.data]
        options |= {"stdout": self.log, "stderr": self.log, "cwd": self.folder, "start_new_session": True}
        self.process = subprocess.Popen(command, **options)
        self.wait()

    def wait(self):
        """Until the server answers."""
        import psycopg

        for _ in range(600):
            with contextlib.suppress(psycopg.OperationalError), psycopg.connect(self.address, connect_timeout=2):
                return
            if self.process.poll() is not None:  # what was killed may still hold the shared memory for a moment
                self.process.wait()
                self.log.close()
                return self.start()
            time.sleep(0.1)
        raise RuntimeError(Path(self.folder, "log").read_text()[-2000:])

    def kill(self):
        """kill -9 of the server and of its children, which have sessions of their own: it first, or it would help."""
        children = _children(self.process.pid)
        os.kill(self.process.pid, signal.SIGKILL)
        for child in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        self.process.wait()
        self.log.close()

    def stop(self):
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.kill()
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def _children(process):
    """The processes that a process has started."""
    found = []
    for stat in glob.glob("/proc/[0-9]*/stat"):
        with contextlib.suppress(OSError):
            words = Path(stat).read_text().rpartition(")")[2].split()
            if int(words[1]) == process:
                found.append(int(stat.split("/")[2]))
    return found


def _exists(user):
    try:
        pwd.getpwnam(user)
    except KeyError:
        return False
    return True


def new_database(server, name):
    """The address of a database of its own in the server."""
    import psycopg

    with psycopg.connect(server.address, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    return server.address.removesuffix("/postgres") + f"/{name}"
