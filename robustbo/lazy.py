"""A property that is computed once an object, without a lock."""

from collections.abc import Callable
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
