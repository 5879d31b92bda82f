"""Virtual boards: a real MicroPython interpreter on two ptys, whose power can be cut."""

from pitbench.virtual.board import VirtualBoard
from pitbench.virtual.interpreter import Interpreter, find_interpreter

__all__ = ["Interpreter", "VirtualBoard", "find_interpreter"]
