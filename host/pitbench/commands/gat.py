"""Ask a device over GAT what it runs: its status, its digests, its special functions.

pitbench gat status --wire PORT
pitbench gat authenticate --wire PORT --seed 3132 --against build/shuffler-release-unix
pitbench gat authenticate --wire PORT --component /image/main.mpy
pitbench gat functions --wire PORT

A seed goes in as hex. With --against the exit code is 1 if a digest isn't as the files in that folder say, boot block
included; what the device names as not digested is printed, and not compared.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path

from pitbench.addresses import port_of
from pitbench.errors import PitbenchError
from pitbench.image import board_files
from pitbench.protocols import gat
from pitbench.protocols.gat_host import GatHost, GatSettings, Result
from pitbench.protocols.gat_report import (
    Component,
    differences,
    parse_component,
    parse_facts,
    parse_functions,
    parse_report,
    quoted,
)
from pitbench.transport import open_transport

EXIT_DIFFERS = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = __doc__
    parser.add_argument("what", choices=sorted(ACTIONS), help="what to ask")
    parser.add_argument("--wire", required=True, metavar="PORT", help="the device's: path, usb:ADAPTER or URL")
    parser.add_argument("--seed", default="", metavar="HEX", help="authenticate with this seed; without one by default")
    parser.add_argument("--component", metavar="ID", type=_id, help="this one alone, by its special function")
    parser.add_argument("--against", type=Path, metavar="FOLDER", help="compare with the image in this folder")
    parser.add_argument("--xml", action="store_true", help="ask for the report as XML, not as text")
    parser.add_argument("--raw", action="store_true", help="print the result as it came, byte for byte")
    parser.add_argument(
        "--crc", default="kermit", help=f"CRC[:SEED] of the frames: {', '.join(gat.CRCS)} (%(default)s)"
    )
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds for all of it (%(default)g)")
    parser.add_argument("--any-age", action="store_true", help="take a result that seems older than the question")


def _id(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("empty: name a component, as /image/main.mpy")
    return text


def run(args: argparse.Namespace) -> int:
    """Ask, and print the answer. Returns 0, or 1 if a digest isn't as the files say."""
    # Looked at before the device is asked: a mistyped seed or folder costs no calculation.
    args.key, args.files = _seed(args.seed), None if args.against is None else board_files(args.against)
    settings = GatSettings(crc=gat.crc_named(args.crc), patience_s=args.timeout, age_checked=not args.any_age)
    with open_transport(port_of(args.wire), name="wire", framing=gat.FRAMING) as wire:
        return ACTIONS[args.what](GatHost(wire, settings), args)


def _seed(text: str) -> bytes | None:
    try:
        return bytes.fromhex(text) or None
    except ValueError:
        raise PitbenchError(f"'{text}' is no seed.", "Write it as pairs of hex digits, as in 3132.") from None


def _status(host: GatHost, args: argparse.Namespace) -> int:
    status, last = host.status(), host.last()
    made = f"level {last.level:02x}, {last.when}" if last.level else "none"
    print(f"GAT {status.version_text}, {gat.state_text(status.state)}, {gat.format_text(status.format)}.")
    print(f"Last calculation: {made}.")
    if why := host.reason():
        print(f"Why: {why}.")
    return 0


def _authenticate(host: GatHost, args: argparse.Namespace) -> int:
    result = _asked(host, args)
    if args.raw:
        return _print_raw(result)
    report = _report(result, args.component)
    for component in report.values():
        print(f"{component.digest}  {component.id}  {component.algorithm.value}")
    left = parse_facts(result.data, result.format).get("NotDigested")
    if left:
        print(f"Not digested: {quoted(left)}.")
    return 0 if args.files is None else _compare(report, args)


def _asked(host: GatHost, args: argparse.Namespace) -> Result:
    if args.component:
        return host.component_result(args.component, args.key)
    if args.xml:
        return host.xml_result(args.key)
    return host.calculate(gat.REPORT_LEVEL, args.key or b"")


def _report(result: Result, asked: str | None) -> dict[str, Component]:
    if asked is None:
        return parse_report(result.data, result.format)
    return {asked: parse_component(result.data, result.format, asked)}


def _compare(report: Mapping[str, Component], args: argparse.Namespace) -> int:
    found = differences(report, args.files, args.key, whole=not args.component)
    for sentence in found:
        print(sentence)
    print(f"Components: {len(report)}. Differences from {args.against}: {len(found)}.")
    return EXIT_DIFFERS if found else 0


def _functions(host: GatHost, args: argparse.Namespace) -> int:
    result = host.functions_result()
    if args.raw:
        return _print_raw(result)
    for function in parse_functions(result.data, result.format):
        print("  ".join([function.name, *map(_shown, function.parameters)]))
    return 0


def _shown(parameter: str) -> str:
    """An argument that is to be given is `<NAME>`, another stands as it is."""
    open_one = len(parameter) > 4 and parameter.startswith("%%") and parameter.endswith("%%")
    return f"<{parameter[2:-2]}>" if open_one else quoted(parameter)


def _print_raw(result: Result) -> int:
    # Byte for byte: it may go into a file.
    sys.stdout.buffer.write(result.data)
    return 0


ACTIONS = {"status": _status, "authenticate": _authenticate, "functions": _functions}
