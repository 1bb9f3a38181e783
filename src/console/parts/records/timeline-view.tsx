/** Where the time of turns went: bars of answers and calls, with waits apart from run time. The newest turn is first. */
import { boundCheck, boundChoice, Select } from '../fields/controls.tsx';
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { Call, TurnRecord } from '../../session/fold-events.ts';
import { timelineRows, timelineScale, type TimelineRow, type TimelineScale } from '../../session/timeline.ts';
import { duration } from '../../text/format.ts';
import { visible } from '../text/visible.ts';

type TimelineProps = {
  turns: readonly TurnRecord[];
  /** The end of what is still open. */
  now: number;
  /** Shown below the title of a turn. */
  about?: (turn: TurnRecord) => ComponentChildren;
  /** Called with the call of a row that the user picks. */
  onPick?: (call: Call) => void;
};

const scales = [
  ['sequence', 'Sequence'],
  ['real', 'Real time'],
] as const;

export function TimelineView({ turns, now, about, onPick }: TimelineProps) {
  const scale = useSignal<TimelineScale>('sequence');
  const onlyFailed = useSignal(false);
  if (turns.length === 0) return <p class="muted">Nothing happened yet.</p>;
  const shown = turns.toReversed().flatMap((turn) => {
    const all = timelineRows(turn, now);
    const rows = onlyFailed.value ? all.filter(({ isFailed }) => isFailed) : all;
    const isShown = rows.length > 0 || (onlyFailed.value && turn.problem !== null);
    return isShown ? [{ turn, rows, at: timelineScale(all, scale.value) }] : [];
  });
  return (
    <>
      <div class="filters">
        <label>
          Scale <Select {...boundChoice(scale)} choices={scales} />
        </label>
        <label class="check">
          <input type="checkbox" {...boundCheck(onlyFailed)} />
          Failures only
        </label>
      </div>
      {shown.length === 0 && <p class="muted">{onlyFailed.value ? 'Nothing failed.' : 'No model has answered yet.'}</p>}
      {shown.map(({ turn, rows, at }) => (
        <table key={turn.id} class="timeline">
          <caption>
            <span class="input">{visible(turn.input.slice(0, 80))}</span>
            {about?.(turn)}
          </caption>
          <colgroup>
            <col class="what" />
            <col />
            <col class="ms" />
          </colgroup>
          <thead class="visually-hidden">
            <tr>
              <th scope="col">What</th>
              <th scope="col">When</th>
              <th scope="col">Duration</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <Row key={row.key} row={row} at={at} onPick={onPick} />
            ))}
          </tbody>
        </table>
      ))}
      <p class="legend muted">
        <span class="model">model</span> <span class="run">tool</span> <span class="wait">waiting</span> <span class="failed">failed</span>
      </p>
    </>
  );
}

function Row({ row, at, onPick }: { row: TimelineRow; at(time: number): number; onPick: TimelineProps['onPick'] }) {
  const { label, depth, bars, runMs, waitMs, isFailed, isWaiting, restarts, call } = row;
  return (
    <tr>
      <th scope="row" class={`depth-${Math.min(depth, 3)}`}>
        {call !== null && onPick !== undefined ? (
          <button type="button" class="link" onClick={() => onPick(call)}>
            {visible(label)}
          </button>
        ) : (
          visible(label)
        )}
      </th>
      <td class="bars">
        <span class="track" aria-hidden="true">
          {bars.map(({ kind, from, to }, index) => (
            <i key={index} class={kind} style={{ left: `${at(from)}%`, width: `${Math.max(at(to) - at(from), 1.5)}%` }} />
          ))}
        </span>
      </td>
      <td class="ms">
        {duration(runMs)}
        {waitMs > 0 && <span class="wait">{isWaiting ? 'waiting' : `+ ${duration(waitMs)} waiting`}</span>}
        {restarts > 0 && <span class="wait">restarted {restarts === 1 ? 'once' : `${restarts} times`}</span>}
        {isFailed && <span class="error"> {call?.state ?? 'failed'}</span>}
      </td>
    </tr>
  );
}
