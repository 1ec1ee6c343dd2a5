"""Which database an address means, and which study in it: an SQLAlchemy URL and, behind a ``#``, the study's name.

No message that is made here has its password.
"""

from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from robustbo.errors import JournalError

STUDY = "study"
LONGEST_STUDY = 200  # characters; they are half of a key
DRIVERS = {"postgresql": "postgresql+psycopg", "postgres": "postgresql+psycopg"}  # the one that the extra installs


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
        """The address for messages, without the password."""
        hidden = self.url.update_query_dict(dict.fromkeys(self._secrets, "hidden"))
        return f"{hidden.render_as_string(hide_password=True)}#{self.study}"

    @property
    def _secrets(self) -> list[str]:
        return [key for key in self.url.query if "pass" in key]

    def without_passwords(self, text: str) -> str:
        """What a database has said, fit for a message."""
        for password in filter(None, (self.url.password, *(self.url.query[key] for key in self._secrets))):
            text = text.replace(str(password), "***")
        return text

    @property
    def dialect(self) -> str:
        """The kind of database."""
        return self.url.get_backend_name()

    @property
    def is_file(self) -> bool:
        """Whether the database is a file of this machine."""
        return self.dialect == "sqlite" and self.url.database not in (None, "", ":memory:")

    @property
    def file(self) -> Path:
        """That file."""
        return Path(self.url.database or "")

    @property
    def is_gone(self) -> bool:
        """Whether it is a file that is not there."""
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
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):  # whose messages have the password
        raise JournalError(
            'the address of a database must be like "postgresql+psycopg://user:password@host/database#study" or '
            '"sqlite:///file.db#study", with %-escapes in the password'
        ) from None
    found = Address(url.set(drivername=DRIVERS.get(url.drivername, url.drivername)), study)
    if not found.is_file:
        return found
    if "uri" in url.query:
        raise JournalError(f"{found.name}: must have the file's path (sqlite:///path), not a file URI")
    return Address(url.set(database=str(found.file.absolute())), study)
