"""Addresses of a database and of a study in it: an SQLAlchemy URL and, behind a ``#``, the study's name.

No message that is made here has its password.
"""

from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from urllib.parse import quote, quote_plus

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from robustbo.errors import JournalError
from robustbo.trials.storage.passwords import has_secret_option

STUDY = "study"
LONGEST_STUDY = 200  # characters; they are half of a key
DRIVERS = {"postgresql": "postgresql+psycopg", "postgres": "postgresql+psycopg"}  # the one that the extra installs
SHOWN = {  # options that are no secrets; any other might be one, by whatever name
    *("application_name", "charset", "check_same_thread", "connect_timeout", "host", "mode", "options", "port"),
    *("sslmode", "target_session_attrs", "timeout", "uri", "user"),
}
HIDDEN = "hidden"


@dataclass(frozen=True)
class Address:
    """A study in a database.

    Attributes:
        url: The database.
        study: The study's name.
    """

    url: URL
    study: str

    @property
    def name(self) -> str:
        """The address for messages: without the password, and what may be one."""
        options = {key: value if key in SHOWN else HIDDEN for key, value in self.url.query.items()}
        database = HIDDEN if self._has_odd_database else self.url.database
        return f"{self.url.set(query=options, database=database).render_as_string(hide_password=True)}#{self.study}"

    @property
    def _has_odd_database(self) -> bool:
        """Return whether the database's name has what belongs to another part of an address, typed wrongly."""
        return self.dialect != "sqlite" and any(mark in (self.url.database or "") for mark in "@:=&;")

    @property
    def _secrets(self) -> set[str]:
        """All that no message may have, as it is and as addresses write it."""
        options = [value for key, value in self.url.query.items() if key not in SHOWN]
        plain = [part for value in options for part in ([value] if isinstance(value, str) else value)]
        plain += [str(self.url.password or ""), self.url.database or "" if self._has_odd_database else ""]
        return {
            text
            for secret in plain
            if secret
            for text in (secret, quote(secret, safe=" +"), quote(secret), quote_plus(secret))
        }

    def without_passwords(self, text: str) -> str:
        """A database's words without passwords, fit for a message."""
        for secret in sorted(self._secrets, key=len, reverse=True):  # one may be a part of another
            text = text.replace(secret, "***")
        return text

    @property
    def dialect(self) -> str:
        """The kind of database."""
        return self.url.get_backend_name()

    @property
    def is_file(self) -> bool:
        """Return whether the database is a file of this machine."""
        return self.dialect == "sqlite"

    @property
    def file(self) -> Path:
        """The file of the database."""
        return Path(self.url.database or "")

    @property
    def is_gone(self) -> bool:
        """Return whether it is a file that is not there."""
        return self.is_file and not self.file.exists()

    @property
    def key(self) -> tuple[int, int]:
        """Two numbers of 32 bits that are this study's in its database, the same for everybody."""
        digest = blake2b(f"robustbo_events#{self.study}".encode(), digest_size=8).digest()
        return int.from_bytes(digest[:4], "big", signed=True), int.from_bytes(digest[4:], "big", signed=True)

    @property
    def lock_file(self) -> Path:
        """The file beside a database file that is locked while somebody decides."""
        return self.file.with_name(f".{self.file.name}.{self.key[0] & 0xFFFFFFFF:08x}.lock")


def parse(address: str) -> Address:
    """The study that an address means.

    Raises:
        JournalError: If it is no address.
    """
    text, _, study = address.partition("#")
    study = study or STUDY
    if "@" in study or not study.isprintable() or len(study) > LONGEST_STUDY:  # @: the rest of a password, most likely
        raise JournalError(
            f"the study's name, behind the # of an address, must be at most {LONGEST_STUDY} printable characters "
            "without @; write a # in a password as %23"
        )
    if has_secret_option(f"?{study}"):
        raise JournalError("options must stand before the # of an address, got that of a password behind it; move it")
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):  # whose messages have the password
        raise JournalError(
            'the address of a database must be like "postgresql+psycopg://user:password@host/database#study" or '
            '"sqlite:///file.db#study", with %-escapes in the password'
        ) from None
    if "@" in (url.host or ""):  # the rest of a password
        raise JournalError("a password in an address must be written with %-escapes: @ as %40, # as %23, / as %2F")
    study_address = Address(url.set(drivername=DRIVERS.get(url.drivername, url.drivername)), study)
    if not study_address.is_file:
        return study_address
    if url.database in (None, "", ":memory:"):
        raise JournalError(
            f"{study_address.name}: must be a file (sqlite:///file.db#study), is in memory, where all is lost when "
            "this process ends; in Python an optimization without a journal is that too"
        )
    if "uri" in url.query:
        raise JournalError(f"{study_address.name}: must have the file's path (sqlite:///path), not a file URI")
    return Address(url.set(database=str(study_address.file.absolute())), study)
