"""The flash of a board that is a folder: altered from outside, without folders that nothing is in."""

from pathlib import Path

from pitbench.virtual.flash import FolderFlash


def test_files_go_with_the_folders_that_they_leave_empty(tmp_path: Path) -> None:
    flash = FolderFlash(tmp_path)
    flash.change(dict.fromkeys(["/data/a", "/data/b", "/image/x/y", "/image/z", "/boot.py"], b"1"))
    flash.change({}, ["/data/a", "/data/b", "/image/x/y"])
    assert flash.read() == {"/image/z": b"1", "/boot.py": b"1"}
    assert [path.name for path in sorted(tmp_path.rglob("*"))] == ["boot.py", "image", "z"]


def test_a_file_takes_the_place_of_what_was_taken_away(tmp_path: Path) -> None:
    flash = FolderFlash(tmp_path)
    flash.change({"/data/a": b"old"})
    flash.change({"/data/a": b"new"}, ["/data/a"])
    assert flash.read() == {"/data/a": b"new"}
