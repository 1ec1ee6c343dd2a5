"""Properties, modules and names of packages that are computed or imported when they are first needed."""

import gc
import importlib
import sys
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class cached_property(Generic[T]):
    """A property that is computed at its first use and then kept in the object.

    Python 3.11's own has one lock for all objects of a class: a child that is forked while another thread computes one
    waits for that thread, which it does not have, for ever. This one has none: two threads that ask at once may both
    compute it, and it must be a pure function of its object.

    Example:
        >>> class Square:
        ...     @cached_property
        ...     def area(self) -> float:
        ...         print("computed")
        ...         return 4.0
        >>> square = Square()
        >>> square.area, square.area
        computed
        (4.0, 4.0)
    """

    def __init__(self, function: Callable[[Any], T]) -> None:
        self._function, self._name = function, function.__name__
        self.__doc__ = function.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> "cached_property[T]": ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object, owner: type) -> "cached_property[T] | T":
        if instance is None:
            return self
        value = self._function(instance)
        return vars(instance).setdefault(self._name, value)


class Module(ModuleType):
    """A module that is imported when something of it is first asked for.

    So a program that only writes a value down imports neither what fits surrogates nor what makes tables. It stands
    among the imports, beside the module itself for type checkers (``if TYPE_CHECKING: import pandas as pd``).

    Example:
        >>> fractions = Module("fractions")
        >>> fractions.Fraction(1, 2)
        Fraction(1, 2)
    """

    def __getattr__(self, name: str) -> Any:
        return getattr(load_module(self.__name__), name)


def load_module(name: str) -> ModuleType:
    """The module of a name, without garbage collections while it is imported.

    torch and what is built on it define some 100,000 objects that stay; Python's collector goes through all of them
    again and again meanwhile, which takes a seventh of what an ask in a new process costs.
    """
    if name in sys.modules or not gc.isenabled():
        return importlib.import_module(name)
    gc.disable()
    try:
        return importlib.import_module(name)
    finally:
        gc.enable()


def exports(namespace: dict[str, Any], home: Mapping[str, str]) -> Callable[[str], Any]:
    """The ``__getattr__`` of a package whose names are imported from their modules when they are first asked for.

    Args:
        namespace: The package's ``globals()``.
        home: The module of each name.
    """

    def attribute(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {namespace['__name__']!r} has no attribute {name!r}")
        namespace[name] = value = getattr(load_module(home[name]), name)
        return value

    return attribute


def is_instance(value: Any, module: str, name: str) -> bool:
    """Return whether a value is of a class of a module, which is not imported for that: before it is, nothing is.

    Example:
        >>> is_instance(1.5, "pandas", "Series")
        False
    """
    cls = value_in(module, name)
    return cls is not None and isinstance(value, cls)


def value_in(module: str, name: str) -> Any:
    """A value of a module, or None as long as nobody has imported it."""
    return getattr(sys.modules.get(module), name, None)
