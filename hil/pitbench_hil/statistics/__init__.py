"""The statistics by which shuffles, generators and dice are judged. Pure: numbers in, p-values out; no device, no file.

| module | what it judges |
|---|---|
| `bits` | a stream of bits, by tests of NIST SP 800-22 |
| `counts` | counts against what is expected of them; two things against each other |
| `dice` | throws of dice: faces, sums, die against die, throw against the next |
| `shuffles` | decks, by all that follow in one call |
| `valleys`, `shelves`, `guessing` | what a shelf machine leaves in a deck |
| `riffles` | what riffles leave in a deck |
| `positions`, `adjacency` | which card lies where, and beside which |
| `fixed_points`, `cycles` | a shuffle as a permutation |
| `repeats`, `orders` | outcomes that come back; how many orders there are |
| `recovery` | whether outputs give away the state of their generator |
| `health` | cut-offs of the health tests of a noise source, SP 800-90B |
| `power`, `budget`, `declared`, `retries` | how many samples, at which false alarm, and what a failure leads to |
| `pictures` | what the report shows of all this |

A deck is a row of a two-dimensional array: the card at position 0 is on top, and the number of a card is its position
before the shuffle. `samples.relative` makes such rows of any two orders.
"""
