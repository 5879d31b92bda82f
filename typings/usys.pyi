# What the firmware takes from sys. The published stub calls stderr a TextIO, which its print_exception doesn't take.
from sys import argv as argv
from sys import exit as exit
from sys import implementation as implementation
from sys import path as path
from sys import platform as platform
from sys import print_exception as print_exception
from sys import stdin as stdin
from sys import stdout as stdout
from sys import version as version
from typing import Any

modules: dict[str, Any]
stderr: Any
