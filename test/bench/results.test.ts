import { expect, it } from 'vitest';
import { readSections, summarize } from '../../bench/results.ts';

const printed = `
### Requests

Medians of 5 rounds.

| scenario | connections |
|---|---|
| a | 1 |
| a | 10 |

- **met**: a is fast
- **missed**: b is slow

### Growth

| tools | ms |
|---|---|
| 1 | 2 |

### Goals

- **met**: a is fast
- **met**: Requests: the goals of its section
- **NOT MET**: c`;

it('keeps every row of a run, and shows few in the page', () => {
  const sections = readSections(printed.split('\n'));
  expect(sections[0]).toEqual({
    title: 'Requests',
    means: ['Medians of 5 rounds.'],
    tables: [
      {
        head: ['scenario', 'connections'],
        rows: [
          ['a', '1'],
          ['a', '10'],
        ],
      },
    ],
    goals: [
      { met: 'met', text: 'a is fast' },
      { met: 'missed', text: 'b is slow' },
    ],
  });
  expect(summarize({ about: 'Today.', sections }, 'x.json', ([, connections]) => connections === '10')).toBe(
    `Today. All tables: \`x.json\`.

**Requests.** Medians of 5 rounds. Met: a is fast.
- **missed**: b is slow

| scenario | connections |
|---|---|
| a | 10 |

**Growth.**

| tools | ms |
|---|---|
| 1 | 2 |

**Goals.**
- **NOT MET**: c`,
  );
});
