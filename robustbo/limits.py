"""Limits on input that others have written: each once, as docs/security.md states it."""

MIB = 2**20

JOURNAL_BYTES = 2048 * MIB  # some five million events
TABLE_BYTES = 128 * MIB  # a CSV file or rows of a recorded run, unpacked where they are compressed
DATA_BYTES = 512 * MIB  # a data set, unpacked where it is compressed; the largest has 53,500 rows of 386 numbers
TEXT_BYTES = 4 * MIB  # a space, a specification, or JSON that was typed: many choices of long names
DEPTH = 64  # tables and lists in each other, and parts of a dotted key
DIGITS = 400  # of a number in a row: the largest float has 309

CONSTRAINT_CHARACTERS = 2000  # of a constraint on parameters; a sum of some 300 parameters
CONSTRAINTS = 100  # of a space
CONSTRAINTS_CHARACTERS = 20_000  # of all of them
OUTCOME_CONSTRAINT_CHARACTERS = 500  # of a bound on an outcome: its name and two numbers
SOURCE_CHARACTERS = 200  # of the name of a source, or of a kind of them
SOURCE_KINDS = 20  # of one value
LABELS = 100  # of one trial
LABEL_CHARACTERS = 1000
WORKBOOK_BYTES = 256 * MIB  # unpacked: far beyond any sheet of trials
WORKBOOK_CELLS = 1_000_000  # rows times columns of a worksheet, empty ones, too
TABLE_COLUMNS = 10_000
TABLE_CELLS = 20_000_000  # rows times columns
