"""Commands of the bench; `pitbench` finds them through the entry points `pitbench.commands`."""
