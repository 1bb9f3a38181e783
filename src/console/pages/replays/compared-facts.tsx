/** Facts of the recording and of the replay, side by side. */
import type { components } from '../../../../client/src/index.ts';
import { count, duration, money } from '../../text/format.ts';

type Facts = components['schemas']['ReplayFacts'];

const rows: readonly (readonly [label: string, read: (facts: Facts) => number | null, show: (value: number) => string])[] = [
  ['Calls', ({ calls }) => calls, count],
  ['Steps', ({ steps }) => steps, count],
  ['Input tokens', ({ inputTokens }) => inputTokens, count],
  ['Cached input', ({ cachedInputTokens }) => cachedInputTokens, count],
  ['Output tokens', ({ outputTokens }) => outputTokens, count],
  ['Cost', ({ cost }) => cost, money],
  ['Time of the models', ({ durationMs }) => durationMs, duration],
  ['Approvals', ({ approvals }) => approvals, count],
];

export function ComparedFacts({ recorded, replayed }: { recorded: Facts | null; replayed: Facts | null }) {
  const value = (facts: Facts | null, [, read, show]: (typeof rows)[number]): string => {
    const found = facts === null ? null : read(facts);
    return found === null ? 'unknown' : show(found);
  };
  const shown = rows.filter(([, read]) => [recorded, replayed].some((facts) => facts !== null && read(facts) !== 0));
  return (
    <table class="compared">
      <thead>
        <tr>
          {['Fact', 'Recorded', 'Replayed', 'Change'].map((label) => (
            <th key={label} scope="col">
              {label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {shown.map((row) => (
          <tr key={row[0]}>
            <th scope="row">{row[0]}</th>
            <td>{value(recorded, row)}</td>
            <td>{value(replayed, row)}</td>
            <td>{changeText(recorded && row[1](recorded), replayed && row[1](replayed))}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function changeText(before: number | null, after: number | null): string {
  if (before === null || after === null || before === after) return '–';
  if (before === 0) return 'new';
  const percent = Math.round(((after - before) / before) * 100);
  return `${percent > 0 ? '+' : '−'}${count(Math.abs(percent))} %`;
}
