"""Names and docstrings that say little: `python tests/words.py [-v] FOLDER ...` lists them by file."""

import ast
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

# What a variable may be called that says nothing of what it holds.
PLACEHOLDERS = frozenset(
    "asked begun chosen done drawn each found given gone held here it kept known made may might one ones others said "
    "seen some stuff such taken that them then there these they thing things this those told was wanted were what "
    "which who whole whom".split()
)
# Past participles that do not end in -ed.
IRREGULAR = frozenset(
    "asked begun bent born bound broken brought built cast chosen cut done drawn driven fallen felt found gone given "
    "grown had heard held hidden hung kept known laid left lent lost made meant met overwritten paid proven put read "
    "said seen sent set shown shut spoken spread stood stuck sunk taken thought thrown told torn understood undone "
    "withheld won worn written".split()
) - frozenset("bound cut put read set spread cast shut".split())  # which are verbs as they stand, or a noun
# Words in -ed and -ing that are no participles, or are nouns and verbs in their own right.
NO_PARTICIPLES = frozenset(
    "seed speed need feed embed red bed shed indeed exceed proceed succeed "
    "string ring thing bring warning setting padding encoding heading building meaning mapping string ordering ranking "
    "rounding smoothing kriging standing spring sampling scaling spacing pending bounding thinning "
    "training testing fitting bagging pruning tuning timing nothing anything everything something".split()
)
# Adjectives of the field: with a noun after them they name a quantity, as "expected improvement" does.
ADJECTIVES = frozenset(
    "augmented averaged censored centered changed combined conditioned constrained corrected damped diagonalized "
    "discounted expected feasible filtered fitted fixed heated integrated labelled learned marginalized masked "
    "measured missing nested normalized observed paired pathwise pivoted pooled predicted projected quantized ranked "
    "reduced regularized rotated scaled signed sorted squared standardized stratified studentized suggested "
    "tempered tiled trimmed truncated unmeasured untested weighted whitened winsorized".split()
)
# How a docstring may not begin: with a clause or a pointer in the place of a subject or an imperative.
HEADS = frozenset(
    "what which who whose whom where when whether how why that those these this it its as of in for with without by to "
    "if from like nothing nobody none and or but so not also likewise until under over at only more most less up among "
    "between because since than then there they such after before below above about on into out again still".split()
)
# Names that are excepted, with the reason.
EXCEPTIONS = {
    "having": "the public method `History.having(state)`",
    "measured": "the public property `Trial.measured`",
    "was": "the public argument of `change`, the value that a new parameter was at",
    "told": "a state of a trial, and the public property of a study: `tell` is the field's verb",
    **dict.fromkeys(
        ["barred", "disbelieved", "encoded", "excluded", "failed", "fitted", "flagged", "remeasured", "vouched"],
        "a property that says in which state values, trials or rows are",
    ),
    **dict.fromkeys(["broken", "existing", "extended"], "public since 0.1"),
    "closed_form": "the field's term",
    "crossed_barrel": "the name of a problem, by which run files call it",
    "focused": "the name of a corruption in the papers",
    "judged_together": "a property that says in which state values are",
    **dict.fromkeys(["surprising", "surprising_points"], "a property of points, as `surprises`"),
    "reseed_rng": "Optuna's own method",
    "_shaped_noise_covar": "GPyTorch's own hook",
}

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
SCOPES = (*FUNCTIONS, ast.ClassDef, ast.Module, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Word(NamedTuple):
    """A name or the head of a docstring, and whether the rule refuses it."""

    rule: str  # "name", "function" or "docstring"
    path: Path
    line: int
    scope: str
    text: str
    is_refused: bool


def is_participle(word: str) -> bool:
    """Return whether a word is a participle, by its ending or by the list of the irregular ones."""
    if word in NO_PARTICIPLES or len(word) < 4:
        return False
    return word in IRREGULAR or word.endswith(("ed", "ing"))


def is_named_by_participle(name: str) -> bool:
    """Return whether a function's name is neither a verb nor the noun of what it computes."""
    words = [word for word in name.strip("_").split("_") if word]
    if not words or name.startswith("__") or words[0] in ("is", "has", "num", "test", "may", "can", "with", "without"):
        return False
    if words[0] in ADJECTIVES and len(words) > 1:
        return is_participle(words[-1])
    return is_participle(words[0]) or (is_participle(words[-1]) and words[-1] not in ADJECTIVES)


def has_no_noun(docstring: str) -> bool:
    """Return whether a docstring begins with a clause or a pointer."""
    words = [word.strip("`.,:;()'\"").lower() for word in docstring.split()[:2]]
    return bool(words) and (words[0] in HEADS or words == ["the", "same"])


def bound_names(scope: ast.AST) -> dict[str, int]:
    """The names that a scope binds, each once, with its line; imports, functions and classes aside."""
    names: dict[str, int] = {}

    def bind(name: str, node: ast.AST) -> None:
        names.setdefault(name, node.lineno)  # type: ignore[attr-defined]

    def visit(node: ast.AST, is_top: bool = False) -> None:
        if isinstance(node, SCOPES) and not is_top:
            return
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bind(node.id, node)
        elif isinstance(node, ast.arg):
            bind(node.arg, node)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            bind(node.name, node)
        for child in ast.iter_child_nodes(node):
            visit(child)

    visit(scope, is_top=True)
    return names


def words_of(path: Path) -> list[Word]:
    """Every bound name, function's name and docstring of a file."""
    words: list[Word] = []

    def visit(node: ast.AST, scope: str) -> None:
        name = getattr(node, "name", "")
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            is_refused = is_named_by_participle(name) and EXCEPTIONS.keys().isdisjoint({name, name.strip("_")})
            words.append(Word("function", path, node.lineno, scope, name, is_refused))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            is_refused = name.strip("_").lower() in PLACEHOLDERS and name not in EXCEPTIONS
            words.append(Word("name", path, node.lineno, scope, name, is_refused))
        if isinstance(node, DEFINITIONS) and (docstring := ast.get_docstring(node)):
            line = 1 if isinstance(node, ast.Module) else node.lineno
            words.append(Word("docstring", path, line, name or "-", docstring.split("\n")[0], has_no_noun(docstring)))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            scope = f"{scope}.{name}" if scope != "-" else name
        if isinstance(node, SCOPES):
            for bound, line in bound_names(node).items():
                is_placeholder = bound.strip("_").lower() in PLACEHOLDERS and bound not in EXCEPTIONS
                words.append(Word("name", path, line, scope, bound, is_placeholder))
        for child in ast.iter_child_nodes(node):
            visit(child, scope)

    visit(ast.parse(path.read_text()), "-")
    return words


def files_of(place: Path) -> list[Path]:
    """The Python files of a folder, or the file itself."""
    return sorted(place.rglob("*.py")) if place.is_dir() else [place]


def main(arguments: list[str]) -> None:
    """Print what is refused, and the shares."""
    is_long, places = "-v" in arguments, [Path(a) for a in arguments if a != "-v"] or [Path("robustbo")]
    for place in places:
        words = [word for path in files_of(place) for word in words_of(path)]
        for word in words if is_long else []:
            if word.is_refused:
                print(f"{word.path}:{word.line}: {word.rule} {word.scope}: {word.text}")
        total, refused = Counter(w.rule for w in words), Counter(w.rule for w in words if w.is_refused)
        shares = (f"{rule} {refused[rule]} of {n} ({refused[rule] / n:.1%})" for rule, n in total.items())
        print(f"{place}:", ", ".join(sorted(shares)))


if __name__ == "__main__":
    main(sys.argv[1:])
